// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// fuzzSteps is the number of steps of a fuzzed environment.
const fuzzSteps = 12

// FuzzLoad changes bytes of saved states: the result must be an error or a working environment. In either case a full
// Reset must restore the environment.
func FuzzLoad(f *testing.F) {
	for task := range len(envs.Names()) {
		f.Add(uint8(task), uint32(20), []byte{0xff})
		f.Add(uint8(task), uint32(100), []byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80})
		f.Add(uint8(task), uint32(300), []byte{0, 0, 0xc0, 0x7f})
		f.Add(uint8(task), uint32(7), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, task uint8, at uint32, bytes []byte) {
		cfg := must.Value(envs.Default(envs.Names()[int(task)%len(envs.Names())]))
		env := must.Value(cfg.WithShared(envs.Common{NumEnvs: 2, Reward: envs.Dense}).Build(1, 1))
		p := playSome(t, env)
		state := env.Save(nil)
		if len(bytes) == 0 {
			state = state[:int(at)%len(state)]
		}
		const head = 16 // a fingerprint, which identifies the settings, and the seed
		for i, b := range bytes {
			state[head+(int(at)+i)%(len(state)-head)] ^= b
		}
		if err := env.Load(state); err != nil {
			must.Refuse(t, err, "")
		} else {
			p.loaded(t)
		}
		playSome(t, env)
		envs.Close(env)
	})
}

// playSome resets an environment and steps it for a while.
func playSome(t *testing.T, env envs.Env) *player {
	t.Helper()
	p := newPlayer(env)
	p.reset()
	p.onward(t)
	return p
}

// loaded continues from a changed state. Its masks are unknown, so it ignores a panic about a forbidden action.
func (p *player) loaded(t *testing.T) {
	t.Helper()
	defer func() {
		if got := recover(); got != nil && !strings.Contains(fmt.Sprint(got), "which its mask forbids") {
			panic(got)
		}
	}()
	p.onward(t)
}

// onward continues stepping.
func (p *player) onward(t *testing.T) {
	t.Helper()
	for range fuzzSteps {
		p.next()
		for c := range p.spec.NumEnvs {
			if p.out.Terminated[c] > 1 || p.out.Truncated[c] > 1 {
				t.Fatalf("environment %d ends with %d, %d", c, p.out.Terminated[c], p.out.Truncated[c])
			}
		}
	}
}
