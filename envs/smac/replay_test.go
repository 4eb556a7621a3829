// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/smac/sc2"
)

// recorded is a randSource that repeats the original's draws.
type recorded struct {
	order []int32
	draws []float64
}

func (r *recorded) Perm(dst []int32) { copy(dst, r.order) }

func (r *recorded) Float64() float64 {
	if len(r.draws) == 0 {
		return math.NaN() // one draw too many: compares as not seen, and the test reports it
	}
	x := r.draws[0]
	r.draws = r.draws[1:]
	return x
}

// replay compares a battle with recorded episodes, frame by frame.
type replay struct {
	*testing.T
	g     *golden
	b     *battle
	own   bool  // the divisor is computed here, not recorded
	field Field // the source of the recorded units; nil: the recording itself
	tally struct{ won, game, late int }

	steps   int
	largest envs.Agreement // the largest differences so far
}

// Observations and states agree within the recordings' own tolerance, rewards within theirs; order,
// masks, commands and endings exactly.
func TestInterfaceIsThatOfTheOriginal(t *testing.T) {
	owned, all := 0, envtest.Agreements{Source: "SMACv2's interface (577ab5a), its units given"}
	sessions(t, false, func(t *testing.T, s *session) {
		r := replayCase(t, &s.golden, nil)
		if r.own {
			owned++
		}
		all.Add("smac/"+r.b.race.name+"_5_vs_5", r.steps, r.largest)
	})
	if t.Failed() {
		return
	}
	if owned == 0 && envtest.OwnRecordings() {
		t.Error("no recording has the plain divisor of the first team, so the divisor is untested")
	}
	all.Check(t, measured)
}

func replayCase(t *testing.T, g *golden, field func(*rules) Field) *replay {
	r := &replay{T: t, g: g, b: newBattle(g.rules(t))}
	if field != nil {
		r.field = field(r.b.rules)
	}
	k := r.b.rules
	got := goldenDims{
		Agents: k.n, Enemies: k.m, Actions: k.choices, Obs: k.obs, State: k.state, Move: k.moveLen,
		Enemy: [2]int{k.m, k.enemyLen}, Ally: [2]int{k.n - 1, k.allyLen}, Own: k.ownLen, Limit: k.MaxSteps,
	}
	if got != g.Dims {
		t.Fatalf("sizes are %+v, want %+v", got, g.Dims)
	}
	if len(g.Episodes) == 0 || slices.ContainsFunc(g.Episodes, func(e goldenEpisode) bool { return len(e.Frames) == 0 }) {
		t.Fatal("the recording has no episode, or an empty one")
	}
	r.own = r.first() == g.Episodes[len(g.Episodes)-1].Frames[0].MaxReward
	for e := range g.Episodes {
		r.episode(e)
		if t.Failed() {
			return r // later episodes would differ as well
		}
	}
	if got := r.tally; got.won != g.Stats.Won || got.game != g.Stats.Game || got.late != g.Stats.Late {
		t.Errorf("won %d of %d, %d time-outs; want %+v", got.won, got.game, got.late, g.Stats)
	}
	return r
}

// first is the first team's largest reward. The original adds up observations during slow resets, so some recordings
// have a larger divisor. They set it and test everything else.
func (r *replay) first() float64 {
	b := newBattle(r.b.rules)
	b.begin(r.g.sightings(r.T, &r.g.Episodes[0].Frames[0]))
	return b.Divisor
}

func (r *replay) episode(e int) {
	ep := &r.g.Episodes[e]
	r.hide(ep)
	for f := range ep.Frames {
		frame := &ep.Frames[f]
		if f == 0 {
			r.start(ep)
		} else {
			r.step(e, f, frame)
		}
		if !r.own {
			r.b.Divisor = frame.MaxReward
		} else if r.b.Divisor != frame.MaxReward {
			r.Errorf("episode %d frame %d: divisor is %g, want %g", e, f, r.b.Divisor, frame.MaxReward)
		}
		r.compare(e, f, frame)
		if r.Failed() {
			return
		}
	}
}

// hide sets the enemies whose features are hidden in an episode.
func (r *replay) hide(ep *goldenEpisode) {
	clear(r.b.hidden)
	for i, row := range ep.EnemyMask {
		for j, hides := range row {
			r.b.hidden[i*r.b.m+j] = uint8(hides)
		}
	}
}

// start begins an episode.
func (r *replay) start(ep *goldenEpisode) {
	seen := r.g.sightings(r.T, &ep.Frames[0])
	if r.field != nil {
		var err error
		if seen, err = r.field.Deploy(ep.lineup(r.T, r.b.rules), nil); err != nil {
			r.Fatal(err)
		}
		r.b.ground = r.field.Ground()
	}
	r.b.begin(seen)
}

