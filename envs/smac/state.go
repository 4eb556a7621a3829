// SPDX-License-Identifier: Apache-2.0

package smac

// centralised writes the central state, [S]: agents, enemies, last actions, time. Rows of dead units are zero.
func (b *battle) centralised(dst []float32) {
	clear(dst)
	for i := range b.n {
		if b.units[i].Health > 0 {
			b.agentState(i, dst[i*b.allyState:(i+1)*b.allyState])
		}
	}
	dst = dst[b.n*b.allyState:]
	for e := range b.m {
		x, row := &b.units[b.n+e], dst[e*b.enemyState:(e+1)*b.enemyState]
		if x.Health > 0 {
			row[0] = float32(float64(x.Health) / float64(x.HealthMax))
			b.fromCentre(x, row[1:])
			b.shield(x, row[3:])[b.bits[x.Type]] = 1
		}
	}
	dst = dst[b.m*b.enemyState:]
	if b.StateLast {
		for i, a := range b.last {
			if a >= 0 {
				dst[i*b.choices+int(a)] = 1
			}
		}
		dst = dst[b.n*b.choices:]
	}
	if b.StateTimestep {
		dst[0] = float32(float64(b.Steps) / float64(b.MaxSteps))
	}
}

func (b *battle) agentState(i int, row []float32) {
	u := &b.units[i]
	row[0] = float32(float64(u.Health) / float64(u.HealthMax))
	row[1] = float32(float64(u.Cooldown) / kinds[u.Type].maxCooldown)
	b.fromCentre(u, row[2:])
	row = b.shield(u, row[4:])
	if b.ConicFOV {
		row[0], row[1] = float32(b.gaze[i][0]), float32(b.gaze[i][1])
		row = row[2:]
	}
	row[b.bits[u.Type]] = 1
}

// fromCentre writes a unit's position relative to the map's centre, in units of the playable size.
func (b *battle) fromCentre(u *Unit, dst []float32) {
	dst[0] = float32((float64(u.X) - float64(b.ground.Width)/2) / float64(b.ground.PlayWidth))
	dst[1] = float32((float64(u.Y) - float64(b.ground.Height)/2) / float64(b.ground.PlayHeight))
}

// shield writes the fraction of a unit's shield if its race has shields.
func (b *battle) shield(u *Unit, dst []float32) []float32 {
	if !b.race.shields {
		return dst
	}
	dst[0] = float32(float64(u.Shield) / kinds[u.Type].maxShield)
	return dst[1:]
}
