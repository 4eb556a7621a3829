// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"cermic/envs"
)

// On dense Balance, nobody can succeed within the benchmark's 100 steps: a bare "0 %" reads as a failure of the learner.
func TestASummarySaysWhereEpisodesAreTooShortToSucceed(t *testing.T) {
	for _, c := range []struct {
		task   string
		reward envs.Reward
		want   string
	}{
		{"vmas/balance", envs.Dense, "100 steps, the benchmark's own, are too few"},
		{"vmas/balance", envs.Sparse, ""},
		{"vmas/navigation", envs.Dense, ""},
		{"explore/lock", envs.Sparse, ""},
	} {
		cfg, err := envs.Default(c.task)
		if err != nil {
			t.Fatal(err)
		}
		common := cfg.Shared()
		common.Reward, common.NumEnvs = c.reward, 1
		env, err := cfg.WithShared(common).Build(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := tooShort(env.Spec())
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s reward: got %q, want %q", c.task, c.reward, got, c.want)
		}
	}
}
