// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/records"
)

// program returns the first block of weights.md in a language.
func program(t *testing.T, language string) string {
	t.Helper()
	_, text, found := strings.Cut(pages(t)["weights.md"], "```"+language+"\n")
	text, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatalf("weights.md has no program in %s", language)
	}
	return text
}

func TestWeightsPageShowsTheExample(t *testing.T) {
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "func Example() {\n")
	body, _, found := strings.Cut(body, "\t// Output:")
	if !found || !strings.Contains(program(t, "go"), body) {
		t.Error("weights.md does not show the program of example_test.go")
	}
}

// The Python program must act as the Go policy does, up to the rounding of a GPU-less float32 network.
func TestThePythonProgramActsAsThePolicy(t *testing.T) {
	python, err := exec.LookPath(cmp.Or(os.Getenv("PYTHON"), filepath.Join("..", "..", ".venv", "bin", "python")))
	if err == nil {
		err = exec.Command(python, "-c", "import numpy, safetensors").Run()
	}
	if err != nil {
		t.Skip("no Python with numpy and safetensors: name one in PYTHON")
	}
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	st.Base(records.Layer())
	policy, err := experiment.Load(st, "5ccede416bc96794", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer policy.Close()
	env, err := policy.Env(7)
	if err != nil {
		t.Fatal(err)
	}
	step, act := envs.NewStep(env.Spec()), envs.NewActions(env.Spec())
	env.Reset(nil, step)
	if err := policy.Act(step, act); err != nil {
		t.Fatal(err)
	}
	agents := env.Spec().Agents
	width := len(step.Obs) / agents
	var obs [][]float32
	for i := range agents {
		obs = append(obs, step.Obs[i*width:(i+1)*width])
	}
	input, err := json.Marshal(obs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", program(t, "python")+"\nimport json, sys\nprint(json.dumps([act(o).tolist() for o in np.array(json.load(sys.stdin))]))")
	cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Join("..", ".."), strings.NewReader(string(input)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]float64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i, row := range got {
		for d, v := range row {
			if want := float64(act.Continuous[i*len(row)+d]); math.Abs(v-want) > 1e-5 {
				t.Errorf("agent %d, axis %d: Python acts %g, Go %g", i, d, v, want)
			}
		}
	}
}
