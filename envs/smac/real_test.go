// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"cermic/envs/envtest/must"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
	"cermic/envs/smac/sc2api"
)

// serve starts a stand-in for the game at an address until the test ends.
func serve(t testing.TB, s *sc2test.Server) string {
	t.Helper()
	return s.Start(t).Addr().String()
}

// installed makes a folder that contains the map.
func installed(t testing.TB, data []byte) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "Maps", "SMAC_Maps", "32x32_flat.SC2Map")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, data, 0o644))
	return folder
}

// attached returns a field on the stand-ins at the given addresses.
func attached(t *testing.T, k *rules, data []byte, addresses ...string) *realField {
	t.Helper()
	f := newRealField(k)
	f.options = sc2.Options{
		Folder: installed(t, data), Race: f.options.Race, Addresses: addresses, StartTimeout: 5 * time.Second,
		RetryEvery: 5 * time.Millisecond, ReplyTimeout: 5 * time.Second,
	}
	return f
}

// mapOf returns the map data of a recording.
func mapOf(t *testing.T, rows []sc2test.Row) []byte {
	t.Helper()
	for _, row := range rows {
		req := new(sc2api.Request)
		if row.Kind != "create_game" || row.Dir != "req" {
			continue
		}
		must.Do(t, proto.Unmarshal(row.Data, req))
		return req.GetCreateGame().GetLocalMap().GetMapData()
	}
	t.Fatal("the recording opens no map")
	return nil
}

// The recordings hold every message between the original and the game. For the same actions, the client must send the
// same requests (except read-only ones) and compute the recorded observations from the recorded answers. This holds
// for binary frames and for the text frames that PySC2's clients get.
func TestClientSpeaksAsTheOriginalDoes(t *testing.T) {
	sessions(t, true, func(t *testing.T, s *session) {
		for _, text := range []bool{false, true} {
			t.Run(fmt.Sprintf("text %v", text), func(t *testing.T) {
				script := &sc2test.Transcript{Rows: s.Rows}
				address := serve(t, &sc2test.Server{Game: script, TextOnly: text, Loading: 3})
				replayCase(t, s.Case, func(k *rules) Field {
					f := attached(t, k, mapOf(t, s.Rows), address)
					t.Cleanup(f.release)
					return f
				})
				if left := script.Left(); left > 0 {
					t.Errorf("%d recorded requests that change the game were not sent", left)
				}
			})
		}
	})
}

func TestNumbersThatAreNoneNeverReachTheTask(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for _, u := range []Unit{{X: bad}, {Y: bad}, {Health: bad}, {HealthMax: bad}, {Shield: bad}, {ShieldMax: bad},
			{Cooldown: bad}} {
			if u.finite() {
				t.Errorf("%+v is reported as finite", u)
			}
		}
	}
	if !(&Unit{X: 1, Health: 45}).finite() {
		t.Error("an ordinary unit is not reported as finite")
	}
}