// step replays one recorded step and compares commands, reward and ending.
func (r *replay) step(e, f int, frame *goldenFrame) {
	b := r.b
	if err := b.check(frame.Actions); err != nil {
		r.Errorf("episode %d frame %d: %v", e, f, err)
		return
	}
	orders := make([]Command, b.n)
	b.commands(frame.Actions, orders)
	r.orders(e, f, frame, orders)
	seen := r.g.sightings(r.T, frame)
	if r.field != nil {
		var err error
		if seen, err = r.field.Play(orders, nil); err != nil {
			r.Fatalf("episode %d frame %d: %v", e, f, err)
		}
	}
	reward, end := b.step(frame.Actions, seen)
	r.steps++
	r.largest.Reward = max(r.largest.Reward, math.Abs(reward-frame.Reward))
	if !(math.Abs(reward-frame.Reward) <= 1e-9*math.Abs(frame.Reward)) {
		r.Errorf("episode %d frame %d: reward %.12g, want %.12g", e, f, reward, frame.Reward)
	}
	if (end != goesOn) != frame.Terminated {
		r.Errorf("episode %d frame %d: ending %d, want terminated to be %v", e, f, end, frame.Terminated)
	}
	agents, enemies := b.alive()
	got := goldenInfo{Won: end == won, Allies: b.n - agents, Foes: b.m - enemies, Limit: end == timedOut &&
		string(r.g.Args["continuing_episode"]) == "true"}
	if got != *frame.Info {
		r.Errorf("episode %d frame %d: info %+v, want %+v", e, f, got, *frame.Info)
	}
	if end != goesOn {
		r.tally.game++
		r.tally.won += count(end == won)
		r.tally.late += count(end == timedOut)
	}
}

func (r *replay) orders(e, f int, frame *goldenFrame, orders []Command) {
	at := 0
	for _, c := range orders {
		if c.Verb == Nothing {
			continue
		}
		if at >= len(frame.Commands) {
			r.Errorf("episode %d frame %d: more commands than the original's %d", e, f, len(frame.Commands))
			return
		}
		want := frame.Commands[at]
		at++
		same := int(sc2.Abilities[c.Verb]) == want.Ability && len(want.Tags) == 1 && strconv.FormatUint(c.Tag, 10) == want.Tags[0]
		if same && c.Verb == Move { // goals are recorded with float32's 8 digits
			same = want.Pos != nil && c.X == want.Pos.X && c.Y == want.Pos.Y
		}
		if same && c.Verb == Attack {
			same = strconv.FormatUint(c.Target, 10) == want.Target
		}
		if !same {
			r.Errorf("episode %d frame %d: command %+v, want %+v", e, f, c, want)
		}
	}
	if at != len(frame.Commands) {
		r.Errorf("episode %d frame %d: %d commands, want %d", e, f, at, len(frame.Commands))
	}
}

func (r *replay) compare(e, f int, frame *goldenFrame) {
	b, n := r.b, r.b.n
	if !slices.Equal(b.tags[:n], frame.AgentTags) || !slices.Equal(b.tags[n:], frame.EnemyTags) {
		r.Errorf("episode %d frame %d: units are %v, want %v and %v", e, f, b.tags, frame.AgentTags, frame.EnemyTags)
		return
	}
	chance := &recorded{frame.Order, frame.Draws}
	obs, state := make([]float32, n*b.obs), make([]float32, b.state)
	b.observe(chance, obs)
	if len(chance.draws) != 0 {
		r.Errorf("episode %d frame %d: %d draws left over", e, f, len(chance.draws))
	}
	for i := range n {
		r.near(e, f, "obs", frame.Obs[i], obs[i*b.obs:(i+1)*b.obs], &r.largest.Obs)
		mask := make([]byte, b.choices)
		for a := range mask {
			mask[a] = '0' + b.mask[i*b.choices+a]
		}
		if string(mask) != frame.Avail[i] {
			r.Errorf("episode %d frame %d agent %d: mask %s, want %s", e, f, i, mask, frame.Avail[i])
		}
	}
	b.centralised(state)
	r.near(e, f, "state", frame.State, state, &r.largest.State)
}

// near compares within 1e-6, the recordings' stated tolerance for float32, and updates the largest difference.
func (r *replay) near(e, f int, what string, want, got []float32, largest *float64) {
	if len(want) != len(got) {
		r.Errorf("episode %d frame %d: %d numbers of %s, want %d", e, f, len(got), what, len(want))
		return
	}
	for i := range want {
		off := math.Abs(float64(got[i]) - float64(want[i]))
		if *largest = max(*largest, off); !(off <= 1e-6) {
			r.Errorf("episode %d frame %d: %s[%d] is %g, want %g", e, f, what, i, got[i], want[i])
			return
		}
	}
}
