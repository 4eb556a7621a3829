// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// maceSpec is a made-up task of 2 copies and 3 agents.
func maceSpec(discrete bool) *envs.Spec {
	s := &envs.Spec{Name: "fake", Copies: 2, Agents: 3, Obs: []int{2}, State: 6, Act: envs.ActSpec{Dim: 1, Low: []float32{-1}, High: []float32{3}}}
	if discrete {
		s.Act, s.Masked = envs.ActSpec{Choices: 3}, true
	}
	return s
}

// smallMACE trains in one step on all of a small rollout, with networks small enough for differences of losses.
func smallMACE() MACE {
	c := DefaultMACE()
	c.HindsightHidden, c.HindsightEpochs, c.NoveltyWidth, c.NoveltyLayers, c.NoveltyOut, c.NoveltyEpochs = []int{5}, 1, 4, 1, 3, 1
	c.NoveltyKeep, c.NoveltyNorm, c.Minibatch, c.IntNorm, c.IntCoef = 1, false, 9, NormNone, 2
	c.LR, c.Eps, c.Adam.Clip = 0.01, 1e-3, 1e9
	return c
}

// maceRollout fills a rollout with random numbers: an episode ends, an agent is dead for a step, a choice is forbidden.
func maceRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, r, step := rl.NewRollout(s, steps, 0), rng.New(1, "rollout"), envs.NewStep(s)
	for t := range steps + 1 {
		for i := range step.Obs {
			step.Obs[i] = 3*r.Norm() + 1
		}
		for i := range step.Alive {
			step.Alive[i] = 1
		}
		for i := range step.Mask {
			step.Mask[i] = uint8((i + 1) % 3 & 1) // the middle choice is forbidden
		}
		for i := 0; i < len(step.Mask); i += 3 {
			step.Mask[i], step.Mask[i+2] = 1, 1
		}
		if t == 1 {
			step.Alive[1] = 0
			x.Terminated[0] = 1
			x.End(0, 0, step)
		}
		x.See(t, step)
	}
	for row := range x.LogP {
		x.LogP[row] = -1 - r.Uniform(0, 1)
		if s.Act.Choices > 0 {
			x.Act.Choice[row] = int32(2 * r.IntN(2))
		} else {
			x.Raw[row] = r.Norm()
		}
	}
	return x
}

func newMACE(t *testing.T, c MACE, s *envs.Spec) (*mace, *model.Store) {
	t.Helper()
	backend, err := nn.OpenConfig("go:parallelism=-1")
	if err != nil {
		t.Fatal(err)
	}
	b := &nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(3), Seed: 3}
	m, err := c.Build(b)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mace), b.Store
}

// maceReference computes MACE in float64 from its formulas: forward only, in plain loops.
type maceReference struct {
	cfg    MACE
	x      *rl.Rollout
	params map[string][]float64 // by path below MACE's scope
	mean   []float64
	std    []float64
}

func maceWeights(store *model.Store) map[string][]float64 {
	out := map[string][]float64{}
	for _, v := range nn.Variables(store, "/"+maceScope) {
		flat, err := tensors.CopyFlatData[float32](v.MustValue())
		if err != nil {
			panic(err)
		}
		wide := make([]float64, len(flat))
		for i, x := range flat {
			wide[i] = float64(x)
		}
		out[v.Path()[len(maceScope)+2:]] = wide
	}
	return out
}

func newMACEReference(c MACE, x *rl.Rollout, store *model.Store) *maceReference {
	o := x.Spec.ObsLen()
	r := &maceReference{cfg: c, x: x, params: maceWeights(store), mean: make([]float64, o), std: make([]float64, o)}
	for d := range o {
		sum, square, count := 0.0, 0.0, 0.0
		for row := range x.Rows() {
			if v := float64(x.ObsRow(row)[d]); x.Alive[row] != 0 {
				sum, square, count = sum+v, square+v*v, count+1
			}
		}
		r.mean[d] = sum / count
		r.std[d] = math.Sqrt(square/count - r.mean[d]*r.mean[d])
	}
	return r
}

func (r *maceReference) input(obs []float32) []float64 {
	out := make([]float64, len(obs))
	for d, v := range obs {
		out[d] = min(max((float64(v)-r.mean[d])/r.std[d], -5), 5)
	}
	return out
}

