// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"cermic/envs"
	"cermic/envs/meltingpot"
)

// casts are players whose hand-written roles differ from those of the script: "cooperate + defect", "7 eat".
func casts(cfg envs.Config) ([]Player, error) {
	env, err := alone(cfg)
	if err != nil {
		return nil, err
	}
	var out []Player
	if r, ok := env.(meltingpot.Roles); ok {
		for _, roles := range r.Casts()[1:] {
			out = append(out, castName(roles))
		}
	}
	return out, nil
}

// castName counts equal roles that follow each other.
func castName(roles []meltingpot.Role) Player {
	var parts []string
	for i := 0; i < len(roles); {
		n := 1
		for i+n < len(roles) && roles[i+n] == roles[i] {
			n++
		}
		part := string(roles[i])
		if n > 1 {
			part = fmt.Sprintf("%d %s", n, part)
		}
		parts = append(parts, part)
		i += n
	}
	return Player(strings.Join(parts, " + "))
}

// acted returns what a cast does in env, nil if it has no such cast.
func acted(env envs.Env, player Player) func(*envs.Step, *envs.Actions) bool {
	r, ok := env.(meltingpot.Roles)
	if !ok {
		return nil
	}
	for _, roles := range r.Casts() {
		if castName(roles) == player {
			return func(_ *envs.Step, act *envs.Actions) bool { return r.ScriptRoles(roles, act) == nil }
		}
	}
	return nil
}
