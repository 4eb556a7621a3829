// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Sizes of the made-up battles: own numbers, numbers of an ally, of an enemy, actions without a target.
const ownLen, allyLen, enemyLen, free = 3, 2, 4, 5

// battle is a build for one agent that sees so many others. Its observation has a stray number before the own ones.
func battle(allies, enemies int) *nn.Build {
	b := build()
	s := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 1, Act: envs.ActSpec{Choices: free + enemies, Targets: enemies}}
	at := 1
	add := func(kind envs.EntityKind, length int) {
		s.Entities = append(s.Entities, envs.Entity{Name: string(kind), Kind: kind, From: at, To: at + length})
		at += length
	}
	for range enemies {
		add(envs.Object, enemyLen)
	}
	add(envs.Own, ownLen)
	for range allies {
		add(envs.Ally, allyLen)
	}
	s.Obs = []int{at}
	b.Spec = s
	return b
}

// view is the agent's observation, as rows.
type view struct {
	stray, own      []float32
	allies, enemies [][]float32
}

func randomView(allies, enemies int) view {
	r := rng.New(4, "view")
	v := view{stray: normals(1, r), own: normals(ownLen, r)}
	for range allies {
		v.allies = append(v.allies, normals(allyLen, r))
	}
	for range enemies {
		v.enemies = append(v.enemies, normals(enemyLen, r))
	}
	return v
}

// utilities returns the utilities of an agent that sees v, after two steps with this view.
func utilities(v view) []float32 {
	b := battle(len(v.allies), len(v.enemies))
	p := must.Value(smallSPECTra().Build(b))
	obs := slices.Concat(v.stray, slices.Concat(v.enemies...), v.own, slices.Concat(v.allies...))
	return graphtest.Outputs(b, []nn.Input{nn.F32("obs", 1, 1, len(obs))}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		var y *graph.Node
		hidden := graph.ZerosLike(graph.BroadcastToDims(graph.Slice(in[0], graph.AxisRange(), graph.AxisRange(), graph.AxisRange(0, 1)), 1, 1, p.HiddenLen()))
		for range 2 {
			y, hidden = p.Net(sc, in[0], hidden, b.Spec.Act.Choices)
		}
		return []*graph.Node{y}
	}, obs)[0]
}

func smallSPECTra() SPECTra { return SPECTra{Width: 8, Heads: 2, Steps: 3} }

// close32 compares sums of the same numbers in another order.
func close32(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-5 })
}

func TestAlliesMayStandInAnyOrder(t *testing.T) {
	v := randomView(3, 2)
	before := utilities(v)
	v.allies[0], v.allies[2] = v.allies[2], v.allies[0]
	if after := utilities(v); !close32(before, after) {
		t.Errorf("%v became %v", before, after)
	}
	v.allies[1][0]++
	if close32(before, utilities(v)) {
		t.Error("allies have no effect")
	}
}

func TestActionsAimAtEnemiesWhereverTheyStandInTheRow(t *testing.T) {
	v := randomView(2, 3)
	want := utilities(v)
	if attack := want[free:]; attack[0] == attack[1] || attack[1] == attack[2] {
		t.Fatalf("attacks on different enemies are worth the same, %v", attack)
	}
	v.enemies[0], v.enemies[2] = v.enemies[2], v.enemies[0]
	want[free], want[free+2] = want[free+2], want[free]
	if got := utilities(v); !close32(want, got) {
		t.Errorf("enemies 0 and 2 change places: %v, want %v", got, want)
	}
}

func TestAnAbsentAllyIsAsIfThereWereNone(t *testing.T) {
	v := randomView(3, 2)
	v.allies[1] = make([]float32, allyLen)
	some := v
	some.allies = [][]float32{v.allies[0], v.allies[2]}
	if !close32(utilities(v), utilities(some)) {
		t.Error("an ally of zeros counts")
	}
}

func TestNoWeightDependsOnTheNumberOfEntities(t *testing.T) {
	count := func(allies, enemies int) int {
		b := battle(allies, enemies)
		p := must.Value(smallSPECTra().Build(b))
		inputs := []nn.Input{nn.F32("obs", 1, 1, b.Spec.ObsLen()), nn.F32("hidden", 1, 1, p.HiddenLen())}
		must.Value(nn.NewProgram(b, "test", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			y, _ := p.Net(sc, in[0], in[1], b.Spec.Act.Choices)
			return []*graph.Node{y}
		}))
		return nntest.NumParameters(nn.Variables(b.Store, "/"))
	}
	if few, many := count(1, 1), count(6, 9); few != many {
		t.Errorf("%d parameters for few entities, %d for many", few, many)
	}
}

func TestEntitiesOfTheTasksAreSplitAsTheySay(t *testing.T) {
	e := splitEntities(battle(2, 1).Spec)
	want := entities{own: []span{{0, 1}, {5, 8}}, objects: []span{{1, 5}}, allies: []span{{8, 10}, {10, 12}}}
	if !slices.Equal(e.own, want.own) || !slices.Equal(e.allies, want.allies) || !slices.Equal(e.objects, want.objects) {
		t.Errorf("got %+v, want %+v", e, want)
	}
	// An own span may overlap with the row of an entity; without entities, all numbers are the agent's own.
	s := &envs.Spec{Obs: []int{6}, Entities: []envs.Entity{{Kind: envs.Own, From: 0, To: 4}, {Kind: envs.Object, From: 2, To: 4}}}
	if e := splitEntities(s); !slices.Equal(e.own, []span{{0, 6}}) || len(e.objects) != 1 {
		t.Errorf("got %+v", e)
	}
}

// TestAimedActionsAreProductsOfProjections: Q of an action that aims at object j is the mean over heads of
// ⟨Q·h, K·x_j⟩/√d. Both projections are linear maps with biases, computed here in float64.
func TestAimedActionsAreProductsOfProjections(t *testing.T) {
	const enemies, width, heads = 3, 8, 2
	b := battle(0, enemies)
	p := spectra{SPECTra: smallSPECTra(), spec: b.Spec, choices: b.Spec.Act.Choices, targets: enemies}
	r := rng.New(6, "aims")
	h, objects := normals(width, r), normals(enemies*width, r)
	inputs := []nn.Input{nn.F32("h", 1, width), nn.F32("objects", 1, enemies, width)}
	got := graphtest.Outputs(b, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{p.values(sc.At("net"), in[0], in[1], b.Spec.Act.Choices)}
	}, h, objects)[0]
	params := weights(b.Store)
	project := func(name string, x []float32) []float64 {
		return nntest.Linear(params, "/net/"+name, nntest.Wide(x), false)
	}
	query := project("aim", h)
	for j := range enemies {
		key := project("aimed", objects[j*width:(j+1)*width])
		want := floats.Dot(query, key) / heads / math.Sqrt(width/heads)
		if off := math.Abs(float64(got[free+j]) - want); off > 1e-5 { // rounding of float32
			t.Errorf("the action that aims at object %d is worth %g, want %g", j, got[free+j], want)
		}
	}
}
