// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// Elliptical is the bonus of the paper's Theorem 1 on learned features: how little the agent steps so far say about this one.
//
//	η = [features / scale, 1]   Λ = λI + Σ ηηᵀ   x = ηᵀΛ⁻¹η
//	r^i = √x (root), LSVI-UCB's bonus with ζ = 1, or √(½·log(1+x)) (log), the information gain of one output; the theorem: within
//	a factor √2 of each other, where x ≤ 2.51
//
// Relation to eq:int_r: where s_{t+1} is linear in η with Gaussian noise, ½·log(1+x) for each of its components is exactly the mean of
// the KL between posterior and prior on the left side; no q(x) is put in its place. Features move while Θ learns, so Λ is that of a
// uniform reservoir of earlier agent steps, weighted to their true number, and of the present rollout, all with the features that
// they have now. Over episodes: Henaff et al. 2022; the product of both scopes: arXiv 2306.03236.
type Elliptical struct {
	Features  string  `json:"features" oneof:"code,hidden,embed,predicted,next" help:"features η of an agent step; predicted: the decoder's mean, next: s_{t+1}"`
	Filter    string  `json:"filter,omitzero" oneof:",foreseeable" help:"input of the features; empty: all of o_t, foreseeable: its predictable directions"`
	Squash    string  `json:"squash" oneof:"none,relu,tanh,fourier" help:"function of each feature before scaling; fourier: cosines of random mixtures"`
	Waves     int     `json:"waves" range:"1..8192" help:"number of cosines, with squash=fourier"`
	Bandwidth float64 `json:"bandwidth" range:"(0..)" help:"length scale of fourier features, in standard deviations of the inputs"`
	Scale     string  `json:"scale" oneof:"rms,std" help:"scaling of features; rms: by their root mean square, std: to mean 0 and variance 1"`
	Lambda    float64 `json:"lambda" range:"(0..)" help:"ridge term λ of Λ; smaller values resolve smaller differences of features"`
	Scope     string  `json:"scope" oneof:"global,episode,product" help:"steps in Λ; global: all, episode: this episode's, product: √ of the product of both bonuses"`
	Whose     string  `json:"whose" oneof:"all,own" help:"owner of Λ; all: one Λ for all agents, own: one for each agent"`
	Peers     bool    `json:"peers" help:"Λ includes the steps of detected peers, weighted by γ; with whose=own, in training"`
	Reservoir int     `json:"reservoir" range:"1..10000000" help:"number of kept agent steps, over all agents"`
	Sample    int     `json:"sample,omitzero" range:"0..10000000" help:"agent steps of a rollout batch, and as many earlier ones, in Λ; 0: all; not with earlier=leverage"`
	Earlier   string  `json:"earlier,omitzero" oneof:",leverage" help:"sampling of the kept agent steps; empty: uniform, leverage: the most informative ones"`
	Keep      float64 `json:"keep" range:"0..1" help:"weight, of earlier agent steps after each rollout batch; 1: no decay"`
	Shape     string  `json:"shape" oneof:"root,log,gain" help:"r^i as a function of x = ηᵀΛ⁻¹η; root: √x, log: √(½·log(1+x)), gain: ½·log(1+x)"`
}

// What η is made of (features).
const (
	FeatureCode   = "code"      // mean of x_t ~ p_φ(x|s_t,a_t) [X]
	FeatureHidden = "hidden"    // φ's last hidden layer [H]
	FeatureEmbed  = "embed"     // s_t = θ(o_t) [S]; the action does not count
	FeaturePred   = "predicted" // ŝ_{t+1} = ψ(mean of x_t) [S]: what the code knows of where the step leads, without what cannot be foretold; with α = 0 nobody trains ψ, a random map of the code
	FeatureNext   = "next"      // θ(o_{t+1}) [S] of the true next observation: where the step leads
)

// Other settings of Elliptical that have names.
const (
	SquashNone, SquashReLU, SquashTanh      = "none", "relu", "tanh"
	SquashFourier                           = "fourier"
	ScaleRMS, ScaleStd                      = "rms", "std"
	ScopeGlobal, ScopeEpisode, ScopeProduct = "global", "episode", "product"
	WhoseAll, WhoseOwn                      = "all", "own"
	ShapeRoot, ShapeLog, ShapeGain          = "root", "log", "gain"
	EarlierUniform, EarlierLeverage         = "", "leverage"
	FilterNone, FilterForeseeable           = "", "foreseeable"
	reservoirBytes                          = 256 << 20 // most that a reservoir, or the Λ of running episodes, may take
)