// own runs agent i's layers of a network whose weights are [N,in,out].
func (r *maceReference) own(net string, i, layers int, x []float64) []float64 {
	for l := range layers + 1 {
		name := fmt.Sprintf("%s/layer_%d", net, l)
		if l == layers {
			name = net + "/out"
		}
		w, b := r.params[name+"/weights"], r.params[name+"/bias"]
		out := len(b) / r.x.N
		y := slices.Clone(b[i*out : (i+1)*out])
		for k, v := range x {
			for o := range y {
				y[o] += v * w[(i*len(x)+k)*out+o]
			}
		}
		for o := range y {
			if l < layers {
				y[o] = max(y[o], 0)
			}
		}
		x = y
	}
	return x
}

// surprise is u of an observation of agent i.
func (r *maceReference) surprise(i int, obs []float32) float64 {
	in, sum := r.input(obs), 0.0
	guess, truth := r.own(predictorScope, i, r.cfg.NoveltyLayers+2, in), r.own(targetScope, i, r.cfg.NoveltyLayers, in)
	for k := range guess {
		sum += (guess[k] - truth[k]) * (guess[k] - truth[k]) / float64(len(guess))
	}
	return sum
}

// noveltyLoss is the predictors' mean error on what was seen.
func (r *maceReference) noveltyLoss() float64 {
	sum, count := 0.0, 0.0
	for row := range r.x.Rows() {
		if r.x.Alive[row] != 0 {
			sum, count = sum+r.surprise(row%r.x.N, r.x.ObsRow(row)), count+1
		}
	}
	return sum / count
}

// future is z of agent step (t, c, j).
func (r *maceReference) future(t, c, j int) float64 {
	sum, discount := 0.0, 1.0
	for ; t < r.x.T; t++ {
		row := (t*r.x.E+c)*r.x.N + j
		if r.x.Done(t, c) {
			break // what comes with the end is not new
		}
		if r.x.Alive[row] != 0 {
			sum += discount * r.surprise(j, r.x.NextRow(row))
		}
		discount *= r.cfg.Discount
	}
	return sum
}

// givens are the z that agent i's hindsight is given at (t, c), and the codes of whose they are.
func (r *maceReference) givens(t, c, i int) (z []float64, codes [][]float64) {
	for j := range r.x.N {
		if j == i {
			continue
		}
		code := make([]float64, r.x.N)
		code[j] = 1
		z, codes = append(z, r.future(t, c, j)), append(codes, code)
	}
	if !r.cfg.Reduce {
		return z, codes
	}
	total := 0.0
	for _, v := range z {
		total += v
	}
	return []float64{total}, [][]float64{nil}
}

// logHindsight is log h_i(a | o_i, z) of agent step row for each z.
func (r *maceReference) logHindsight(row int, upper float64) (logs, z []float64) {
	frame, i := row/r.x.N, row%r.x.N
	z, codes := r.givens(frame/r.x.E, frame%r.x.E, i)
	who := make([]float64, r.x.N)
	who[i] = 1
	for p := range z {
		in := append(r.input(r.x.ObsRow(row)), z[p]/upper)
		in = append(append(in, who...), codes[p]...)
		hidden := r.rows("hindsight/layer_0", in)
		for k := range hidden {
			hidden[k] = max(hidden[k], 0)
		}
		logs = append(logs, r.logAction(row, r.rows("hindsight/out", hidden)))
	}
	return logs, z
}

// rows is W·x + b with W stored [out,in].
func (r *maceReference) rows(name string, x []float64) []float64 {
	y := slices.Clone(r.params[name+"/bias"])
	for o := range y {
		for i, v := range x {
			y[o] += r.params[name+"/weights"][o*len(x)+i] * v
		}
	}
	return y
}

func (r *maceReference) logAction(row int, y []float64) float64 {
	if k := r.x.Spec.Act.Choices; k > 0 {
		total := 0.0
		for i := range k {
			total += math.Exp(y[i]) * float64(r.x.Mask[row*k+i])
		}
		return y[r.x.Act.Choice[row]] - math.Log(total)
	}
	a := &r.x.Spec.Act
	u, half := float64(r.x.Raw[row]), float64(a.High[0]-a.Low[0])/2
	scale := math.Log1p(math.Exp(y[1]+math.Log(math.Exp(0.99)-1))) + 0.01
	return -(u-y[0])*(u-y[0])/scale/scale/2 - math.Log(scale) - math.Log(2*math.Pi)/2 - math.Log(half*(1-math.Tanh(u)*math.Tanh(u)))
}

