// SPDX-License-Identifier: Apache-2.0

package envs_test

import (
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// shapes is an environment that has a spec alone.
type shapes struct{ envs.Env }

func (shapes) Spec() *envs.Spec {
	return &envs.Spec{NumEnvs: 3, Agents: 2, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}, Masked: true}
}

// An empty mask of a dead agent, or of any agent after the end of its episode, allows action 0. That of a living one is
// refused.
func TestEmptyMasks(t *testing.T) {
	const refused = "agent 1 of environment 1 is alive without an allowed action"
	for name, c := range map[string]struct {
		alive, terminated uint8
		over              []bool
		want              string
	}{
		"alive":                        {1, 0, nil, refused},
		"alive in an evaluation":       {1, 0, []bool{true, false, true}, refused},
		"dead":                         {0, 0, nil, ""},
		"terminated":                   {1, 1, nil, ""},
		"over":                         {1, 0, []bool{false, true, false}, ""},
		"in an environment not needed": {1, 0, []bool{false}, ""},
	} {
		env := shapes{}
		s := envs.NewStep(env.Spec())
		for i := range s.Mask {
			s.Mask[i] = uint8(i % 2)
		}
		for i := range s.Alive {
			s.Alive[i] = 1
		}
		want := slices.Clone(s.Mask)
		want[6], want[7] = 1, 0
		clear(s.Mask[6:8])
		s.Alive[3], s.Terminated[1] = c.alive, c.terminated
		err := envs.CheckStep(env, s, c.over)
		if c.want != "" {
			must.Refuse(t, err, c.want)
		} else if err != nil || !slices.Equal(s.Mask, want) {
			t.Errorf("%s: masks %v, %v, want %v", name, s.Mask, err, want)
		}
	}
}
