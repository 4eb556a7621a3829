// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/envs/rng"
)

// short is a stream that a test can wait for.
func short(seed uint64) Stream {
	s := Default()
	s.Iterations, s.Every, s.NumEnvs, s.Seed = 30, 30, 16, seed
	return s
}

func withForm(f cermic.Form) cermic.Config {
	c := cermic.Default()
	c.Form, c.Minibatch, c.Hidden = f, 60, 64
	c.Memory = memory.MLP{Embed: 16, Hidden: 32, Width: 32} // a stream of rooms tells no detector where peers are
	return c
}

func open(t testing.TB) nn.Backend {
	t.Helper()
	b, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mean runs two seeds and returns the means of what was measured last.
func mean(t *testing.T, b nn.Backend, c explore.Config) (rarity, noise float64) {
	t.Helper()
	const seeds = 2
	for seed := range uint64(seeds) {
		trace, err := short(seed).Run(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		last := len(trace.Rarity) - 1
		rarity, noise = rarity+trace.Rarity[last]/seeds, noise+trace.Noise[last]/seeds
		t.Logf("seed %d: rank correlation with rarity %.2f, noisy above a room as rare %.2f, unvisited above frequent %.2f, bonus %.3f; %v and %v",
			seed, trace.Rarity[last], trace.Noise[last], trace.Unvisited[last], trace.Bonus[last], trace.Reward, trace.Update)
	}
	return rarity, noise
}

// The paper's letter tells nothing about rarity, the other two rank it.
func TestFormsRankRarity(t *testing.T) {
	if testing.Short() {
		t.Skip("trains six modules")
	}
	b := open(t)
	if letter, _ := mean(t, b, withForm(cermic.KL{})); letter > 0.5 {
		t.Errorf("kl ranks rarity at %.2f", letter)
	}
	for name, f := range map[string]cermic.Form{"aggregate": cermic.DefaultAggregate(), "elliptical": cermic.DefaultElliptical()} {
		if rarity, _ := mean(t, b, withForm(f)); rarity < 0.6 {
			t.Errorf("%s ranks rarity at %.2f, want .6 or more", name, rarity)
		}
	}
}

// Showing an explorer the rooms leaves it as it was: a stream that is measured often ends as one that is measured once.
func TestMeasuringTeachesNothing(t *testing.T) {
	b, err := nn.OpenConfig(nn.Sequential) // which compiles such small networks in no time
	if err != nil {
		t.Fatal(err)
	}
	novelty := RND()
	novelty.NoveltyWidth, novelty.NoveltyOut, novelty.HindsightHidden, novelty.HindsightSteps = 8, 8, []int{8}, 1
	small := withForm(cermic.DefaultElliptical())
	small.Memory = memory.MLP{Embed: 8, Hidden: 8, Width: 8}
	small.Embed, small.Latent, small.Hidden, small.Negatives, small.Upper = 8, 8, 8, 2, 8
	for name, c := range map[string]explore.Config{"rnd": novelty, "elliptical": small} {
		s := short(0)
		s.Iterations, s.Every, s.NumEnvs = 2, 1, 4
		often, err := s.Run(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		s.Every = 2
		once, err := s.Run(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(often.Bonus[1], once.Bonus[0]) {
			t.Errorf("%s: measured twice, the bonus ends at %v, measured once at %v", name, often.Bonus[1], once.Bonus[0])
		}
	}
}

func TestRoomsAreVisitedAsOftenAsTheySay(t *testing.T) {
	s := Default()
	r, count := rng.New(1, "rooms"), make([]float64, len(s.Rooms))
	const draws = 100_000
	for range draws {
		count[s.draw(r)]++
	}
	for i, room := range s.Rooms {
		// Five standard deviations.
		if off := math.Abs(count[i]/draws - room.Share); off > 5*math.Sqrt(room.Share/draws) {
			t.Errorf("room %s has a share of %.4f, want %.4f", room.Name, count[i]/draws, room.Share)
		}
	}
}

func TestOnlyTheScreenIsNoisy(t *testing.T) {
	s := Default()
	for i, room := range s.Rooms {
		x := s.rollout(s.spec(), 0, "test", func(*rng.Rand) int { return i })
		noisy, seen := false, 0
		for row := range x.Rows() {
			obs := x.ObsRow(row)
			if !slices.Equal(obs[:marks], x.ObsRow(0)[:marks]) {
				t.Fatalf("room %s changes its looks", room.Name)
			}
			noisy = noisy || slices.ContainsFunc(obs[marks+place:marks+place+screen], func(v float32) bool { return v != 0 })
			for j := range agents {
				at := marks + place + screen + j*peer
				seen += int(obs[at])
				if label := row*agents + j; x.Visible[label] != uint8(obs[at]) || !slices.Equal(x.RelPos[2*label:2*label+2], obs[at+1:at+3]) {
					t.Fatalf("room %s: agent step %d is labelled %d at %v of peer %d, and observes %v", room.Name, row, x.Visible[label], x.RelPos[2*label:2*label+2], j, obs[at:at+3])
				}
			}
		}
		share := float64(seen) / float64(x.Rows()*(agents-1))
		if want := map[bool]float64{false: inSight, true: aloneSight}[room.Alone]; noisy != room.Noisy || math.Abs(share-want) > 0.15 { // 192 draws
			t.Errorf("room %s: noisy %v, peers in sight %.2f of the time", room.Name, noisy, share)
		}
	}
}

// In the crowd peers jump; elsewhere nobody moves by more than a stride in each direction, so that a peer's relative place changes by two.
func TestPeersAreRestlessInTheCrowdAlone(t *testing.T) {
	s := Default()
	for i, room := range s.Rooms {
		x := s.rollout(s.spec(), 0, "test", func(*rng.Rand) int { return i })
		furthest := 0.0
		for row := x.E * x.N; row < x.Rows(); row++ {
			for j := range agents {
				at, before := marks+place+screen+j*peer, x.ObsRow(row-x.E*x.N)
				furthest = max(furthest, math.Abs(float64(x.ObsRow(row)[at+1]-before[at+1])))
			}
		}
		if jumps := furthest > 2*stride+1e-5; jumps != room.Restless {
			t.Errorf("room %s: a peer moves by %.2f in a step, restless %v", room.Name, furthest, room.Restless)
		}
	}
}

// A bonus that is the room's own noise is above that of a room as rare, one that is its rarity is not.
func TestNoiseIsMeasuredBesideARoomAsRare(t *testing.T) {
	s := Default()
	for i, want := range map[int]string{3: "kitchen", 4: "kitchen", 6: "attic", 0: "hall"} {
		if got := s.Rooms[s.like(i)].Name; got != want {
			t.Errorf("beside room %s stands %s, want %s", s.Rooms[i].Name, got, want)
		}
	}
	x := s
	x.Rooms = slices.Clone(s.Rooms)
	x.Rooms[4].Restless, x.Iterations, x.NumEnvs = false, 1, 4
	trace, err := x.Run(t.Context(), open(t), RND())
	if err != nil || trace.Restless[0] != 0.5 {
		t.Errorf("without restless peers: %v, %v", trace, err)
	}
}

func TestImpossibleStreamsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Stream){
		"add up to":      func(s *Stream) { s.Rooms[0].Share = 0.5 },
		"0 noisy":        func(s *Stream) { s.Rooms[3].Noisy = false },
		"want 0 or more": func(s *Stream) { s.Rooms[9].Share = -1 },
		"0 iterations":   func(s *Stream) { s.Iterations = 0 },
	} {
		s := Default()
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Default().Run(t.Context(), open(t), explore.None{}); err == nil || !strings.Contains(err.Error(), "neither rate") {
		t.Errorf("an explorer without a state: %v", err)
	}
}
