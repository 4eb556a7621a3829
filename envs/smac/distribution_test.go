// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"testing"

	"cermic/envs/envtest"
	"cermic/envs/rng"
)

// draws are statistics of the original's generators; testdata/golden/README.md describes them.
type draws struct {
	N         int
	Share     map[string]float64 `json:"unit_share"`
	Rare      map[string]float64 `json:"teams_by_number_of_rare_unit"`
	Equal     float64            `json:"enemy_team_equals_ally_team"`
	Reflect   float64            `json:"reflect_share"`
	X         []float64          `json:"reflect_ally_x_quantiles"`
	Y         []float64          `json:"reflect_ally_y_quantiles"`
	Groups    map[string]float64 `json:"surrounded_occupied_groups"`
	Offset    []float64          `json:"surrounded_enemy_axis_offset_quantiles"`
	Quantiles []float64          `json:"quantile_levels"`
}

// Compares shares and quantiles of as many draws as recorded, with a fixed seed. Both samples are random, so two
// shares around p of n and n' draws differ by less than z·√(p(1−p)(1/n+1/n')). With z = 4.5 the significance is
// 7·10⁻⁶ for each of about 50 comparisons.
func TestTeamsAndStartsAreDrawnAsInTheOriginal(t *testing.T) {
	var want map[string]draws
	envtest.ReadRecording(t, envtest.Statistics(t, "smac", "distributions.json")[0], &want)
	for _, r := range []*race{&protossRace, &zergRace} {
		w, ok := want[r.name]
		if !ok && !envtest.OwnRecordings() && len(want) > 0 {
			continue // other recordings may cover one race only
		}
		if !ok || w.N < 1 {
			t.Fatalf("no recorded draws of %s", r.name)
		}
		t.Run(r.name, func(t *testing.T) { compareDraws(t, r, &w) })
	}
}

// sample holds statistics of our own draws.
type sample struct {
	units, teams, starts, surrounds int
	share, rare, groups             map[string]int
	reflect, equal                  int
	x, y, offset                    []float64
}

func compareDraws(t *testing.T, r *race, w *draws) {
	s := drawMany(r, w.N)
	close := func(name string, got, want float64, n, theirs int) {
		p := (got*float64(n) + want*float64(theirs)) / float64(n+theirs)
		if limit := 4.5 * math.Sqrt(p*(1-p)*(1/float64(n)+1/float64(theirs))); math.Abs(got-want) > limit {
			t.Errorf("%s: share %.4f, want %.4f ± %.4f", name, got, want, limit)
		}
	}
	shares := func(name string, got map[string]int, want map[string]float64, n, theirs int) {
		for key := range want {
			close(name+" "+key, float64(got[key])/float64(n), want[key], n, theirs)
		}
		for key := range got {
			if _, ok := want[key]; !ok { // rarer than one draw of the original
				close(name+" "+key, float64(got[key])/float64(n), 0, n, theirs)
			}
		}
	}
	shares("units", s.share, w.Share, s.units, w.N*5)
	shares("teams by rare units", s.rare, w.Rare, s.teams, w.N)
	shares("occupied groups", s.groups, w.Groups, s.surrounds, int(float64(w.N)*(1-w.Reflect)))
	close("reflected starts", float64(s.reflect)/float64(s.starts), w.Reflect, s.starts, w.N)
	if float64(s.equal)/float64(s.teams) != w.Equal {
		t.Errorf("%d of %d enemy teams equal the agents'", s.equal, s.teams)
	}
	quantiles := func(name string, got, want []float64, effective float64) {
		for i, q := range w.Quantiles {
			below := 0
			for _, x := range got {
				below += count(x < want[i])
			}
			// Units of one group share a position, so the number of independent draws is smaller than the number of
			// units.
			n := int(float64(len(got)) * effective)
			close(name+" below quantile", float64(below)/float64(len(got)), q, n, n)
		}
	}
	quantiles("x of reflected agents", s.x, w.X, 1)
	quantiles("y of reflected agents", s.y, w.Y, 1)
	quantiles("offset of surrounding enemies", s.offset, w.Offset, 0.2)
}

func drawMany(r *race, n int) *sample {
	s := &sample{share: map[string]int{}, rare: map[string]int{}, groups: map[string]int{}}
	k, chance := newRules(DefaultSettings(), r), rng.New(1, "draws")
	l := newLineup(k)
	for range n {
		l.draw(k, chance)
		rare := 0
		for _, unit := range l.Types[:k.n] {
			s.share[unit.String()]++
			rare += count(unit == r.types[2])
		}
		s.units += k.n
		s.teams++
		s.rare[string(rune('0'+rare))]++
		same := 0
		for i := range k.n {
			same += count(l.Types[i] == l.Types[k.n+i])
		}
		s.equal += count(same == k.n)
		s.start(l)
	}
	return s
}

func (s *sample) start(l *Lineup) {
	s.starts++
	if l.At[0] == l.At[1] { // agents at one point are surrounded
		s.surrounds++
		occupied := map[[2]float32]bool{}
		for _, at := range l.At[l.Agents:] {
			occupied[at] = true
			s.offset = append(s.offset, math.Abs(float64(at[0])-mapSide/2))
		}
		s.groups[string(rune('0'+len(occupied)))]++
		return
	}
	s.reflect++
	for i, at := range l.At[:l.Agents] {
		s.x, s.y = append(s.x, float64(at[0])), append(s.y, float64(at[1]))
		if mirror := l.At[l.Agents+i]; mirror != [2]float32{mapSide - at[0], at[1]} {
			s.equal = -1 // no counterpart: fails the comparison of teams
		}
	}
}
