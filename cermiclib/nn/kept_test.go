// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn/xlacache"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// TestMain keeps compiled graphs in a folder of its own. The first backend of a process decides that for all later
// ones.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kept")
	if err == nil {
		err = os.Setenv(KeptGraphs, dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func TestGraphCompiledBeforeIsLoaded(t *testing.T) {
	dir := os.Getenv(KeptGraphs)
	backend := must.Value(Open())
	factor := rand.Float64() // a graph that no process has compiled before
	product := func() float64 {
		t.Helper()
		b := &Build{Spec: &envs.Spec{}, Backend: backend, Store: NewStore(1)}
		defer b.Close()
		p := must.Value(NewProgram(b, "kept", []Input{F32("x", 3)}, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{graph.ReduceAllSum(graph.MulScalar(in[0], factor))}
		}))
		p.Feed(0, func(x []float32) { copy(x, []float32{1, 2, 3.5}) })
		must.Do(t, p.Run())
		return p.Scalar(0)
	}
	_, before := xlacache.Counts()
	want := product()
	loaded, compiled := xlacache.Counts()
	if compiled == before {
		t.Skip("this backend keeps nothing, or was opened by another test before with another folder")
	}
	if got := product(); got != want {
		t.Errorf("the loaded graph gives %v, the compiled one %v", got, want)
	}
	if l, c := xlacache.Counts(); l != loaded+1 || c != compiled {
		t.Errorf("%d graphs loaded and %d compiled, want %d and %d", l, c, loaded+1, compiled)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.xla"))
	for _, f := range files { // as a crash in the middle of writing would not, but a bad disk might leave it
		must.Do(t, os.Truncate(f, 40))
	}
	if got := product(); got != want {
		t.Errorf("beside a damaged copy the graph gives %v, want %v", got, want)
	}
}