// DefaultElliptical returns one Λ of all agents' codes over all of training.
func DefaultElliptical() Elliptical {
	return Elliptical{Features: FeatureCode, Squash: SquashNone, Waves: 128, Bandwidth: 0.5, Scale: ScaleRMS, Lambda: 1, Scope: ScopeGlobal, Whose: WhoseAll,
		Reservoir: 8192, Keep: 1, Shape: ShapeRoot}
}

// Kind is "elliptical".
func (Elliptical) Kind() string { return "elliptical" }

// Validate returns one sentence about the first impossible setting.
func (e Elliptical) Validate() error {
	if err := conf.Check(e); err != nil {
		return err
	}
	switch {
	case e.Waves < 1:
		return fmt.Errorf("waves is %d, want 1 or more", e.Waves)
	case !(e.Bandwidth > 0) || math.IsInf(e.Bandwidth, 0):
		return fmt.Errorf("bandwidth is %g, want a positive number", e.Bandwidth)
	case e.Squash == SquashFourier && e.Scale == ScaleStd:
		return fmt.Errorf("scale is %s and squash is %s, whose cosines have one scale: set scale=%s", ScaleStd, SquashFourier, ScaleRMS)
	case !(e.Lambda > 0) || math.IsInf(e.Lambda, 0):
		return fmt.Errorf("lambda is %g, want a positive number", e.Lambda)
	case e.Sample < 0:
		return fmt.Errorf("sample is %d, want 0 (all) or more", e.Sample)
	case e.Reservoir < 1:
		return fmt.Errorf("reservoir is %d, want 1 or more", e.Reservoir)
	case e.Peers && e.Whose != WhoseOwn:
		return fmt.Errorf("peers is true and whose is %s, which counts the steps of all agents anyway; set whose=%s or peers=false", e.Whose, WhoseOwn)
	case e.Peers && e.Earlier == EarlierLeverage:
		return fmt.Errorf("peers is true and earlier is %s, which keeps no step for its peers' sake; set earlier= or peers=false", EarlierLeverage)
	case !(e.Keep >= 0 && e.Keep <= 1):
		return fmt.Errorf("keep is %g, want a number from 0 to 1", e.Keep)
	}
	return nil
}

func (e Elliptical) build(c Config, b *nn.Build) (form, error) {
	past, err := newReservoir(e.Reservoir, c.actLen(b.Spec), b)
	if err != nil {
		return nil, err
	}
	past.weighted = e.Earlier == EarlierLeverage
	if e.Filter == FilterForeseeable {
		past.filter = newForeseeable(b)
	}
	f := &elliptical{Elliptical: e, past: past, agents: b.Spec.Agents, width: e.width(c), acts: e.acts(c, b.Spec)}
	if e.Scope != ScopeGlobal {
		if f.episodes, err = newEpisodes(b.Spec.NumEnvs*b.Spec.Agents, f.dims(), e.Lambda); err != nil {
			return nil, err
		}
	}
	f.store = b.Store
	if f.maths, err = newAlgebra(b, f.dims(), past.weighted); err != nil {
		return nil, err
	}
	var filter []nn.Input
	if past.filter != nil {
		filter = append(filter, nn.F32("filter", b.Spec.InLen(), b.Spec.InLen()))
	}
	f.scorer, err = c.newScorer(b, "cermic.features", func(sc *model.Scope, in []*Node) []*Node {
		obs := in[0]
		if past.filter != nil {
			obs = Dot(obs, in[2]).Product()
		}
		return []*Node{e.features(c, b, sc, obs, in[1])}
	}, filter...)
	return f, err
}

// elliptical is an Elliptical in a running experiment.
type elliptical struct {
	Elliptical
	*scorer
	agents   int
	width    int          // F, of features that are η as they come D
	store    *model.Store // for γ
	m        *module      // for the memory, which tells who is in sight
	past     *reservoir
	maths    *algebra
	known    []*ellipsoid // Λ as of the last rollout: one, or one for each agent; nil before the first
	episodes *episodes    // Λ of the running episodes; nil with scope=global
	acts     int          // length of the actions that features depend on, 0 for none
	now, old alike        // features of the rollout and of the reservoir
	far      []float32    // [T,E,N] ηᵀΛ⁻¹η of the rollout
}

func (f *elliptical) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if f.Peers {
		if err := f.m.watch(x); err != nil {
			return err
		}
	}
	f.past.fade(f.Keep)
	if f.past.filter != nil {
		if err := f.past.filter.learn(x); err != nil {
			return err
		}
	}
	if err := f.measure(ctx, &f.now, x.Rows(), f.stepsOf(x)); err != nil {
		return err
	}
	if err := f.learn(ctx, x); err != nil {
		return err
	}
	if err := f.rate(dst, &f.now, x, f.episodes); err != nil {
		return err
	}
	if f.Earlier == EarlierLeverage {
		return f.keepByLeverage(x)
	}
	f.past.take(x, f.stepsOf(x))
	return nil
}

