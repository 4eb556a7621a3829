// SPDX-License-Identifier: Apache-2.0

package smac

// Field is where a battle is fought: the simulator, or a running game. It knows nothing of observations and rewards.
//
// Both methods append what is seen afterwards to seen[:0] and return it. After an error the field is good for another Deploy
// only.
type Field interface {
	// Deploy clears the field, brings the units of l into it and lets one loop pass. All units are seen, also one that a
	// baneling beside it has killed in that loop.
	Deploy(l *Lineup, seen []Sighting) ([]Sighting, error)
	// Play hands out the commands, one for each agent, and lets the loops of one step pass. The living are seen.
	Play(orders []Command, seen []Sighting) ([]Sighting, error)
	// Ground is what the units stand on, once they are deployed.
	Ground() *Terrain
}
