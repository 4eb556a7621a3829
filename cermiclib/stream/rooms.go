// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"math"

	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// Room is a place that agents find themselves in. What it looks like is drawn once from its name.
type Room struct {
	Name     string
	Share    float64 // of the episodes that take place in it
	Noisy    bool    // a screen in it shows new noise at every step; it is blank elsewhere
	Alone    bool    // peers are rarely in sight
	Restless bool    // peers turn up anywhere at every step; elsewhere they walk
}

// Rooms are ten rooms visited from .404 of the time to never, among them three visited alike: one where nothing is special, one with a noisy screen and
// one with restless peers.
func Rooms() []Room {
	return []Room{
		{Name: "hall", Share: 0.404}, {Name: "office", Share: 0.2}, {Name: "kitchen", Share: 0.1}, {Name: "screen", Share: 0.1, Noisy: true},
		{Name: "crowd", Share: 0.1, Restless: true}, {Name: "yard", Share: 0.05}, {Name: "cell", Share: 0.03, Alone: true}, {Name: "attic", Share: 0.013},
		{Name: "vault", Share: 0.003}, {Name: "secret"},
	}
}

// plain tells that nothing in a room is special but how often it is visited.
func (r Room) plain() bool { return !r.Noisy && !r.Alone && !r.Restless }

// What an agent observes: marks of its room, its own place, the screen, and of each agent whether it is in sight and where. Its own
// slot among the agents is empty.
const (
	marks      = 8 // numbers from -1 to 1 that are the same wherever the agent stands in a room
	place      = 2 // from -1 to 1
	screen     = 8 // standard normal in front of a noisy screen, else 0
	peer       = 3 // 1 and the relative place, or 0
	agents     = 3
	stride     = 0.2 // of a move
	inSight    = 0.8 // chance that a peer is in sight for an episode
	aloneSight = 0.05
)

// moves are the choices: stay, left, right, down, up.
var moves = [][2]float32{{0, 0}, {-stride, 0}, {stride, 0}, {0, -stride}, {0, stride}}

// spec describes the stream to explorers.
func (s Stream) spec() *envs.Spec {
	return &envs.Spec{
		Name: "stream", NumEnvs: s.NumEnvs, Agents: agents, Teams: make([]int, agents), Obs: []int{marks + place + screen + peer*agents}, State: 1,
		Act: envs.ActSpec{Choices: len(moves)}, Horizon: s.Steps, EvalHorizon: s.Steps,
	}
}

// walker is one agent in its room, on its own: each agent's episodes take place where its own draw says.
type walker struct {
	room  int
	at    [2]float32
	peers [agents]struct {
		seen bool
		at   [2]float32
	}
}

// rollout returns one of T = Steps, an episode of every agent; choose draws the room of an episode. Moves are uniform.
func (s Stream) rollout(spec *envs.Spec, iteration int, purpose string, choose func(r *rng.Rand) int) *rl.Rollout {
	r := rng.New(s.Seed, "stream "+purpose, uint64(iteration))
	x := rl.NewRollout(spec, s.Steps, 0)
	x.KeepLabels()
	x.Iteration, x.Frames = iteration, iteration*s.Steps*s.NumEnvs
	step := envs.NewStep(spec)
	walkers := make([]walker, s.NumEnvs*agents)
	for i := range walkers {
		step.Alive[i] = 1
		walkers[i] = s.enter(choose(r), i%agents, r)
	}
	for c := range s.NumEnvs {
		x.IsFirst[c] = 1
	}
	show := func() {
		for i := range walkers {
			s.show(step.Obs[i*spec.ObsLen():(i+1)*spec.ObsLen()], &walkers[i], r)
			walkers[i].label(step.Visible[i*agents:(i+1)*agents], step.RelPos[2*i*agents:2*(i+1)*agents])
		}
	}
	show()
	for t := range s.Steps {
		x.Observe(t, step)
		for i := range walkers {
			k := r.IntN(len(moves))
			x.Act.Discrete[t*len(walkers)+i] = int32(k)
			walkers[i].move(k, s.Rooms[walkers[i].room].Restless, r)
		}
		show()
	}
	for c := range s.NumEnvs {
		x.Truncated[(s.Steps-1)*s.NumEnvs+c] = 1
		x.End(s.Steps-1, c, step)
	}
	x.Observe(s.Steps, step)
	for i := range x.LogP {
		x.LogP[i] = -float32(math.Log(float64(len(moves))))
	}
	return x
}

// enter puts agent i into a room.
func (s Stream) enter(room, i int, r *rng.Rand) (w walker) {
	w.room, w.at = room, [2]float32{r.Uniform(-1, 1), r.Uniform(-1, 1)}
	chance := float32(inSight)
	if s.Rooms[room].Alone {
		chance = aloneSight
	}
	for j := range w.peers {
		seen := r.Float32() < chance
		w.peers[j].seen = seen && j != i
		w.peers[j].at = [2]float32{r.Uniform(-1, 1), r.Uniform(-1, 1)}
	}
	return w
}

// move takes a step; peers walk at random, or are anywhere.
func (w *walker) move(k int, restless bool, r *rng.Rand) {
	walk := func(at *[2]float32, k int) {
		for d := range at {
			at[d] = min(max(at[d]+moves[k][d], -1), 1)
		}
	}
	walk(&w.at, k)
	for j := range w.peers {
		if restless {
			w.peers[j].at = [2]float32{r.Uniform(-1, 1), r.Uniform(-1, 1)}
			continue
		}
		walk(&w.peers[j].at, r.IntN(len(moves)))
	}
}

// label says which peers are in sight and where, for a memory that learns to detect them: [N] and [N,2], relative to the agent.
func (w *walker) label(seen []uint8, relative []float32) {
	clear(seen)
	clear(relative)
	for j, p := range w.peers {
		if p.seen {
			seen[j], relative[2*j], relative[2*j+1] = 1, p.at[0]-w.at[0], p.at[1]-w.at[1]
		}
	}
}

// show writes what an agent observes.
func (s Stream) show(dst []float32, w *walker, r *rng.Rand) {
	clear(dst)
	look := rng.New(0, "stream room "+s.Rooms[w.room].Name)
	for i := range marks {
		dst[i] = look.Uniform(-1, 1)
	}
	copy(dst[marks:], w.at[:])
	if s.Rooms[w.room].Noisy {
		for i := range screen {
			dst[marks+place+i] = r.Norm()
		}
	}
	for j, p := range w.peers {
		if p.seen {
			at := marks + place + screen + j*peer
			dst[at], dst[at+1], dst[at+2] = 1, p.at[0]-w.at[0], p.at[1]-w.at[1]
		}
	}
}
