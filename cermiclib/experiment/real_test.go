// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"net"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/smac"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
)

// realGames starts n stand-ins for the game, on which units stand where they were created, and lets runs find them. It
// returns the servers.
func realGames(t *testing.T, n int) []*sc2test.Server {
	t.Helper()
	var servers []*sc2test.Server
	var addresses []string
	for range n {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		server := &sc2test.Server{Game: sc2test.NewYard()}
		go server.Serve(l) // returns when l is closed
		t.Cleanup(func() { l.Close() })
		servers, addresses = append(servers, server), append(addresses, l.Addr().String())
	}
	t.Setenv(sc2.AddressVariable, strings.Join(addresses, ","))
	return servers
}

// onRealGames is e in battles of 20 steps at most, two at a time.
func onRealGames(e Config) Config {
	task := smac.DefaultZerg()
	task.Engine, task.MaxSteps = smac.SC2, 20
	e.Task = task.WithShared(envs.Common{NumEnvs: 2, Reward: envs.Sparse})
	return e
}

// TestARunTrainsAndEvaluatesOnRealGames: evaluation has games of its own, which serve every evaluation, and all games
// can be used again by the next run. One game of training and one of the evaluation fail in the middle of a battle.
// These battles do not count.
func TestARunTrainsAndEvaluatesOnRealGames(t *testing.T) {
	servers := realGames(t, 4)
	servers[0].Faults = map[int]sc2test.Fault{40: sc2test.Drop}
	servers[3].Faults = map[int]sc2test.Fault{40: sc2test.Drop} // the third one replaces the first
	broken := 0.0
	for seed := range uint64(2) {
		e := onRealGames(tiny(seed))
		r, err := Run(t.Context(), e, open(t), func(e results.Event) {
			broken += e.Scalars["episodes_broken_off"]
			if e.Eval != nil && e.Metric != "win rate" {
				t.Errorf("an evaluation is scored by %q", e.Metric)
			}
			if length, ok := e.Scalars["train_length"]; ok && length != 20 {
				t.Errorf("episodes of training in which nothing happens end after %g steps", length)
			}
		})
		if err != nil || !r.Complete || len(r.Evals) != 3 {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, eval := range r.Evals {
			if n := len(eval.Lengths); n != e.Budget.EvalEpisodes || len(eval.Scores) != n {
				t.Errorf("%d episodes of an evaluation, want %d", n, e.Budget.EvalEpisodes)
			}
			for _, length := range eval.Lengths {
				if length != 20 {
					t.Errorf("an episode in which nothing happens ends after %d steps", length)
				}
			}
		}
	}
	if broken != 1 || servers[3].Requests() < 40 {
		t.Errorf("%g battles of training were aborted, want 1", broken)
	}
}

// TestAnEvaluationEndsWhenEveryBattleIsAborted: otherwise, games that start and fail in every battle would be started
// for ever.
func TestAnEvaluationEndsWhenEveryBattleIsAborted(t *testing.T) {
	for _, server := range realGames(t, 4)[2:] {
		server.Faults = map[int]sc2test.Fault{}
		for request := 12; request < 1000; request += 12 { // opening takes 6, the start of a battle 4
			server.Faults[request] = sc2test.Drop
		}
	}
	_, err := Run(t.Context(), onRealGames(tiny(1)), open(t))
	must.Refuse(t, err, "8 episodes of smac/zerg_5_vs_5 were aborted in an evaluation of 7")
}

// TestAStoppedRunGoesOnOnRealGames: it continues in new battles, except for value learners, which are refused.
func TestAStoppedRunGoesOnOnRealGames(t *testing.T) {
	for name, kind := range map[string]func(uint64) Config{"mappo": tiny, "qmix": tinyQ} {
		realGames(t, 4)
		st, e := open(t), onRealGames(kind(1))
		stopAt(t, e, 200, st)
		r, err := Run(t.Context(), e, st)
		if name == "mappo" && (err != nil || !r.Complete) {
			t.Errorf("mappo does not go on: %v", err)
		}
		if name == "qmix" && (err == nil || !strings.Contains(err.Error(), "cannot be played again")) {
			t.Errorf("error %v, want one that says why a value learner cannot go on", err)
		}
	}
}

// TestABattleThatIsAbortedIsNotFilmed: another one is filmed instead.
func TestABattleThatIsAbortedIsNotFilmed(t *testing.T) {
	realGames(t, 4)
	st, e := open(t), onRealGames(tiny(1))
	must.Get(Run(t.Context(), e, st))(t)
	for _, server := range realGames(t, 2) {
		server.Faults = map[int]sc2test.Fault{20: sc2test.Drop}
	}
	scenes, eval, err := Episode(t.Context(), e, st)
	if err != nil || len(scenes) != 21 || len(eval.Lengths) != 1 || eval.Lengths[0] != 20 {
		t.Errorf("%d scenes, %+v, %v: want the 21 of a whole battle", len(scenes), eval, err)
	}
}
