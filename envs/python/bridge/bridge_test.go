// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// The rollout behind tests/known.json, whose sums the Python tests compare with environments built without the
// bridge.
const (
	knownEnvs  = 3
	knownSteps = 10
	knownSeed  = 7
)

// known holds, per task, the sum of every buffer over all steps and the reset.
type known map[string]map[string]float64

// recipe writes actions without random numbers; tests/common.py has the same recipe.
func recipe(s *envs.Spec, t int, mask []uint8, act *envs.Actions) {
	for row := range act.Discrete {
		k := s.Act.Choices
		var allowed []int32
		for a := range k {
			if mask == nil || mask[row*k+a] != 0 {
				allowed = append(allowed, int32(a))
			}
		}
		act.Discrete[row] = allowed[(7*t+3*row)%len(allowed)]
	}
	for at := range act.Continuous {
		row, d := at/s.Act.Dim, at%s.Act.Dim
		act.Continuous[at] = s.Act.Low[d] + (s.Act.High[d]-s.Act.Low[d])*float32((7*t+3*row+5*d)%11)/10
	}
}

// newStep makes a Step and pixels from the list of buffers, as another language does.
func newStep(s *envs.Spec) (*envs.Step, []uint8) {
	all := Buffers(s)
	floats := func(k int) []float32 { return make([]float32, all[k].Len()) }
	flags := func(k int) []uint8 { return make([]uint8, all[k].Len()) }
	out := &envs.Step{
		Obs: floats(Obs), State: floats(State), Alive: flags(Alive), Dense: floats(Dense), Sparse: floats(Sparse),
		Score:      floats(Score),
		Terminated: flags(Terminated), Truncated: flags(Truncated), Visible: flags(Seen), RelPos: floats(RelPos),
	}
	if all[Mask].Len() > 0 {
		out.Mask = flags(Mask)
	}
	var pixels []uint8
	if all[Cells].Len() > 0 {
		out.Cells, pixels = make([]uint16, all[Cells].Len()), flags(Pixels)
	}
	return out, pixels
}

