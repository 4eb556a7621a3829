// SPDX-License-Identifier: Apache-2.0

package scripted

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/smac"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
)

// onRealGames is a battle of at most 20 steps in which nothing happens, on stand-ins for the game with the given
// faults.
func onRealGames(t *testing.T, faults ...map[int]sc2test.Fault) envs.Config {
	t.Helper()
	var addresses []string
	for _, f := range faults {
		l := (&sc2test.Server{Game: sc2test.NewYard(), Faults: f}).Start(t)
		addresses = append(addresses, l.Addr().String())
	}
	t.Setenv(sc2.AddressVariable, strings.Join(addresses, ","))
	task := smac.DefaultZerg()
	task.Engine, task.MaxSteps = smac.SC2, 20
	return task
}

// Every counted battle ends in a draw; an aborted one would have no reward.
func TestABattleThatIsAbortedIsPlayedAnew(t *testing.T) {
	p := must.Value(Rollout(onRealGames(t, map[int]sc2test.Fault{40: sc2test.Drop}, nil), Random, 2, 1))
	for c, paid := range p.Sparse {
		if float32(paid) != smac.DefaultSettings().SparseDraw {
			t.Errorf("battle %d gives %g", c, paid)
		}
	}
	always := map[int]sc2test.Fault{}
	for request := 12; request < 1000; request += 12 {
		always[request] = sc2test.Drop
	}
	_, err := Rollout(onRealGames(t, always), Random, 1, 1)
	must.Refuse(t, err, "aborted")
}

// Policies needs a game to inspect the task, returns an error if there is none, and releases the game.
func TestAskingForPlayersNeedsAGameAndGivesItBack(t *testing.T) {
	cfg := onRealGames(t, nil)
	for range 2 {
		must.Value(Policies(cfg))
	}
	t.Setenv(sc2.AddressVariable, "nowhere")
	_, err := Policies(cfg)
	must.Refuse(t, err, sc2.AddressVariable)
	_, err = Rollout(cfg, Random, 1, 1)
	must.Refuse(t, err, sc2.AddressVariable)
}
