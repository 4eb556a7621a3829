// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"io"
	"os"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/envtest/must"
)

func TestOpeningABackendPrintsNothing(t *testing.T) {
	read, write, err := os.Pipe()
	must.Do(t, err)
	stdout := os.Stdout
	os.Stdout = write
	_, err = OpenConfig(goConfig)
	restored := os.Stdout == write
	os.Stdout = stdout
	if closing := write.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	if text, err := io.ReadAll(read); err != nil || len(text) > 0 || !restored {
		t.Errorf("printed %q (%v); standard output restored: %v", text, err, restored)
	}
}

func TestAClosedBuildHoldsNothing(t *testing.T) {
	b := goBuild(t, 1)
	p := must.Value(NewProgram(b, "line", []Input{F32("x", 2)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{graph.Mul(in[0], Weight(sc, in[0], "w", Constant(2), 2))}
	}))
	if _, err := NewProgram(b, "broken", []Input{F32("x", 2)}, func(*model.Scope, []*graph.Node) []*graph.Node { panic("no") }); err == nil {
		t.Fatal("a graph that panics was built")
	}
	must.Do(t, p.Run())
	b.Close()
	if vars := Variables(b.Store, ""); len(vars) > 0 {
		t.Errorf("%d variables are left", len(vars))
	}
	if err := p.Run(); err == nil {
		t.Error("a closed graph runs")
	}
	b.Close()
}