// hindsightLoss is the negative mean log-likelihood of the actions taken.
func (r *maceReference) hindsightLoss(upper float64) float64 {
	sum, count := 0.0, 0.0
	for row := range r.x.Rows() {
		logs, _ := r.logHindsight(row, upper)
		for _, l := range logs {
			if r.x.Alive[row] != 0 {
				sum, count = sum+l, count+1
			}
		}
	}
	return -sum / count
}

// pays is the reward of agent step row.
func (r *maceReference) pays(row int, upper float64) float64 {
	frame, i := row/r.x.N, row%r.x.N
	pay := 0.0
	for j := range r.x.N {
		other := frame*r.x.N + j
		if r.x.Done(frame/r.x.E, frame%r.x.E) || r.x.Alive[other] == 0 {
			continue
		}
		weight := r.cfg.Other
		if j == i {
			weight = r.cfg.Self
		}
		pay += weight * r.surprise(j, r.x.NextRow(other))
	}
	logs, z := r.logHindsight(row, upper)
	for p, l := range logs {
		pay += r.cfg.Influence * z[p] * min(max(l-float64(r.x.LogP[row]), -r.cfg.RatioClip), r.cfg.RatioClip)
	}
	return pay * r.cfg.IntCoef
}

// firstStep checks, in a sample of the weights below scope, one step of Adam against differences of loss.
func (r *maceReference) firstStep(t *testing.T, scope string, after map[string][]float64, loss func() float64) {
	t.Helper()
	moved := 0
	for name, p := range r.params {
		if !strings.HasPrefix(name, scope+"/") || strings.HasPrefix(name, scope+"/adam/") {
			continue
		}
		for i := 0; i < len(p); i += max(1, len(p)/4) {
			const h = 1e-5
			old := p[i]
			p[i] = old + h
			up := loss()
			p[i] = old - h
			g := (up - loss()) / (2 * h)
			p[i] = old
			want := old - r.cfg.LR*g/(math.Abs(g)+r.cfg.Eps)
			// float32 against float64; near g = 0 an error of the gradient of 1e-6 moves the step by 1e-5
			if math.Abs(after[name][i]-want) > 5e-5 {
				t.Errorf("%s[%d] is %g after a step, want %g (gradient %g)", name, i, after[name][i], want, g)
			}
			if math.Abs(g) > 1e-6 {
				moved++
			}
		}
	}
	if moved < 10 {
		t.Errorf("only %d weights of the sample below %s have a gradient", moved, scope)
	}
}

func TestMACEFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, discrete := range []bool{true, false} {
		for _, reduce := range []bool{true, false} {
			c, s := smallMACE(), maceSpec(discrete)
			c.Reduce, c.Self, c.Other, c.Influence = reduce, 0.7, 0.4, 0.5
			x := maceRollout(s, 4)
			m, store := newMACE(t, c, s)
			ref := newMACEReference(c, x, store)
			got, err := m.Reward(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			upper := got["mace/z_upper"]
			if want := ref.hindsightLoss(upper); math.Abs(got["mace/hindsight_loss"]-want) > 1e-5 { // float32 against float64
				t.Errorf("hindsight's loss is %g, want %g", got["mace/hindsight_loss"], want)
			}
			after := maceWeights(store)
			ref.firstStep(t, hindsightScope, after, func() float64 { return ref.hindsightLoss(upper) })
			ref.params = after // the reward is that of the trained hindsight
			for row, pay := range x.Intrinsic {
				want := ref.pays(row, upper)
				if x.Alive[row] == 0 {
					want = 0
				}
				if math.Abs(float64(pay)-want) > 1e-4*(1+math.Abs(want)) { // as above
					t.Errorf("agent step %d is paid %g, want %g", row, pay, want)
				}
			}
			wantLoss := ref.noveltyLoss()
			got, err = m.Update(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got["mace/rnd_loss"]-wantLoss) > 1e-5 {
				t.Errorf("the predictors' loss is %g, want %g", got["mace/rnd_loss"], wantLoss)
			}
			final := maceWeights(store)
			ref.firstStep(t, predictorScope, final, ref.noveltyLoss)
			for name, v := range final {
				if strings.HasPrefix(name, targetScope) && !slices.Equal(v, after[name]) {
					t.Errorf("%s of the random target has moved", name)
				}
			}
		}
	}
}

