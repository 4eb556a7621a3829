// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// smallQPLEX is a QPLEX of a few numbers with advantage networks of some layers.
func smallQPLEX(layers int) learn.QPLEX {
	c := learn.DefaultQPLEX()
	c.AdvLayers, c.Hidden = layers, 8
	return c
}

// everyJoint evaluates mixer c for every joint action of 3 agents with 4 actions in each of some random tables of utilities,
// states and observations. It returns Q_tot [tables][joint] and the index of the joint action that each agent likes best.
func everyJoint(t *testing.T, c learn.MixerConfig, tables int) (total [][]float32, greedy []int) {
	t.Helper()
	const agents, choices, state, obs = 3, 4, 5, 2
	joints := choices * choices * choices
	rows := tables * joints
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: agents, Obs: []int{obs}, State: state, Act: envs.ActSpec{Choices: choices}}
	b := graphtest.Build(spec, 3)
	mixer := must.Value(c.Build(b))
	inputs := []nn.Input{
		nn.F32("utility", rows, agents, choices), nn.I32("choice", rows, agents), nn.F32("state", rows, state), nn.F32("obs", rows, agents, obs),
	}
	greedy = make([]int, tables)
	draw := func(k, width int) (values []float32) { // input k: the same numbers for every joint action of a table
		for table := range tables {
			r := rng.New(7, "tables", uint64(table), uint64(k))
			row := make([]float32, width)
			for i := range row {
				row[i] = 3 * r.Norm()
			}
			values = append(values, slices.Repeat(row, joints)...)
			for i := 0; k == 0 && i < width; i += choices {
				utilities := row[i : i+choices]
				greedy[table] = greedy[table]*choices + slices.Index(utilities, slices.Max(utilities))
			}
		}
		return values
	}
	var choice []int32
	for row := range rows {
		joint := int32(row % joints)
		choice = append(choice, joint/16, joint/4%4, joint%4)
	}
	flat := graphtest.Outputs(b, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		taken := graph.OneHot(in[1], choices, in[0].DType())
		return []*graph.Node{mixer.Mix(sc.At("mixer"), learn.QIn{
			Chosen: graph.ReduceSum(graph.Mul(in[0], taken), -1), Max: graph.ReduceMax(in[0], -1), OneHot: taken, State: in[2], Obs: in[3],
		})}
	}, draw(0, agents*choices), choice, draw(2, state), draw(3, agents*obs))[0]
	return slices.Collect(slices.Chunk(flat, joints)), greedy
}

// TestQPLEXAgreesWithTheAgentsOnTheBestJointAction: IGM by brute force. The best joint action must be the agents' own greedy one,
// and must beat all others.
func TestQPLEXAgreesWithTheAgentsOnTheBestJointAction(t *testing.T) {
	for _, layers := range []int{1, 3} {
		c := smallQPLEX(layers)
		total, greedy := everyJoint(t, c, 20)
		for table, values := range total {
			for joint, value := range values {
				if joint != greedy[table] && !(value < values[greedy[table]]) {
					t.Fatalf("%d layers: joint action %d is worth %g, the greedy one %g", layers, joint, value, values[greedy[table]])
				}
			}
		}
	}
}

// TestQPLEXFindsTheOptimumOfTheNonMonotonicGame, unlike QMIX: the best pair has a payoff of 8, one half of it -12, all
// other pairs 0. Both train on uniform choices; a monotonic mixer gives up the best pair because of its neighbours. K
// and the depth are from the authors' toy games.
func TestQPLEXFindsTheOptimumOfTheNonMonotonicGame(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	game, qmix := libtest.NonMonotonic(), smallQ()
	qmix.EpsInit, qmix.EpsEnd = 1, 1
	qplex := qmix.WithQPLEX()
	mixer := smallQPLEX(3)
	mixer.Heads, mixer.Hidden = 10, 16
	qplex.Mixer = mixer
	libtest.CheckLearns(t, toy(game, qplex, 128*8), 8)
	evals := libtest.Train(t, toy(game, qmix, 128*8)).Evals
	for _, score := range evals[len(evals)-1].Scores {
		if score > 0 {
			t.Fatalf("QMIX scores %g", score)
		}
	}
}

func TestQPLEXLearnsTheIdentityTask(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	task, l := libtest.DefaultIdentity(), smallQ().WithQPLEX()
	task.Masked = true
	l.Mixer = smallQPLEX(1)
	libtest.CheckLearns(t, toy(task, l, 128*12), 3.9)
}
