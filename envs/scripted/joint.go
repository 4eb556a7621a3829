// SPDX-License-Identifier: Apache-2.0

package scripted

import (
	"fmt"
	"strings"

	"cermic/envs"
	"cermic/envs/meltingpot"
)

// JointPolicies returns the combinations of scripted roles other than the script's: "cooperate + defect", "7 eat".
func JointPolicies(cfg envs.Config) ([]Policy, error) {
	env, err := envs.Alone(cfg)
	if err != nil {
		return nil, err
	}
	var out []Policy
	if r, ok := env.(meltingpot.Roles); ok {
		for _, roles := range r.RoleSets()[1:] {
			out = append(out, jointName(roles))
		}
	}
	return out, nil
}

// jointName counts consecutive equal roles.
func jointName(roles []meltingpot.Role) Policy {
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
	return Policy(strings.Join(parts, " + "))
}

// jointly returns a joint policy's action function in env, or nil if env has no such policy.
func jointly(env envs.Env, policy Policy) func(*envs.Step, *envs.Actions) bool {
	r, ok := env.(meltingpot.Roles)
	if !ok {
		return nil
	}
	for _, roles := range r.RoleSets() {
		if jointName(roles) == policy {
			return func(_ *envs.Step, act *envs.Actions) bool {
				r.ScriptRoles(roles, act)
				return true
			}
		}
	}
	return nil
}
