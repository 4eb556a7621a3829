// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// probe compiles the memory alone for b agent steps; its outputs are f_n, f_{n-1} and the mask of f_{n-1}.
func probe(t *testing.T, c Config, spec *envs.Spec, b int) (Memory, *nn.Program, *model.Store) {
	t.Helper()
	backend, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	build := &nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}
	m, err := c.Build(build)
	if err != nil {
		t.Fatal(err)
	}
	p, err := nn.NewProgram(build, "probe", m.Inputs(b), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		f := m.Context(sc.At("memory"), in)
		return []*graph.Node{f.Now, f.Before, f.Exists}
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, p, build.Store
}

func TestMLPHasTheSpecifiedNumberOfParameters(t *testing.T) {
	spec := &envs.Spec{Name: "fake", Copies: 1, Agents: 1, Obs: []int{18}}
	_, _, store := probe(t, DefaultMLP(), spec, 2)
	if got, want := nn.NumParameters(store, "/memory"), 85_056; got != want {
		t.Errorf("the MLP memory has %d parameters at 18 observed numbers, want %d", got, want)
	}
}

func TestMLPKnowsTheStepBefore(t *testing.T) {
	// One copy, two agents, four steps; step 2 starts a new episode.
	spec := &envs.Spec{Name: "fake", Copies: 1, Agents: 2, Obs: []int{3}, Act: envs.ActSpec{Choices: 2}}
	x := rl.NewRollout(spec, 4, 0)
	for i := range x.Obs {
		x.Obs[i] = float32(i%7) - 3
	}
	x.Started[0], x.Started[2] = 1, 1
	rows := []int32{0, 1, 2, 3, 4, 5, 6, 7}
	c := DefaultMLP()
	m, p, _ := probe(t, c, spec, len(rows))
	m.Gather(p, 0, x, rows)
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	now, before, exists := make([]float32, 8*c.Width), make([]float32, 8*c.Width), make([]float32, 8)
	p.Read(0, now)
	p.Read(1, before)
	p.Read(2, exists)
	if want := []float32{0, 0, 1, 1, 0, 0, 1, 1}; !slices.Equal(exists, want) {
		t.Errorf("f_{n-1} exists at %v, want %v", exists, want)
	}
	feature := func(of []float32, row int) []float32 { return of[row*c.Width : (row+1)*c.Width] }
	for _, row := range []int{2, 3, 6, 7} {
		if !slices.Equal(feature(before, row), feature(now, row-2)) {
			t.Errorf("f_{n-1} of row %d is not f_n of the same agent one step before", row)
		}
	}
	if slices.Equal(feature(now, 0), feature(now, 1)) {
		t.Error("two agents with different observations have equal features")
	}
}

func TestImpossibleSizesAreRefused(t *testing.T) {
	for _, c := range []Config{MLP{0, 1, 1}, MLP{1, 0, 1}, MLP{1, 1, -1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