// TestFutureNoveltyByHand: one copy, one agent, four steps of novelty 1, 2, 4, 8; the episode ends with the second.
func TestFutureNoveltyByHand(t *testing.T) {
	x := rl.NewRollout(&envs.Spec{Copies: 1, Agents: 1, Obs: []int{1}, State: 1, Act: envs.ActSpec{Choices: 2}}, 4, 0)
	x.Truncated[1] = 1
	z := make([]float32, 4)
	discountAhead(z, []float32{1, 2, 4, 8}, x, 0.5)
	if want := []float32{1 + 0.5*2, 2, 4 + 0.5*8, 8}; !slices.Equal(z, want) {
		t.Errorf("got %v, want %v", z, want)
	}
}

// TestAloneNobodyIsPaidForOthers: without sharing, only an agent's own novelty counts, and no hindsight is made.
func TestAloneNobodyIsPaidForOthers(t *testing.T) {
	c, x := smallMACE(), maceRollout(maceSpec(true), 4)
	c.Share = ShareNone
	m, store := newMACE(t, c, x.Spec)
	if m.hindsight != nil {
		t.Error("a hindsight network was made")
	}
	if _, err := m.Reward(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	c.Other, c.Influence = 0, 0
	ref := newMACEReference(c, x, store)
	for row, pay := range x.Intrinsic {
		frame, want := row/x.N, 0.0
		if x.Alive[row] != 0 && !x.Done(frame/x.E, frame%x.E) {
			want = c.IntCoef * ref.surprise(row%x.N, x.NextRow(row))
		}
		if math.Abs(float64(pay)-want) > 1e-5*(1+want) { // float32 against float64
			t.Errorf("agent step %d is paid %g, want %g", row, pay, want)
		}
	}
}

// TestNoveltyFadesWhereOneStays: after training on the same steps again and again they are less new, and steps elsewhere are not.
func TestNoveltyFadesWhereOneStays(t *testing.T) {
	c, x := smallMACE(), maceRollout(maceSpec(true), 6)
	c.NoveltyEpochs, c.NoveltyWidth = 100, 16
	m, _ := newMACE(t, c, x.Spec)
	rate := func(x *rl.Rollout) float64 {
		u := make([]float32, x.Rows())
		if err := m.novelty.rate(t.Context(), u, x); err != nil {
			t.Fatal(err)
		}
		return average64(u, x.Alive)
	}
	before := rate(x)
	for k := range 3 {
		x.Iteration = k
		if _, err := m.Update(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	after := rate(x)
	elsewhere := maceRollout(x.Spec, 6)
	for i := range elsewhere.Obs {
		elsewhere.Obs[i] = -9 // far from where they were, N(1, 3²)
	}
	if there := rate(elsewhere); after > before/3 || there < 2*after {
		t.Errorf("novelty went from %g to %g, and is %g elsewhere", before, after, there)
	}
}

func TestSavedMACEGoesOnBitExactly(t *testing.T) {
	c := smallMACE()
	c.NoveltyNorm, c.IntNorm, c.NoveltyKeep = true, NormReturnStd, 0.5
	iterate := func(m *mace, k int) []float32 {
		x := maceRollout(maceSpec(true), 6)
		x.Iteration = k
		if _, err := m.Reward(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Update(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		return x.Intrinsic
	}
	one, store := newMACE(t, c, maceSpec(true))
	iterate(one, 0)
	two, copied := newMACE(t, c, maceSpec(true))
	for _, v := range nn.Variables(store, "/") {
		value, err := v.MustValue().LocalClone()
		if err != nil {
			t.Fatal(err)
		}
		if err := copied.GetVariable(v.Path()).SetValue(value); err != nil {
			t.Fatal(err)
		}
	}
	if err := two.Load(one.Save()); err != nil {
		t.Fatal(err)
	}
	if a, b := iterate(one, 1), iterate(two, 1); !slices.Equal(a, b) {
		t.Errorf("it goes on with %v, want %v", b, a)
	}
}

func TestImpossibleMACEsGetASentence(t *testing.T) {
	for name, change := range map[string]func(*MACE){
		"share": func(c *MACE) { c.Share = "all" }, "self": func(c *MACE) { c.Self = -1 }, "discount": func(c *MACE) { c.Discount = 1.1 },
		"keep": func(c *MACE) { c.NoveltyKeep = math.NaN() }, "layers": func(c *MACE) { c.NoveltyLayers = 0 },
		"hidden": func(c *MACE) { c.HindsightHidden = []int{8, 0} }, "norm": func(c *MACE) { c.IntNorm = "x" }, "lr": func(c *MACE) { c.LR = 0 },
		"clip": func(c *MACE) { c.RatioClip = math.Inf(1) },
	} {
		c := smallMACE()
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
