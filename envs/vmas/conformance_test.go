// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
)

func TestTasksKeepTheContract(t *testing.T) {
	for _, name := range envs.Names() {
		cfg, err := envs.Default(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimPrefix(name, "vmas/"), func(t *testing.T) { envtest.Check(t, cfg) })
	}
}

func TestDiscreteTasksKeepTheContract(t *testing.T) {
	envtest.Check(t, DefaultBalance().WithDiscrete(Cross5))
}