// look rates beside earlier steps alone; where none are kept, as with the weights of a record, beside the other steps of x.
func (f *elliptical) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := f.measure(ctx, &f.now, x.Rows(), f.stepsOf(x)); err != nil {
		return err
	}
	if f.known == nil {
		beside := x
		if f.past.rows() > 0 {
			beside = nil
		}
		if err := f.learn(ctx, beside); err != nil {
			return err
		}
	}
	var fresh *episodes
	if f.episodes != nil {
		fresh, _ = newEpisodes(x.E*x.N, f.dims(), f.Lambda)
	}
	return f.rate(dst, &f.now, x, fresh)
}

func (f *elliptical) canScore() error {
	if f.Features == FeatureNext || f.Scope != ScopeGlobal {
		return errNeedsRollout("int_form.features=next, as any int_form.scope but global,")
	}
	return nil
}

func (f *elliptical) score(ctx context.Context, dst []float32, from steps) error {
	if err := f.canScore(); err != nil {
		return err
	}
	if f.known == nil {
		if err := f.learn(ctx, nil); err != nil {
			return err
		}
	}
	var features alike
	if err := f.measure(ctx, &features, len(dst), from); err != nil {
		return err
	}
	if err := f.global(dst, &features, from.agent, func(int) bool { return true }); err != nil {
		return err
	}
	for i, x := range dst {
		dst[i] = f.shaped(x)
	}
	return nil
}

// stepsOf are the agent steps of x as the features want them.
func (f *elliptical) stepsOf(x *rl.Rollout) steps {
	from := f.of(x)
	if f.Features == FeatureNext {
		from.obs = x.GatherNext
	}
	if f.Peers {
		from.by = f.detectedBy(x)
	}
	return from
}

// measure fills dst with the features of rows agent steps.
func (f *elliptical) measure(ctx context.Context, dst *alike, rows int, from steps) error {
	if f.past.filter != nil {
		f.prog.Feed(2, func(flat []float32) { copy(flat, f.past.filter.keep) })
	}
	var first []int
	first, dst.of = from.distinct(rows, f.past.obs, f.acts)
	room := (len(first) + scoreBatch) * f.width // Read fills whole blocks
	dst.flat, dst.width = slices.Grow(dst.flat[:0], room)[:room], f.width
	err := f.each(ctx, len(first), from.only(first), func(first, _ int) error {
		f.prog.Read(0, dst.flat[first*f.width:(first+scoreBatch)*f.width])
		return nil
	})
	dst.flat = dst.flat[:len(first)*f.width]
	return err
}

// learn makes Λ of the reservoir and of the rollout x, whose features are in f.now; nil for the reservoir alone.
func (f *elliptical) learn(ctx context.Context, x *rl.Rollout) error {
	if f.Earlier == EarlierLeverage {
		return f.learnEarlier(ctx, x)
	}
	most, iteration := f.past.rows(), 0
	if x != nil { // no more than the rollout has steps, so that its own bonus costs as much as that of earlier ones
		most, iteration = x.Rows(), x.Iteration
	}
	if f.Sample > 0 {
		most = min(most, f.Sample)
	}
	rows := f.past.draw(most, iteration)
	earlier := f.past.steps(rows)
	if err := f.measure(ctx, &f.old, len(rows), earlier); err != nil {
		return err
	}
	present := f.present(x)
	old := func(k, row int) bool { return f.mine(k, earlier.agent(row)) }
	now := func(k, row int) bool {
		return x != nil && f.mine(k, row%x.N) && x.Alive[row] != 0 && (present == nil || present[row])
	}
	return f.sumUp(old, now, func(k int, e *ellipsoid, old, now func(row int) bool) error {
		err := e.add(&f.old, old, f.weight(k, len(rows), old))
		if err == nil && x != nil {
			err = e.add(&f.now, now, standsFor(x, func(agent int) bool { return f.mine(k, agent) }, present))
		}
		if err == nil && f.Peers {
			err = f.addPeers(e, k, x, earlier, len(rows))
		}
		return err
	})
}

