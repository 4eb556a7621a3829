// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/cermiclib/stats"
	"cermic/envs"
	"cermic/envs/rng"
	"cermic/viz"
)

var regen = flag.Bool("regen", false, "compute streams.json anew, which takes hours")

// streamBonus is an intrinsic reward that is led through the stream of rooms.
type streamBonus struct {
	label  string
	config explore.Config
}

// streamMinibatch is of CERMIC's module on the stream, whose rollouts are small.
const streamMinibatch = 60

// streamFraction is the share of agent steps that an epoch of the module covers on the stream, but for the waves, which
// cover half as many, as everywhere today.
const streamFraction = 0.25

// noBand are levels that Ψ never reaches, so that neither L_UB nor L_LB pulls at it.
const noBand = 1e6

// streamBonuses are every form of r^i and random network distillation. The memory enters r^i only where the label names
// it; elsewhere it is the cheapest. With the graph it is asked what the band of L_exploit does to it, and what
// negatives, a calibration and a σ_ψ as they were first specified. Waves of what can be foreseen are the form of
// mappo-cermic-st, once with the steps that it takes at budget explore; waves of all are the same without its filter.
func streamBonuses() []streamBonus {
	form := func(label string, f cermic.Form, m memory.Config) streamBonus {
		c := cermic.Novelty() // the earlier schedule, without channels of peers
		c.Form, c.Memory, c.Minibatch, c.Fraction, c.Others, c.IntMemory = f, m, streamMinibatch, streamFraction, 0, 0
		return streamBonus{label, c}
	}
	peers := cermic.DefaultElliptical()
	peers.Whose, peers.Peers = cermic.WhoseOwn, true
	mlp, graph := memory.DefaultMLP(), memory.DefaultGraph()
	changed := func(b streamBonus, change func(*cermic.Config)) streamBonus {
		c := b.config.(cermic.Config)
		change(&c)
		return streamBonus{b.label, c}
	}
	contextOf := func(label string, m memory.Config) streamBonus {
		return form("context of "+label, cermic.DefaultContext(), m)
	}
	today := cermic.Novelty().Form.(cermic.Elliptical)
	unfiltered := today
	unfiltered.Filter = cermic.FilterNone
	waves := func(label string, f cermic.Elliptical, lr float64) streamBonus {
		return changed(form(label, f, mlp), func(c *cermic.Config) { c.LR, c.Fraction = lr, cermic.Novelty().Fraction })
	}
	rnd := explore.DefaultMACE() // of a pair of networks for each agent: neither shared nor normalised
	rnd.Share, rnd.Influence, rnd.NoveltyNorm = explore.ShareNone, 0, false
	rnd.IntNorm, rnd.IntCoef = explore.NormNone, 1
	return []streamBonus{
		form("kl", cermic.KL{}, mlp), form("aggregate", cermic.DefaultAggregate(), mlp),
		contextOf("mlp", mlp), contextOf("gru", memory.DefaultGRU()), contextOf("graph", graph),
		changed(contextOf("graph, no band", graph), func(c *cermic.Config) { c.Lower, c.Upper = -noBand, noBand }),
		changed(contextOf("graph, three decisions undone", graph), func(c *cermic.Config) {
			c.NegFilter, c.CalibCentre, c.PsiSpread = false, false, cermic.SpreadLearned
		}),
		form("elliptical", cermic.DefaultElliptical(), mlp),
		form("elliptical with peers of graph", peers, graph), form("progress", cermic.Progress{}, mlp),
		waves("waves of what can be foreseen", today, cermic.Default().LR), waves("waves of what can be foreseen, lr 1e-3", today, 1e-3),
		waves("waves of all, lr 1e-3", unfiltered, 1e-3),
		{"rnd", rnd},
	}
}

// stream asks of an intrinsic reward what can be known without any learner: does it rank what is rare above what is
// common, and does it take noise for novelty? Agents are led through rooms with known frequencies. The explorer sees
// rollouts as of a policy, and is then shown each room alike.
type stream struct {
	rooms      []room
	iterations int    // rollouts
	every      int    // iterations between two measurements; the last one is always measured
	numEnvs    int    // parallel environments
	steps      int    // of an episode; a rollout is one episode of each agent
	seed       uint64 // of the stream and of the explorer's weights
}

