// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
)

func TestErrorsNameAGroupAsUsersKnowIt(t *testing.T) {
	_, err := conf.New[envs.Config]("vmas/balence")
	if err == nil || !strings.HasPrefix(err.Error(), `unknown task "vmas/balence"`) {
		t.Errorf("got %v", err)
	}
	type grid interface{ conf.Kinder }
	if _, err := conf.New[grid]("x"); err == nil || !strings.HasPrefix(err.Error(), `unknown grid "x"`) {
		t.Errorf("got %v", err)
	}
	if names := conf.Kinds[grid](); len(names) != 0 {
		t.Errorf("an empty group has %v", names)
	}
}
