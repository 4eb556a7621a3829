// SPDX-License-Identifier: Apache-2.0

package smac

// ending is how an episode ended, or that it goes on.
type ending uint8

const (
	goesOn ending = iota
	won
	lost
	drawn    // no unit survives
	timedOut // the episode limit is reached
	aborted  // the game failed
)

// ending returns the current ending, from the numbers of living units alone.
func (b *battle) ending() ending {
	agents, enemies := b.alive()
	switch {
	case agents == 0 && enemies == 0:
		return drawn
	case agents == 0:
		return lost
	case enemies == 0:
		return won
	case int(b.Steps) >= b.MaxSteps:
		return timedOut
	}
	return goesOn
}

// settle returns the team's reward since the previous call: the benchmark's reward, after scaling.
func (b *battle) settle(end ending) float64 {
	reward := b.damage()
	if b.RewardSparse {
		reward = 0
	}
	switch {
	case end == won && b.RewardSparse:
		reward = 1
	case end == lost && b.RewardSparse:
		reward = -1
	case end == won:
		reward += b.RewardWin
	case end == lost:
		reward += b.RewardDefeat
	}
	if b.RewardScale {
		reward /= b.Divisor / b.ScaleRate // also the sparse one, as in SMACv2
	}
	return reward
}

// damage sums the enemies' losses and, without reward_only_positive, subtracts the weighted losses of allies.
// Recovery counts as a negative loss.
func (b *battle) damage() float64 {
	ours, theirs := 0.0, 0.0
	for i := range b.units {
		if b.fallen[i] {
			continue
		}
		u := &b.units[i]
		lost := b.before[i]
		if u.Health > 0 {
			now := u.strength()
			lost -= now
			b.before[i] = now
		} else {
			b.fallen[i] = true
			lost += b.RewardDeath
		}
		if i < b.n {
			ours += lost
		} else {
			theirs += lost
		}
	}
	if b.RewardPositive {
		return max(theirs, 0)
	}
	return theirs - float64(b.RewardNegative*ours) // as in begin, the conversion prevents fused operations
}

// sparse is the appendix's reward for an ending.
//
// paper:sparse  "strictly tied to the ultimate battle outcome: a large positive reward for winning, a negative or
// zero reward for losing, and a neutral or slightly negative reward for a draw"
// Reading: the paper gives no numbers. By default a loss costs more than a draw, so that losing early does not pay.
//
// DECISION 5: it is independent of the package's own sparse flag and scale.
func (s *Settings) sparse(end ending) float32 {
	switch end {
	case won:
		return s.SparseWin
	case lost:
		return s.SparseLoss
	case drawn, timedOut:
		return s.SparseDraw
	}
	return 0
}