func total[T float32 | uint8 | uint16](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// add adds the sums of a Step's buffers.
func add(sums map[string]float64, s *envs.Step, pixels []uint8) {
	for name, x := range map[string]float64{
		"obs": total(s.Obs), "cells": total(s.Cells), "state": total(s.State), "mask": total(s.Mask), "alive": total(s.Alive),
		"dense": total(s.Dense), "sparse": total(s.Sparse), "score": total(s.Score), "terminated": total(s.Terminated),
		"truncated": total(s.Truncated), "seen": total(s.Visible), "rel_pos": total(s.RelPos), "pixels": total(pixels),
	} {
		sums[name] += x
	}
}

// The bridge's output equals, bit by bit, that of an environment built without it.
func TestBridgeShowsWhatEveryTaskShows(t *testing.T) {
	found := known{}
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		common := cfg.Shared()
		common.NumEnvs = knownEnvs
		direct := must.Value(cfg.WithShared(common).Build(knownSeed, 1))
		s := direct.Spec()
		bridged := must.Value(Make(name, []byte("{}"), knownEnvs, 0, 2))
		want, act := envs.NewStep(s), envs.NewActions(s)
		got, pixels := newStep(s)
		painted := make([]uint8, len(pixels))
		found[name] = map[string]float64{}
		seed := uint64(knownSeed)
		direct.Reset(nil, want)
		must.Do(t, bridged.Reset(got, pixels, nil, &seed))
		for step := range knownSteps + 1 {
			if s.CellLen() > 0 {
				s.RGB(painted, want.Cells)
			}
			if !reflect.DeepEqual(got, want) || !bytes.Equal(pixels, painted) {
				t.Errorf("%s differs in step %d", name, step)
				break
			}
			add(found[name], want, painted)
			mask := make([]uint8, s.NumEnvs)
			for c := range mask {
				mask[c] = want.Terminated[c] | want.Truncated[c]
			}
			direct.Reset(mask, want)
			must.Do(t, bridged.Reset(got, pixels, mask, nil))
			recipe(s, step, want.Mask, act)
			direct.Step(act, want)
			if err := bridged.Step(got, pixels, act.Discrete, act.Continuous); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	file := filepath.Join("..", "tests", "known.json")
	if *envtest.Regen {
		text := must.Value(json.MarshalIndent(found, "", "\t"))
		must.Do(t, os.WriteFile(file, append(text, '\n'), 0o666))
	}
	text := must.Value(os.ReadFile(file))
	var stored known
	must.Do(t, json.Unmarshal(text, &stored))
	for name, sums := range stored {
		for buffer, y := range sums {
			// Rounding differs between processors; five digits remain after ten steps of physics.
			if x := found[name][buffer]; math.Abs(x-y) > 1e-3+1e-5*math.Abs(y) {
				t.Errorf("%s: %s sums to %g, and to %g in %s", name, buffer, x, y, file)
			}
		}
	}
}

func TestMistakesAreAnsweredWithOneSentence(t *testing.T) {
	for name, c := range map[string]struct {
		task, settings string
		numEnvs        int
		workers        int
		want           string
	}{
		"task":     {"vmas/balnce", "{}", 1, 0, "did you mean vmas/balance?"},
		"key":      {"vmas/balance", `{"n_agnts": 3}`, 1, 0, `unknown key "n_agnts"; did you mean n_agents?`},
		"value":    {"vmas/balance", `{"n_agents": "many"}`, 1, 0, "want a whole number"},
		"nested":   {"vmas/balance", `{"noise": {"depth": 3}}`, 1, 0, "noise.depth"},
		"JSON":     {"vmas/balance", `[]`, 1, 0, "not a JSON object"},
		"copies":   {"vmas/balance", `{"copies": 3}`, 1, 0, "num_envs"},
		"kind":     {"vmas/balance", `{"kind": "vmas/wheel"}`, 1, 0, "not a setting"},
		"none":     {"vmas/balance", `{}`, 0, 0, "want 1 to 65536"},
		"too many": {"vmas/balance", `{}`, 1 << 20, 0, "want 1 to 65536"},
		"memory": {"vmas/navigation", `{"n_agents": 100, "world_spawning_x": 50, "world_spawning_y": 50}`, 1 << 16,
			0, "GiB"},
		"workers": {"vmas/balance", `{}`, 1, -1, "workers is -1"},
	} {
		_, err := Make(c.task, []byte(c.settings), c.numEnvs, 0, c.workers)
		if _, ok := err.(Misuse); !ok || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want a Misuse with %q", name, err, c.want)
		}
	}
}

func TestProtocolIsKept(t *testing.T) {
	env := must.Value(Make("explore/climbing", []byte("{}"), 2, 0, 0))
	out, _ := newStep(env.Spec)
	seed := uint64(1)
	for _, c := range []struct {
		want string
		call func() error
	}{
		{"before its first step", func() error { return env.Step(out, nil, make([]int32, 4), nil) }},
		{"one of all environments", func() error { return env.Reset(out, nil, []uint8{1, 0}, nil) }},
		{"", func() error { return env.Reset(out, nil, nil, nil) }},
		{"leave mask out", func() error { return env.Reset(out, nil, []uint8{1, 0}, &seed) }},
		{"3 choices", func() error { return env.Step(out, nil, make([]int32, 3), nil) }},
		{"want 0 to 2", func() error { return env.Step(out, nil, []int32{0, 0, 3, 0}, nil) }},
		{"want 0 to 2", func() error { return env.Step(out, nil, []int32{0, 0, -1, 0}, nil) }},
		{"wrong shapes", func() error { return env.Step(&envs.Step{}, nil, make([]int32, 4), nil) }},
		{"", func() error { return env.Step(out, nil, make([]int32, 4), nil) }},
		{"has ended", func() error { return env.Step(out, nil, make([]int32, 4), nil) }},
		{"", func() error { return env.Close() }},
		{"", func() error { return env.Close() }},
		{"closed", func() error { return env.Step(out, nil, make([]int32, 4), nil) }},
		{"closed", func() error { return env.Reset(out, nil, nil, nil) }},
	} {
		if err := c.call(); c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Cells are memory that another thread of the caller may corrupt.
func TestCellWithoutPictureIsAnError(t *testing.T) {
	env := must.Value(Make("meltingpot/clean_up", []byte("{}"), 9, 0, 3))
	out, pixels := newStep(env.Spec)
	must.Do(t, env.paint(pixels, out.Cells, nil))
	out.Cells[len(out.Cells)-1] = math.MaxUint16
	if err := env.paint(pixels, out.Cells, nil); err == nil {
		t.Error("a cell with an unknown number is rendered")
	}
	must.Do(t, env.Reset(out, pixels, nil, nil)) // which rewrites all cells
}

// Concurrent calls to one environment wait for each other; a call after Close is an error and not a crash.
func TestEnvironmentIsSafeForManyThreads(t *testing.T) {
	for range 3 {
		env := must.Value(Make("vmas/balance", []byte("{}"), 8, 0, 2))
		spec := env.Spec
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				out, _ := newStep(spec)
				act := envs.NewActions(spec)
				for step := range 50 {
					if step%10 == 0 {
						_ = env.Reset(out, nil, nil, nil) // may be closed
					}
					_ = env.Step(out, nil, nil, act.Continuous)
					if i == 0 && step == 40 {
						_ = env.Close()
					}
				}
			})
		}
		all.Wait()
	}
}

// For any settings, the result is a working environment or an error of one sentence.
func FuzzMake(f *testing.F) {
	for _, name := range envs.Names() {
		f.Add(name, `{"reward": "dense"}`, 2)
	}
	f.Add("vmas/balance", `{"n_agents": 1e3, "noise": {"width": -1}}`, 1)
	f.Add("vmas/navigation", `{"n_agents": null, "": 3}`, 1)
	f.Add("smac/zerg_5_vs_5", `{"unit_types": ["zergling", 3], "": {}}`, -1)
	f.Fuzz(func(t *testing.T, task, settings string, numEnvs int) {
		if strings.Contains(settings, "sc2") {
			t.Skip("needs the game")
		}
		env, err := Make(task, []byte(settings), numEnvs%8, 1, 1)
		if err != nil {
			if !strings.Contains(err.Error(), " ") {
				t.Errorf("got %q, want a sentence", err)
			}
			return
		}
		spec := env.Spec
		out, pixels := newStep(spec)
		must.Do(t, env.Reset(out, pixels, nil, nil))
		act := envs.NewActions(spec)
		recipe(spec, 0, out.Mask, act)
		must.Do(t, env.Step(out, pixels, act.Discrete, act.Continuous))
		must.Do(t, env.Close())
	})
}
