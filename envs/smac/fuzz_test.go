// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"bytes"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"cermic/envs/envtest"
	"cermic/envs/rng"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
	"cermic/envs/smac/sc2api"
)

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }

// hostile is a stand-in for the game that corrupts some answers as the fuzzer plans: bytes, or numbers of units.
type hostile struct {
	sc2test.Game
	plan []byte // three bytes per answer: the change, its place and its value
	at   int
}

// patience limits the answers of a game that never creates units; the client gives up after a thousand, which another
// test covers.
const patience = 300

func (h *hostile) Answer(req *sc2api.Request) ([]byte, error) {
	data, err := h.Game.Answer(req)
	if err != nil || h.at+3 > len(h.plan) {
		return data, err
	}
	what, where, with := h.plan[h.at], h.plan[h.at+1], h.plan[h.at+2]
	h.at += 3
	if len(data) == 0 {
		return data, nil
	}
	switch what % 8 {
	case 0: // one byte
		data[int(where)*len(data)/256] ^= with
	case 1: // truncated
		data = data[:int(where)*len(data)/256]
	case 2: // repeated: the last of two values of a field counts, and lists grow
		data = append(data, data...)
	case 3:
		h.change(&data, func(u *sc2api.Unit) {
			for i, x := range []**float32{&u.Health, &u.HealthMax, &u.Shield, &u.ShieldMax, &u.WeaponCooldown,
				&u.Pos.X, &u.Pos.Y, &u.Pos.Z} {
				if where>>i&1 == 1 {
					*x = proto.Float32([]float32{float32(math.NaN()), float32(math.Inf(1)), -1e30, 3e38, 0, -1}[with%6])
				}
			}
		})
	case 4:
		h.change(&data, func(u *sc2api.Unit) {
			u.UnitType, u.Tag = proto.Uint32(uint32(where)<<3), proto.Uint64(uint64(with))
		})
	case 5:
		h.change(&data, func(u *sc2api.Unit) { u.Pos, u.Owner = nil, proto.Int32(int32(with)-1) })
	}
	return data, nil
}

// change applies f to each unit of an answer.
func (h *hostile) change(data *[]byte, f func(*sc2api.Unit)) {
	resp := new(sc2api.Response)
	if proto.Unmarshal(*data, resp) != nil {
		return
	}
	for _, u := range resp.GetObservation().GetObservation().GetRawData().GetUnits() {
		if u.Pos == nil {
			u.Pos = &sc2api.Point{}
		}
		f(u)
	}
	if changed, err := proto.Marshal(resp); err == nil {
		*data = changed
	}
}

// FuzzGame plays on games with corrupted answers: the task gets finite numbers only, and a failed game is an error.
func FuzzGame(f *testing.F) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{7, 0, 0}, 30))
	for what := range byte(7) {
		f.Add(append(bytes.Repeat([]byte{7, 0, 0}, 14), what, 128, 3, what, 255, 0))
		f.Add([]byte{7, 0, 0, what, 200, 1, what, 20, 77})
	}
	server := &sc2test.Server{}
	address := serve(f, server)
	folder := installed(f, nil)
	f.Fuzz(func(t *testing.T, plan []byte) {
		if len(plan) > 3*patience {
			t.Skip("longer than a battle")
		}
		server.Game = &hostile{Game: sc2test.NewYard(), plan: plan}
		k := newRules(DefaultSettings(), &protossRace)
		field := newRealField(k)
		field.options = sc2.Options{
			Folder: folder, Race: field.options.Race, Addresses: []string{address}, StartTimeout: time.Second,
			RetryEvery:   time.Millisecond,
			ReplyTimeout: time.Second,
		}
		defer func() {
			if field.game != nil {
				field.drop()
			}
		}()
		b, l := newBattle(k), newLineup(k)
		r := rng.New(uint64(len(plan)), "hostile")
		l.draw(k, r)
		seen, err := field.Deploy(l, nil)
		if err != nil {
			return
		}
		b.ground = field.Ground()
		b.begin(seen)
		orders, obs := make([]Command, k.n), make([]float32, k.n*k.obs)
		actions := make([]int32, k.n)
		for range 4 {
			for i := range actions {
				actions[i] = b.focus(i)
			}
			b.commands(actions, orders)
			if seen, err = field.Play(orders, seen); err != nil {
				return
			}
			reward, _ := b.step(actions, seen)
			b.observe(r, obs)
			if !finite(reward) || slices.ContainsFunc(obs, func(x float32) bool { return !finite(float64(x)) }) {
				t.Fatalf("reward %g, observations %v", reward, obs)
			}
		}
	})
}