// defaultStream has 150 rollouts of 960 agent steps, measured six times.
func defaultStream() stream {
	return stream{rooms: rooms(), iterations: 150, every: 25, numEnvs: 32, steps: 10}
}

// run leads a fresh explorer through the stream and returns its trace and its mean bonus in each room at the end.
func (s stream) run(ctx context.Context, backend nn.Backend, c explore.Config) (t streamTrace, bonus []float64, err error) {
	t.Seed = s.seed
	m, err := c.Build(&nn.Build{Spec: s.spec(), Backend: backend, Store: nn.NewStore(s.seed), Seed: s.seed})
	if err != nil {
		return t, nil, err
	}
	for it := range s.iterations {
		x := s.rollout(it, "visit", s.draw)
		if _, err := m.Reward(ctx, x); err != nil {
			return t, nil, err
		}
		if _, err := m.Update(ctx, x); err != nil {
			return t, nil, err
		}
		if done := it + 1; done%s.every == 0 || done == s.iterations {
			if bonus, err = s.measure(ctx, m, done, &t); err != nil {
				return t, nil, err
			}
		}
	}
	return t, bonus, nil
}

// draw returns a room with the chance that it has.
func (s stream) draw(r *rng.Rand) int {
	u, last := r.Float64(), 0
	for i, room := range s.rooms {
		if u < room.share {
			return i
		}
		u -= room.share
		if room.share > 0 {
			last = i
		}
	}
	return last // reached only when rounding leaves the sum a little below one
}

// measure shows every room for a rollout, adds what the explorer makes of it and returns its mean bonus in each.
func (s stream) measure(ctx context.Context, m explore.Module, done int, t *streamTrace) (means []float64, err error) {
	steps := make([][]float64, len(s.rooms))
	var plain, rare []float64
	for i, room := range s.rooms {
		bonus, err := rate(ctx, m, s.rollout(done, "show "+room.name, func(*rng.Rand) int { return i }))
		if err != nil {
			return nil, err
		}
		mean := 0.0
		for _, r := range bonus {
			steps[i] = append(steps[i], float64(r))
			mean += float64(r) / float64(len(bonus))
		}
		if means = append(means, mean); room.plain() {
			plain, rare = append(plain, mean), append(rare, -room.share)
		}
	}
	noisy := slices.IndexFunc(s.rooms, func(r room) bool { return r.noisy })
	restless := slices.IndexFunc(s.rooms, func(r room) bool { return r.restless })
	t.Iterations = append(t.Iterations, done)
	t.Rarity = append(t.Rarity, stats.RankCorrelation(plain, rare))
	t.Unvisited = append(t.Unvisited, stats.Exceeds(steps[len(steps)-1], steps[0]))
	t.Frequent = append(t.Frequent, stats.Exceeds(steps[noisy], steps[0]))
	t.Noise = append(t.Noise, stats.Exceeds(steps[noisy], steps[s.like(noisy)]))
	t.Restless = append(t.Restless, stats.Exceeds(steps[restless], steps[s.like(restless)]))
	return means, nil
}

