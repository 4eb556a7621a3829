// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"encoding/binary"
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// Rooms is a small task with a sparse reward that takes exploring: two agents start near a corner of a 10×10 grid that a wall with
// one door parts into two rooms. An agent that reaches the far corner of the other room ends the episode and earns the team
// 1; nothing else is rewarded. An agent sees its own row and column only.
type Rooms struct {
	envs.Common
}

// Layout of the grid. Cells are (x, y); the wall is the column x = roomsWall but for its door.
const (
	roomsSize   = 10
	roomsWall   = 5
	roomsDoor   = 5 // y of the door
	roomsAgents = 2
	roomsSteps  = 60
	roomsStart  = 2 // agents start in as many first columns and rows
)

// DefaultRooms plays in 8 environments.
func DefaultRooms() Rooms { return Rooms{envs.Common{NumEnvs: 8, Reward: envs.Sparse}} }

// Kind is "libtest/rooms".
func (Rooms) Kind() string { return "libtest/rooms" }

// WithShared returns a copy with the settings that every task has.
func (c Rooms) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment, in which only where agents start is random.
func (c Rooms) Build(seed uint64, _ int) (envs.Env, error) {
	if err := c.Common.Validate(c.Kind()); err != nil {
		return nil, err
	}
	if c.Noise != (envs.Noise{}) {
		return nil, fmt.Errorf("%s has no noise", c.Kind())
	}
	s := envs.Spec{
		Name: c.Kind(), NumEnvs: c.NumEnvs, Agents: roomsAgents, Teams: make([]int, roomsAgents), Obs: []int{2 * roomsSize},
		State: 2 * roomsSize * roomsAgents, Act: envs.ActSpec{Choices: len(roomsMoves)}, Horizon: roomsSteps, EvalHorizon: roomsSteps,
		Metric: "reward", Sparse: c.Reward == envs.Sparse, Solved: 1,
	}
	return &rooms{
		spec: s, seed: seed, at: make([][2]uint8, c.NumEnvs*roomsAgents), step: make([]uint8, c.NumEnvs), episode: make([]uint32, c.NumEnvs),
	}, nil
}

// roomsMoves are the choices: stay, left, right, up, down.
var roomsMoves = [][2]int{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}

type rooms struct {
	spec    envs.Spec
	seed    uint64
	at      [][2]uint8 // [E,N] x and y
	step    []uint8    // [E] of the episode
	episode []uint32   // [E] names the stream of where it starts
	rand    rng.Rand
}

func (e *rooms) Spec() *envs.Spec { return &e.spec }

// free reports whether an agent can stand on (x, y).
func (e *rooms) free(x, y int) bool {
	return x >= 0 && y >= 0 && x < roomsSize && y < roomsSize && (x != roomsWall || y == roomsDoor)
}

func (e *rooms) show(c int, out *envs.Step) {
	o := e.spec.ObsLen()
	for row := c * roomsAgents; row < (c+1)*roomsAgents; row++ {
		clear(out.Obs[row*o : (row+1)*o])
		out.Obs[row*o+int(e.at[row][0])], out.Obs[row*o+roomsSize+int(e.at[row][1])] = 1, 1
		out.Alive[row] = 1
	}
	copy(out.State[c*e.spec.State:(c+1)*e.spec.State], out.Obs[c*roomsAgents*o:])
}

func (e *rooms) Reset(mask []uint8, out *envs.Step) {
	for c := range e.step {
		if mask != nil && mask[c] == 0 {
			continue
		}
		e.step[c] = 0
		e.episode[c]++
		e.rand.Seed(e.seed, "start", uint64(c), uint64(e.episode[c]))
		for row := c * roomsAgents; row < (c+1)*roomsAgents; row++ {
			e.at[row] = [2]uint8{uint8(e.rand.IntN(roomsStart)), uint8(e.rand.IntN(roomsStart))}
		}
		e.write(c, 0, out)
		out.Terminated[c], out.Truncated[c] = 0, 0
		e.show(c, out)
	}
}

// write writes one reward for all agents of environment c.
func (e *rooms) write(c int, r float32, out *envs.Step) {
	out.Score[c] = r
	for row := c * roomsAgents; row < (c+1)*roomsAgents; row++ {
		out.Dense[row], out.Sparse[row] = r, r
	}
}

func (e *rooms) Step(act *envs.Actions, out *envs.Step) {
	for c := range e.step {
		found := float32(0)
		for row := c * roomsAgents; row < (c+1)*roomsAgents; row++ {
			move := roomsMoves[act.Discrete[row]]
			x, y := int(e.at[row][0])+move[0], int(e.at[row][1])+move[1]
			if e.free(x, y) {
				e.at[row] = [2]uint8{uint8(x), uint8(y)}
			}
			if e.at[row] == [2]uint8{roomsSize - 1, roomsSize - 1} {
				found = 1
			}
		}
		e.step[c]++
		e.write(c, found, out)
		out.Terminated[c], out.Truncated[c] = uint8(found), 0
		if found == 0 && e.step[c] == roomsSteps {
			out.Truncated[c] = 1
		}
		e.show(c, out)
	}
}

func (e *rooms) Save(dst []byte) []byte {
	for _, at := range e.at {
		dst = append(dst, at[:]...)
	}
	for c, k := range e.episode {
		dst = binary.LittleEndian.AppendUint32(append(dst, e.step[c]), k)
	}
	return dst
}

func (e *rooms) Load(state []byte) error {
	if want := 2*len(e.at) + 5*len(e.step); len(state) != want {
		return fmt.Errorf("%s: a state of %d bytes, want %d", e.spec.Name, len(state), want)
	}
	for row := range e.at {
		copy(e.at[row][:], state)
		state = state[2:]
	}
	for c := range e.step {
		e.step[c], e.episode[c] = state[0], binary.LittleEndian.Uint32(state[1:])
		state = state[5:]
	}
	return nil
}
