// SPDX-License-Identifier: Apache-2.0

package libtest_test

import (
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/envs"
	"cermic/envs/envtest"
)

func TestToyTasksKeepTheContract(t *testing.T) {
	late := libtest.DefaultIdentity()
	late.Late, late.Masked, late.Symbols = true, true, 6
	rivals := libtest.DefaultIdentity()
	rivals.Rivals = true
	for name, c := range map[string]envs.Config{
		"identity": libtest.DefaultIdentity(), "late identity": late, "rivals": rivals,
	} {
		t.Run(name, func(t *testing.T) { envtest.Check(t, c) })
	}
}