// sumUp makes every Λ anew: add puts into the k-th what counts for it of the features in f.old and in f.now, by which they are scaled as well.
func (f *elliptical) sumUp(old, now func(k, row int) bool, add func(k int, e *ellipsoid, old, now func(row int) bool) error) error {
	f.known = f.known[:0]
	for k := range f.owners() {
		old := func(row int) bool { return old(k, row) }
		now := func(row int) bool { return now(k, row) }
		e := newEllipsoid(f.maths, f.scaling(old, now), f.Lambda)
		if err := add(k, e, old, now); err != nil {
			return err
		}
		if err := e.factorise(); err != nil {
			return err
		}
		f.known = append(f.known, e)
	}
	return nil
}

// scaling is that of the features in f.old and in f.now that count.
func (f *elliptical) scaling(old, now func(row int) bool) scaling {
	if f.ready() {
		return scaling{}
	}
	var m moments
	m.add(&f.old, old)
	m.add(&f.now, now)
	return m.scaling(f.Scale, f.width)
}

// dims is the length D of η.
func (f *elliptical) dims() int {
	if f.ready() {
		return f.width
	}
	return f.width + 1
}

// mine tells whether steps of an agent make up the k-th Λ.
func (f *elliptical) mine(k, agent int) bool { return f.Whose == WhoseAll || agent == k }

// present tells which agent steps of x Λ is summed over; nil for all.
func (f *elliptical) present(x *rl.Rollout) []bool {
	if x == nil || f.Sample == 0 || f.Sample >= x.Rows() {
		return nil
	}
	order := make([]int32, x.Rows())
	rng.New(f.past.seed, "cermic reservoir present", uint64(x.Iteration)).Perm(order)
	chosen := make([]bool, x.Rows())
	for _, row := range order[:f.Sample] {
		chosen[row] = true
	}
	return chosen
}

// standsFor is how many agent steps of x each of those present stands for, among those of the agents that are mine.
func standsFor(x *rl.Rollout, mine func(agent int) bool, present []bool) float64 {
	if present == nil {
		return 1
	}
	kept, all := 0.0, 0.0
	for row := range x.Rows() {
		if x.Alive[row] == 0 || !mine(row%x.N) {
			continue
		}
		all++
		if present[row] {
			kept++
		}
	}
	return all / max(kept, 1)
}

// weight is how many earlier steps each of those drawn stands for that count for the k-th Λ.
func (f *elliptical) weight(k, drawn int, counts func(row int) bool) float64 {
	kept, all := 0.0, f.past.Count[k]
	for row := range drawn {
		if counts(row) {
			kept++
		}
	}
	if f.Whose == WhoseAll {
		all = f.past.total()
	}
	return all / max(kept, 1)
}

// owners is the number of global Λ.
func (f *elliptical) owners() int {
	if f.Whose == WhoseOwn {
		return f.agents
	}
	return 1
}

// rate writes r^i of the rollout x with these features into dst [T,E,N], 0 for the dead.
func (f *elliptical) rate(dst []float32, features *alike, x *rl.Rollout, ep *episodes) error {
	alive := func(row int) bool { return x.Alive[row] != 0 }
	clear(dst)
	if f.Scope != ScopeEpisode {
		if err := f.global(dst, features, func(row int) int { return row % x.N }, alive); err != nil {
			return err
		}
	}
	f.far = append(f.far[:0], dst...)
	for row := range dst {
		if !alive(row) {
			continue
		}
		r := f.shaped(dst[row])
		if ep != nil {
			scale := f.known[row%x.N%len(f.known)].scale
			within := f.shaped(float32(ep.visit(row%(x.E*x.N), x.IsFirst[row/x.N] != 0, features.row(row), scale)))
			if f.Scope == ScopeEpisode {
				r = within
			} else {
				r *= within
			}
		}
		dst[row] = r
	}
	return nil
}

// global writes x = ηᵀΛ⁻¹η of the steps that count into dst [B].
func (f *elliptical) global(dst []float32, features *alike, agent func(row int) int, counts func(row int) bool) error {
	for k, e := range f.known {
		if err := e.distance(dst, features, func(row int) bool { return counts(row) && f.mine(k, agent(row)) }); err != nil {
			return err
		}
	}
	return nil
}

// shaped is r^i for x.
func (f *elliptical) shaped(x float32) float32 {
	switch f.Shape {
	case ShapeLog:
		return float32(math.Sqrt(0.5 * math.Log1p(float64(x))))
	case ShapeGain:
		return float32(0.5 * math.Log1p(float64(x)))
	}
	return float32(math.Sqrt(float64(x)))
}

// Save returns the reservoir and Λ of the running episodes.
func (f *elliptical) Save() []byte { return encodeForm(f.past, f.episodes) }

// Load continues from what Save returned.
func (f *elliptical) Load(state []byte) error {
	f.known = nil
	return decodeForm(state, f.past, f.episodes)
}
