// SPDX-License-Identifier: Apache-2.0

package smac

// observe writes the observations of all agents, [N,O], and records which agent found which enemy.
//
// DECISION 3: the order of agents and the sharing of sightings are drawn from the environment's stream.
func (b *battle) observe(chance randSource, dst []float32) {
	clear(dst)
	chance.Perm(b.order)
	for _, agent := range b.order {
		i := int(agent)
		if b.units[i].Health > 0 {
			b.observeOne(i, chance, dst[i*b.obs:(i+1)*b.obs])
		}
		if b.ObsTimestep { // dead agents get it, too
			dst[(i+1)*b.obs-1] = float32(float64(b.Steps) / float64(b.MaxSteps))
		}
	}
}

// observeOne writes the observation of a living agent: moves, enemies, allies, itself.
func (b *battle) observeOne(i int, chance randSource, dst []float32) {
	u := &b.units[i]
	for d := range compass {
		dst[d] = float32(b.mask[i*b.choices+actNorth+d])
	}
	dst = dst[len(compass):]
	if b.ObsPathing {
		dst = b.ground.paths(u.X, u.Y, int(b.MoveAmount), dst)
	}
	if b.ObsHeight {
		dst = b.ground.levels(u.X, u.Y, int(b.MoveAmount), dst)
	}
	b.observeEnemies(i, chance, dst[:b.m*b.enemyLen])
	dst = dst[b.m*b.enemyLen:]
	for j := range b.n {
		if j == i {
			continue
		}
		if b.visible(i, j) && b.units[j].Health > 0 {
			b.observeAlly(i, j, dst[:b.allyLen])
		}
		dst = dst[b.allyLen:]
	}
	b.observeSelf(i, dst)
}

// visible reports whether the position of unit j, dead or alive, is visible to agent i.
func (b *battle) visible(i, j int) bool {
	d, sight := b.apart[i*len(b.units)+j], b.sight[b.units[i].Type]
	if b.ConicFOV {
		return d <= sight && b.inCone(i, &b.units[j])
	}
	return d < sight
}

// observeEnemies writes the rows of enemies, [M, enemyLen].
//
// An enemy is shown to its finder (the first agent to see it) and, with probability prob_obs_enemy, to other agents.
//
// DECISION 2: since June 2023 the package also clears, for each enemy that is not found, all rows written before it.
// The default keeps this, as the installed version does; obs_wipe=false is release 1.0, of the published curves.
func (b *battle) observeEnemies(i int, chance randSource, dst []float32) {
	for e := range b.m {
		visible := b.visible(i, b.n+e)
		found := b.found[e*b.n : (e+1)*b.n]
		if visible && b.finder[e] < 0 {
			b.finder[e] = int32(i)
			b.share(i, found, chance)
		}
		if visible && found[i] != 0 && b.units[b.n+e].Health > 0 {
			b.observeEnemy(i, e, dst[e*b.enemyLen:(e+1)*b.enemyLen])
		}
		if found[i] == 0 && b.ObsWipe {
			clear(dst)
		}
	}
}

// share shows an enemy to agent i, which found it, and to each other agent at random.
func (b *battle) share(i int, found []uint8, chance randSource) {
	found[i] = 1
	for j := range found {
		if j != i && chance.Float64() < b.ProbObsEnemy {
			found[j] = 1
		}
	}
}

func (b *battle) observeEnemy(i, e int, dst []float32) {
	x := &b.units[b.n+e]
	if b.canShoot(i, e) {
		dst[0] = 1
	}
	dst = b.observePlace(i, b.n+e, dst[1:])
	if b.hidden[i*b.m+e] != 0 {
		return
	}
	if b.ObsAllHealth {
		dst = b.observeLife(x, dst)
	}
	dst[b.bits[x.Type]] = 1
}

func (b *battle) observeAlly(i, j int, dst []float32) {
	x := &b.units[j]
	dst[0] = 1
	dst = b.observePlace(i, j, dst[1:])
	if b.ObsAllHealth {
		dst = b.observeLife(x, dst)
	}
	if b.ObsTypes {
		dst[b.bits[x.Type]] = 1
	}
	if last := b.last[j]; b.ObsLastAction && last >= 0 {
		dst[len(b.race.types)+int(last)] = 1
	}
}

// observePlace writes distance and direction of unit j from agent i, in sight ranges.
func (b *battle) observePlace(i, j int, dst []float32) []float32 {
	u, x := &b.units[i], &b.units[j]
	sight := b.sight[u.Type]
	dst[0] = float32(b.apart[i*len(b.units)+j] / sight)
	dst[1] = float32((float64(x.X) - float64(u.X)) / sight)
	dst[2] = float32((float64(x.Y) - float64(u.Y)) / sight)
	return dst[3:]
}

// observeLife writes the fractions of health and, if the race has shields, of shield.
func (b *battle) observeLife(x *Unit, dst []float32) []float32 {
	dst[0] = float32(float64(x.Health) / float64(x.HealthMax))
	return b.shield(x, dst[1:])
}

func (b *battle) observeSelf(i int, dst []float32) {
	u := &b.units[i]
	if b.showsOwnHealth() {
		dst = b.observeLife(u, dst)
	}
	if b.ObsOwnPos {
		dst[0] = float32(float64(u.X) / float64(b.ground.Width))
		dst[1] = float32(float64(u.Y) / float64(b.ground.Height))
		dst = dst[2:]
	}
	if b.ConicFOV {
		dst[0], dst[1] = float32(b.gaze[i][0]), float32(b.gaze[i][1])
		dst = dst[2:]
	}
	dst[b.bits[u.Type]] = 1
}
