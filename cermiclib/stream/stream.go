// SPDX-License-Identifier: Apache-2.0

// Package stream asks of an intrinsic reward what can be known without any learner: does it rank what is rare above what is common,
// and does it take noise for novelty? Agents are led through rooms with known frequencies; the explorer sees the stream as it would
// see rollouts of a policy, and is then shown each room alike.
//
// [Stream.Run] returns a [Trace] of slices that can be plotted.
package stream

import (
	"context"
	"fmt"
	"math"
	"time"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
)

// Stream is the experiment with its settings.
type Stream struct {
	Rooms      []Room
	Iterations int    // rollouts
	Every      int    // iterations between two measurements; the last one is always measured
	NumEnvs    int    `json:"Copies"` // parallel environments; kept traces are found by this key
	Steps      int    // of an episode; a rollout is one episode of each agent
	Seed       uint64 // of the stream and of the explorer's weights
}

// Default returns 150 rollouts of 960 agent steps, measured six times.
func Default() Stream {
	return Stream{Rooms: Rooms(), Iterations: 150, Every: 25, NumEnvs: 32, Steps: 10}
}

// Validate returns one sentence about the first impossible setting.
func (s Stream) Validate() error {
	total, noisy, plain := 0.0, 0, 0
	for _, r := range s.Rooms {
		if total += r.Share; r.Noisy {
			noisy++
		}
		if r.plain() {
			plain++
		}
		if !(r.Share >= 0) {
			return fmt.Errorf("stream: room %s has a share of %g, want 0 or more", r.Name, r.Share)
		}
	}
	switch {
	case plain < 3 || noisy != 1 || s.Rooms[0].Noisy:
		return fmt.Errorf("stream: %d plain rooms and %d noisy ones; want 3 or more that are neither noisy, alone nor restless, and one that is noisy and not the first", plain, noisy)
	case total < 1-1e-9 || total > 1+1e-9:
		return fmt.Errorf("stream: shares of rooms add up to %g, want 1", total)
	case s.Iterations < 1 || s.Every < 1 || s.NumEnvs < 2 || s.Steps < 2:
		return fmt.Errorf("stream: %d iterations, measured every %d, of %d environments and %d steps; want at least 1, 1, 2, 2",
			s.Iterations, s.Every, s.NumEnvs, s.Steps)
	}
	return nil
}

// Trace is what one run measured; [K] measurements, [R] rooms.
type Trace struct {
	Rooms      []Room
	Iterations []int         // [K] rollouts seen at each measurement
	Bonus      [][]float64   // [K,R] mean raw bonus of a step in each room, all rooms shown alike
	Rarity     []float64     // [K] rank correlation of the mean bonus with the rarity of a room, of plain rooms
	Unvisited  []float64     // [K] probability that a step in the rarest room, never visited in Rooms, gets more than one in the first
	Frequent   []float64     // [K] probability that a step in the noisy room gets more than one in the first, most frequent room
	Noise      []float64     // [K] probability that a step in the noisy room gets more than one in the plain room that is visited as often: one half where noise itself is not rewarded
	Restless   []float64     // [K] the same of the room with restless peers; one half where there is none
	Reward     time.Duration // of the bonus of a rollout, mean
	Update     time.Duration // of training on it, mean
}

// Run leads a fresh explorer through the stream. One that is no Inspector must reward without normalisation, with weight 1, and
// save its state.
func (s Stream) Run(ctx context.Context, backend nn.Backend, c explore.Config) (*Trace, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	spec := s.spec()
	m, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(s.Seed), Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	t := &Trace{Rooms: s.Rooms}
	for it := range s.Iterations {
		x := s.rollout(spec, it, "visit", s.draw)
		start := time.Now()
		if _, err := m.Reward(ctx, x); err != nil {
			return nil, err
		}
		rewarded := time.Now()
		if _, err := m.Update(ctx, x); err != nil {
			return nil, err
		}
		t.Reward += rewarded.Sub(start) / time.Duration(s.Iterations)
		t.Update += time.Since(rewarded) / time.Duration(s.Iterations)
		if done := it + 1; done%s.Every == 0 || done == s.Iterations {
			if err := s.measure(ctx, m, done, t); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// draw returns a room with the chance that it has.
func (s Stream) draw(r *rng.Rand) int {
	u, last := r.Float64(), 0
	for i, room := range s.Rooms {
		if u < room.Share {
			return i
		}
		u -= room.Share
		if room.Share > 0 {
			last = i
		}
	}
	return last // reached only when rounding leaves the sum a little below one
}

// measure shows every room for a rollout and adds what the explorer makes of it.
func (s Stream) measure(ctx context.Context, m explore.Module, done int, t *Trace) error {
	spec := s.spec()
	steps, means := make([][]float64, len(s.Rooms)), make([]float64, len(s.Rooms))
	noisy, restless, rarest := 0, -1, 0
	var plain, rare []float64
	for i, room := range s.Rooms {
		x := s.rollout(spec, done, "show "+room.Name, func(*rng.Rand) int { return i })
		bonus, err := rate(ctx, m, x)
		if err != nil {
			return err
		}
		for _, r := range bonus {
			steps[i] = append(steps[i], float64(r))
			means[i] += float64(r) / float64(len(bonus))
		}
		switch {
		case room.Noisy:
			noisy = i
		case room.Restless:
			restless = i
		case room.plain():
			plain, rare = append(plain, means[i]), append(rare, -room.Share)
		}
		if room.Share < s.Rooms[rarest].Share {
			rarest = i
		}
	}
	t.Iterations = append(t.Iterations, done)
	t.Bonus = append(t.Bonus, means)
	t.Rarity = append(t.Rarity, stats.RankCorrelation(plain, rare))
	t.Unvisited = append(t.Unvisited, stats.Exceeds(steps[rarest], steps[0]))
	t.Frequent = append(t.Frequent, stats.Exceeds(steps[noisy], steps[0]))
	t.Noise = append(t.Noise, stats.Exceeds(steps[noisy], steps[s.like(noisy)]))
	beside := 0.5
	if restless >= 0 {
		beside = stats.Exceeds(steps[restless], steps[s.like(restless)])
	}
	t.Restless = append(t.Restless, beside)
	return nil
}

// like is the plain room that is visited most nearly as often as room i.
func (s Stream) like(i int) (best int) {
	off := math.Inf(1)
	for j, r := range s.Rooms {
		if d := math.Abs(r.Share - s.Rooms[i].Share); r.plain() && d < off {
			best, off = j, d
		}
	}
	return best
}

// rate returns the raw bonus of x [T,E,N] and leaves the explorer as it was.
func rate(ctx context.Context, m explore.Module, x *rl.Rollout) ([]float32, error) {
	if r, ok := m.(explore.Inspector); ok {
		dst := make([]float32, x.Rows())
		return dst, r.Rate(ctx, dst, x)
	}
	saver, ok := m.(rl.Saver)
	if !ok {
		return nil, fmt.Errorf("stream: %T can neither rate a rollout nor save its state, so that showing it a room would teach it", m)
	}
	state := saver.Save()
	if _, err := m.Reward(ctx, x); err != nil {
		return nil, err
	}
	return x.Intrinsic, saver.Load(state)
}

// RND returns random network distillation, a pair of networks for each agent, as a bonus that is neither shared nor normalised.
func RND() explore.MACE {
	c := explore.DefaultMACE()
	c.Share, c.Influence, c.NoveltyNorm = explore.ShareNone, 0, false
	c.IntNorm, c.IntCoef = explore.NormNone, 1
	return c
}