// like is the plain room that is visited most nearly as often as room i.
func (s stream) like(i int) (best int) {
	off := math.Inf(1)
	for j, r := range s.rooms {
		if d := math.Abs(r.share - s.rooms[i].share); r.plain() && d < off {
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

// room is a place that agents find themselves in. What it looks like is drawn once from its name.
type room struct {
	name     string
	share    float64 // of the episodes that take place in it
	noisy    bool    // a screen in it shows new noise at every step; it is blank elsewhere
	alone    bool    // peers are rarely in sight
	restless bool    // peers turn up anywhere at every step; elsewhere they walk
}

// rooms are ten rooms visited from .404 of the time to never, among them three visited alike: one where nothing is
// special, one with a noisy screen and one with restless peers.
func rooms() []room {
	return []room{
		{name: "hall", share: 0.404}, {name: "office", share: 0.2}, {name: "kitchen", share: 0.1}, {name: "screen", share: 0.1, noisy: true},
		{name: "crowd", share: 0.1, restless: true}, {name: "yard", share: 0.05}, {name: "cell", share: 0.03, alone: true}, {name: "attic", share: 0.013},
		{name: "vault", share: 0.003}, {name: "secret"},
	}
}

// plain reports whether only the frequency of a room is special.
func (r room) plain() bool { return !r.noisy && !r.alone && !r.restless }

// What an agent observes: marks of its room, its own place, the screen, and of each agent whether it is in sight and
// where. Its own slot among the agents is empty.
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
func (s stream) spec() *envs.Spec {
	return &envs.Spec{
		Name: "stream", NumEnvs: s.numEnvs, Agents: agents, Teams: make([]int, agents), Obs: []int{marks + place + screen + peer*agents}, State: 1,
		Act: envs.ActSpec{Choices: len(moves)}, Horizon: s.steps, EvalHorizon: s.steps,
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
func (s stream) rollout(iteration int, purpose string, choose func(r *rng.Rand) int) *rl.Rollout {
	spec := s.spec()
	r := rng.New(s.seed, "stream "+purpose, uint64(iteration))
	x := rl.NewRollout(spec, s.steps, 0)
	x.KeepLabels()
	x.Iteration, x.Frames = iteration, iteration*s.steps*s.numEnvs
	step := envs.NewStep(spec)
	walkers := make([]walker, s.numEnvs*agents)
	for i := range walkers {
		step.Alive[i] = 1
		walkers[i] = s.enter(choose(r), i%agents, r)
	}
	for c := range s.numEnvs {
		x.IsFirst[c] = 1
	}
	show := func() {
		for i := range walkers {
			s.show(step.Obs[i*spec.ObsLen():(i+1)*spec.ObsLen()], &walkers[i], r)
			walkers[i].label(step.Visible[i*agents:(i+1)*agents], step.RelPos[2*i*agents:2*(i+1)*agents])
		}
	}
	show()
	for t := range s.steps {
		x.Observe(t, step)
		for i := range walkers {
			k := r.IntN(len(moves))
			x.Act.Discrete[t*len(walkers)+i] = int32(k)
			walkers[i].move(k, s.rooms[walkers[i].room].restless, r)
		}
		show()
	}
	for c := range s.numEnvs {
		x.Truncated[(s.steps-1)*s.numEnvs+c] = 1
		x.End(s.steps-1, c, step)
	}
	x.Observe(s.steps, step)
	for i := range x.LogP {
		x.LogP[i] = -float32(math.Log(float64(len(moves))))
	}
	return x
}

// enter puts agent i into a room.
func (s stream) enter(room, i int, r *rng.Rand) (w walker) {
	w.room, w.at = room, [2]float32{r.Uniform(-1, 1), r.Uniform(-1, 1)}
	chance := float32(inSight)
	if s.rooms[room].alone {
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

// label says which peers are in sight and where, for a memory that learns to detect them: [N] and [N,2], relative to
// the agent.
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
func (s stream) show(dst []float32, w *walker, r *rng.Rand) {
	clear(dst)
	look := rng.New(0, "stream room "+s.rooms[w.room].name)
	for i := range marks {
		dst[i] = look.Uniform(-1, 1)
	}
	copy(dst[marks:], w.at[:])
	if s.rooms[w.room].noisy {
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

// fastBackend is the one that trains fastest here: XLA where it is installed.
func fastBackend(t *testing.T) nn.Backend {
	t.Helper()
	t.Setenv("GOMLX_BACKEND", "")
	b, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What is committed are the traces of all bonuses, with three seeds each.
func TestCommittedStreamsAreThoseOfEveryBonus(t *testing.T) {
	const seeds = 3
	if *regen {
		var all []streamed
		for _, b := range streamBonuses() {
			of := streamed{Label: b.label}
			for seed := range uint64(seeds) {
				s := defaultStream()
				s.seed = seed + 1
				trace, _, err := s.run(t.Context(), fastBackend(t), b.config)
				if err != nil {
					t.Fatal(err)
				}
				of.Runs = append(of.Runs, trace)
			}
			all = append(all, of)
		}
		text, err := json.MarshalIndent(all, "", "\t")
		if err == nil {
			err = os.WriteFile("streams.json", append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	all, err := Streams()
	if err != nil {
		t.Fatal(err)
	}
	bonuses := streamBonuses()
	if len(all) != len(bonuses) {
		t.Fatalf("%d bonuses are committed, want %d", len(all), len(bonuses))
	}
	for i, b := range bonuses {
		if err := b.config.Validate(); err != nil || all[i].Label != b.label || len(all[i].Runs) != seeds {
			t.Errorf("%s has %d traces, want %s with %d: %v", all[i].Label, len(all[i].Runs), b.label, seeds, err)
		}
	}
	if panels, err := StreamCurves(all); err != nil || len(panels.Rows) != 2 || len(panels.Rows[0]) != 2 {
		t.Errorf("curves: %v", err)
	}
}

func TestTheStreamsTableAnswersByItsLimits(t *testing.T) {
	run := func(seed uint64, rarity, noise float64) streamTrace {
		return streamTrace{Seed: seed, Iterations: []int{1, 2}, Rarity: []float64{0, rarity}, Noise: []float64{0, noise}, Restless: []float64{0, 0.6}, Frequent: []float64{0, 0.9}, Unvisited: []float64{0, 0.5}}
	}
	table := StreamTable([]streamed{
		{"both", []streamTrace{run(1, 0.9, 0.5), run(2, 0.6, 0.6)}}, {"neither", []streamTrace{run(1, 0.9, 0.6), run(2, 0.5, 0.8)}}, {Label: "none"},
	})
	for i, want := range []string{
		"both|2|0.90, 0.60|0.50, 0.50|0.50, 0.60|0.60, 0.60|0.90, 0.90|yes|yes|yes", "neither|2|0.90, 0.50|0.50, 0.50|0.60, 0.80|0.60, 0.60|0.90, 0.90|no|no|yes",
		"none|0" + strings.Repeat("|"+viz.Missing, 8),
	} {
		if got := strings.Join(table.Rows[i], "|"); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
}

// shortStream is a stream that a test can wait for.
func shortStream(seed uint64) stream {
	s := defaultStream()
	s.iterations, s.every, s.numEnvs, s.seed = 30, 30, 16, seed
	return s
}

func withForm(f cermic.Form) cermic.Config {
	c := cermic.Default()
	c.Form, c.Minibatch, c.Hidden = f, 60, 64
	c.Memory = memory.MLP{Embed: 16, Hidden: 32, Width: 32} // a stream of rooms tells no detector where peers are
	return c
}

// √KL as printed says nothing of rarity, the elliptical form ranks it.
func TestFormsRankRarity(t *testing.T) {
	if testing.Short() {
		t.Skip("trains two modules")
	}
	b := fastBackend(t)
	if b.Label == "go" {
		t.Skip("takes minutes on pure Go, which other tests of this package have chosen: with -run TestFormsRankRarity it finds XLA")
	}
	rarity := func(f cermic.Form) float64 {
		trace, _, err := shortStream(0).run(t.Context(), b, withForm(f))
		if err != nil {
			t.Fatal(err)
		}
		return last(trace.Rarity)
	}
	if printed := rarity(cermic.KL{}); printed > 0.5 {
		t.Errorf("kl ranks rarity at %.2f", printed)
	}
	if elliptical := rarity(cermic.DefaultElliptical()); elliptical < 0.6 {
		t.Errorf("elliptical ranks rarity at %.2f, want .6 or more", elliptical)
	}
}

// Showing an explorer the rooms leaves it as it was: a stream that is measured often ends as one that is measured once.
func TestMeasuringTeachesNothing(t *testing.T) {
	b, err := nn.OpenConfig(nn.Sequential) // which compiles such small networks in no time
	if err != nil {
		t.Fatal(err)
	}
	all := streamBonuses()
	novelty := all[len(all)-1].config.(explore.MACE)
	novelty.NoveltyWidth, novelty.NoveltyOut, novelty.HindsightHidden, novelty.HindsightSteps = 8, 8, []int{8}, 1
	small := withForm(cermic.DefaultElliptical())
	small.Memory = memory.MLP{Embed: 8, Hidden: 8, Width: 8}
	small.Embed, small.Latent, small.Hidden, small.Negatives, small.Upper = 8, 8, 8, 2, 8
	for name, c := range map[string]explore.Config{"rnd": novelty, "elliptical": small} {
		s := shortStream(0)
		s.iterations, s.every, s.numEnvs = 2, 1, 4
		_, often, err := s.run(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		s.every = 2
		_, once, err := s.run(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(often, once) {
			t.Errorf("%s: measured twice, the bonus ends at %v, measured once at %v", name, often, once)
		}
	}
}
