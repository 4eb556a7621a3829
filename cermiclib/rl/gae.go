// SPDX-License-Identifier: Apache-2.0

package rl

// Advantages computes generalised advantage estimates and value targets of every agent (Schulman et al. 2016),
// backwards:
//
//	δ_t = r_t + γ·(1 − done_t)·V(s_{t+1}) − V(s_t)
//	Â_t = δ_t + γλ·(1 − done_t)·Â_{t+1}          R̂_t = Â_t + V(s_t)
//
// value holds V of each observed step, [T+1,E], or of each agent, [T+1,E,N]. A time limit counts as termination, as in
// BenchMARL's environment wrappers; the end of the rollout does not. reward, adv and target are [T,E,N].
func (x *Rollout) Advantages(adv, target, reward, value []float32, gamma, lambda float32) {
	each := len(value) / ((x.T + 1) * x.E) // values of a frame
	for c := range x.E {
		for i := range x.N {
			next := float32(0)
			for t := x.T - 1; t >= 0; t-- {
				frame := t*x.E + c
				row, at := frame*x.N+i, frame*each+i%each
				v, ahead := value[at], value[at+x.E*each]
				if x.Done(t, c) {
					next, ahead = 0, 0
				}
				next = reward[row] + gamma*ahead - v + gamma*lambda*next
				adv[row], target[row] = next, next+v
			}
		}
	}
}

// EarnedByDead replaces V of dead agents, which no loss trains, with the rewards that they still receive:
//
//	V(s_t) = r_t + γ·(1 − done_t)·V(s_{t+1})
//
// V is 0 at the end of the rollout. value is [T+1,E,N] and reward [T,E,N], as for Advantages.
func (x *Rollout) EarnedByDead(reward, value []float32, gamma float32) {
	step := x.E * x.N
	for row := len(value) - 1; row >= 0; row-- {
		switch {
		case x.Alive[row] != 0:
		case row >= x.T*step:
			value[row] = 0
		case x.Done(row/step, row%step/x.N):
			value[row] = reward[row]
		default:
			value[row] = reward[row] + gamma*value[row+step]
		}
	}
}
