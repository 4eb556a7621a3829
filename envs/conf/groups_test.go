// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

func TestErrorsNameAGroupAsUsersKnowIt(t *testing.T) {
	_, err := conf.New[envs.Config]("vmas/balence")
	must.Refuse(t, err, `unknown task "vmas/balence"`)
	type grid interface{ conf.Kinder }
	_, err = conf.New[grid]("x")
	must.Refuse(t, err, `unknown grid "x"`)
	if names := conf.Kinds[grid](); len(names) != 0 {
		t.Errorf("an empty group has %v", names)
	}
}
