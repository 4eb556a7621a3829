// SPDX-License-Identifier: Apache-2.0

package smac

// Field is the engine of a battle: the simulator or a running game. It does not handle observations or rewards.
//
// Both methods append the units observed afterwards to seen[:0] and return it. After an error, only Deploy may be
// called.
type Field interface {
	// Deploy removes all units, creates the units of l and advances by one loop. It returns all of them, including a
	// unit killed by a baneling in that loop.
	Deploy(l *Lineup, seen []Sighting) ([]Sighting, error)
	// Play gives one command per agent, advances by the loops of one step and returns the living units.
	Play(orders []Command, seen []Sighting) ([]Sighting, error)
	// Ground is the terrain, valid after Deploy.
	Ground() *Terrain
}
