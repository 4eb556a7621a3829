// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// oddities are replacement values for settings: plausible ones and ones that break arithmetic.
var oddities = []any{-1, 0, 1, 2, 3, 7, 40, 1000, 1 << 40, 0.001, 0.05, 0.3, 1.5, 20.5, -0.5, 1e-30,
	1e-12, 1e9, 1e30, 3e38}

// FuzzSettings checks that settings are either rejected with one sentence or make a playable world.
func FuzzSettings(f *testing.F) {
	r := rng.New(1, "settings")
	for range 400 {
		f.Add(r.Uint64())
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		overlay := randomSettings(rng.New(seed, "overlay"))
		var cfg envs.Config
		if err := conf.Unmarshal(overlay, &cfg); err != nil {
			return // wrong type, which package conf's tests cover
		}
		built, err := cfg.Build(seed, 1)
		if err != nil {
			if !strings.HasPrefix(err.Error(), cfg.Kind()+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %q, want one sentence that begins with the task", overlay, err)
			}
			return
		}
		playAnything(t, built, rng.New(seed, "play"), func(r *rng.Rand) float32 { return r.Uniform(-1, 1) })
		if t.Failed() {
			t.Errorf("with %s", overlay)
		}
	})
}

// randomSettings returns a task with up to four settings replaced, as JSON.
func randomSettings(r *rng.Rand) []byte {
	name := envs.Names()[r.IntN(len(envs.Names()))]
	cfg, _ := envs.Default(name)
	keys := conf.Keys(cfg)
	overlay := map[string]any{"kind": name, "copies": 2}
	for range 1 + r.IntN(4) {
		key := keys[r.IntN(len(keys))]
		switch {
		case key.Type == "true or false":
			overlay[key.Key] = r.IntN(2) == 0
		case strings.Contains(key.Type, "number") && !strings.Contains(key.Key, ".") && key.Key != "copies":
			overlay[key.Key] = oddities[r.IntN(len(oddities))]
		}
	}
	if r.IntN(3) == 0 {
		overlay["noise"] = map[string]any{"width": oddities[r.IntN(len(oddities))], "height": 0.5,
			"scale": oddities[r.IntN(len(oddities))]}
	}
	out, _ := json.Marshal(overlay)
	return out
}

// FuzzForces checks that forces with arbitrary bits leave all numbers of every task finite.
func FuzzForces(f *testing.F) {
	for task := range len(envs.Names()) {
		f.Add(uint64(task), uint32(task))
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, bits uint32) {
		cfg := must.Value(envs.Default(envs.Names()[seed%uint64(len(envs.Names()))]))
		built := must.Value(cfg.WithShared(envs.Common{NumEnvs: 2, Reward: envs.Sparse}).Build(seed, 1))
		strange := []float32{nan, inf, -inf, 3e38, 1e-45, -7, math.Float32frombits(bits)}
		playAnything(t, built, rng.New(seed, "play"), func(r *rng.Rand) float32 { return strange[r.IntN(len(strange))] })
	})
}

// playAnything runs 40 steps with forces from next, or with random discrete actions, and checks that all numbers stay
// finite.
func playAnything(t *testing.T, env envs.Env, r *rng.Rand, next func(*rng.Rand) float32) {
	t.Helper()
	spec := env.Spec()
	out, act, done := envs.NewStep(spec), envs.NewActions(spec), make([]uint8, spec.NumEnvs)
	env.Reset(nil, out)
	for step := range 40 {
		checkScript(t, env, act)
		for i := range act.Continuous {
			act.Continuous[i] = next(r)
		}
		for i := range act.Discrete {
			act.Discrete[i] = int32(r.IntN(spec.Act.Choices))
		}
		env.Step(act, out)
		checkFinite(t, out)
		if t.Failed() {
			t.Logf("at step %d", step)
			return
		}
		for c := range done {
			done[c] = out.Terminated[c] | out.Truncated[c]
		}
		env.Reset(done, out)
	}
}

// checkScript checks that a scripted policy returns finite actions within bounds, and the same ones for one state.
func checkScript(t *testing.T, env envs.Env, act *envs.Actions) {
	t.Helper()
	script, again := env.(envs.Scripter), envs.NewActions(env.Spec())
	if !script.Script(act) || !script.Script(again) || !reflect.DeepEqual(act, again) {
		t.Error("a script returns no action, or two for one state")
	}
	for i, x := range act.Continuous {
		if high := env.Spec().Act.High[i%2]; !isFinite(x) || abs(x) > high {
			t.Errorf("a script returns %g, want at most %g", x, high)
		}
	}
}

func checkFinite(t *testing.T, out *envs.Step) {
	t.Helper()
	for what, numbers := range map[string][]float32{
		"an observation": out.Obs, "a dense reward": out.Dense, "a sparse reward": out.Sparse, "a score": out.Score,
		"a relative position": out.RelPos,
	} {
		if slices.ContainsFunc(numbers, func(x float32) bool { return !isFinite(x) }) {
			t.Errorf("%s is not finite: %v", what, numbers)
		}
	}
}
