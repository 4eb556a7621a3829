// SPDX-License-Identifier: Apache-2.0

package scripted

import (
	"net"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/smac"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
)

// onRealGames is a battle of 20 steps at most in which nothing happens, on stand-ins for the game with the given faults.
func onRealGames(t *testing.T, faults ...map[int]sc2test.Fault) envs.Config {
	t.Helper()
	var addresses []string
	for _, f := range faults {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go (&sc2test.Server{Game: sc2test.NewYard(), Faults: f}).Serve(l) // returns when l is closed
		t.Cleanup(func() { l.Close() })
		addresses = append(addresses, l.Addr().String())
	}
	t.Setenv(sc2.AddressVariable, strings.Join(addresses, ","))
	task := smac.DefaultZerg()
	task.Engine, task.MaxSteps = smac.SC2, 20
	return task
}

// Every battle that counts ends in a draw; one that was aborted would have paid nothing.
func TestABattleThatIsAbortedIsPlayedAnew(t *testing.T) {
	p, err := Rollout(onRealGames(t, map[int]sc2test.Fault{40: sc2test.Drop}, nil), Random, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for c, paid := range p.Sparse {
		if float32(paid) != smac.DefaultSettings().SparseDraw {
			t.Errorf("battle %d pays %g", c, paid)
		}
	}
	always := map[int]sc2test.Fault{}
	for request := 12; request < 1000; request += 12 {
		always[request] = sc2test.Drop
	}
	if _, err := Rollout(onRealGames(t, always), Random, 1, 1); err == nil || !strings.Contains(err.Error(), "aborted") {
		t.Errorf("error %v, want one that says that battles were aborted", err)
	}
}

// Whoever asks who can play is told that there is no game, and gives the one that was looked at back.
func TestAskingForPlayersNeedsAGameAndGivesItBack(t *testing.T) {
	cfg := onRealGames(t, nil)
	for range 2 {
		if _, err := Policies(cfg); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(sc2.AddressVariable, "nowhere")
	if _, err := Policies(cfg); err == nil || !strings.Contains(err.Error(), sc2.AddressVariable) {
		t.Errorf("error %v, want one that names the variable", err)
	}
	if _, err := Rollout(cfg, Random, 1, 1); err == nil || !strings.Contains(err.Error(), sc2.AddressVariable) {
		t.Errorf("error %v, want one that names the variable", err)
	}
}
