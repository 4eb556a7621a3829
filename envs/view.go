// SPDX-License-Identifier: Apache-2.0

package envs

import "slices"

// View is one group's part of an environment: a spec, steps and actions with the group's rows. If all agents form one
// group, the view is the environment itself, with the same spec and buffers and no copies.
//
// From: BenchMARL's groups (own networks, losses and buffers), whose critics observe the group's agents.
type View struct {
	Name    string // of the group; "" if there is one group
	Spec    *Spec  // N, O, S and entities of the group; State is its agents' observations side by side
	whole   *Spec
	members []int // [N] its agents' indices in the environment
	peers   []int // [P] members, then opponents
}

// Views returns the views of all groups of s, in the order of Spec.Groups.
func Views(s *Spec) []*View {
	if len(s.Groups) == 0 {
		return []*View{{Spec: s}}
	}
	views := make([]*View, len(s.Groups))
	for k := range views {
		views[k] = newView(s, k)
	}
	return views
}

// newView is the view of group k.
func newView(s *Spec, k int) *View {
	g, own := s.Groups[k], *s
	v := &View{Name: g.Name, Spec: &own, whole: s}
	var others []int
	for i, team := range s.Teams {
		if team == k {
			v.members = append(v.members, i)
		} else if s.PeersAcross {
			others, own.Opponents = append(others, i), append(own.Opponents, team)
		}
	}
	v.peers = slices.Concat(v.members, others)
	own.Agents, own.Teams, own.Groups = len(v.members), slices.Repeat([]int{k}, len(v.members)), nil
	own.Group, own.Entities = g.Name, g.Entities
	if len(s.Obs) == 1 {
		own.Obs = []int{g.Obs}
	}
	own.State = own.Agents * own.ObsLen()
	return v
}

// All reports whether the view contains all agents.
func (v *View) All() bool { return v.whole == nil }

// Step makes buffers for Gather. Score and episode ends share the memory of whole.
func (v *View) Step(whole *Step) *Step {
	if v.All() {
		return whole
	}
	out := NewStep(v.Spec)
	out.Score, out.Terminated, out.Truncated = whole.Score, whole.Terminated, whole.Truncated
	return out
}

// Gather copies the group's rows of whole into out, which Step made.
func (v *View) Gather(out, whole *Step) {
	if v.All() {
		return
	}
	s, w := v.Spec, v.whole
	o, h, k, n := s.ObsLen(), s.CellLen(), s.Act.Choices, s.Peers()
	for c := range s.NumEnvs {
		for i, member := range v.members {
			to, from := c*s.Agents+i, c*w.Agents+member
			copy(out.Obs[to*o:(to+1)*o], whole.Obs[from*w.ObsLen():])
			copy(out.State[to*o:(to+1)*o], whole.Obs[from*w.ObsLen():])
			if h > 0 {
				copy(out.Cells[to*h:(to+1)*h], whole.Cells[from*h:])
			}
			if s.Masked {
				copy(out.Mask[to*k:(to+1)*k], whole.Mask[from*k:])
			}
			out.Alive[to], out.Dense[to], out.Sparse[to] = whole.Alive[from], whole.Dense[from], whole.Sparse[from]
			for j, peer := range v.peers {
				to, from := to*n+j, from*w.Agents+peer
				out.Visible[to] = whole.Visible[from]
				out.RelPos[2*to], out.RelPos[2*to+1] = whole.RelPos[2*from], whole.RelPos[2*from+1]
			}
		}
	}
}

// Actions makes buffers for Act.
func (v *View) Actions(whole *Actions) *Actions {
	if v.All() {
		return whole
	}
	return NewActions(v.Spec)
}

// Act copies the group's actions into their rows of whole.
func (v *View) Act(whole, act *Actions) {
	if v.All() {
		return
	}
	s, w, d := v.Spec, v.whole, v.Spec.Act.Dim
	for c := range s.NumEnvs {
		for i, member := range v.members {
			from, to := c*s.Agents+i, c*w.Agents+member
			if s.Act.Choices > 0 {
				whole.Discrete[to] = act.Discrete[from]
			} else {
				copy(whole.Continuous[to*d:(to+1)*d], act.Continuous[from*d:])
			}
		}
	}
}

// Agent is the index in the environment of the group's agent i or, from N on, of its peer i.
func (v *View) Agent(i int) int {
	if v.All() {
		return i
	}
	return v.peers[i]
}
