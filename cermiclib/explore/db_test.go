// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// dbSpec is a made-up task of 2 environments and 2 agents.
func dbSpec() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 2, Obs: []int{3}, State: 6, Act: envs.ActSpec{Dim: 2, Low: []float32{-1, -2}, High: []float32{1, 2}}}
}

// smallDB has networks small enough for differences of losses.
func smallDB() DB {
	c := DefaultDB()
	c.Feat, c.Latent, c.Hidden, c.Minibatch, c.Epochs = 4, 3, 6, 10, 1
	return c
}

// dbRollout fills a rollout with random numbers; one episode ends, one agent is dead for a step.
func dbRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, r, step := rl.NewRollout(s, steps, 0), rng.New(1, "rollout"), envs.NewStep(s)
	for t := range steps + 1 {
		graphtest.Normal(r, step.Obs)
		graphtest.Fill(step.Alive, 1)
		if t == 1 {
			step.Alive[1] = 0
			x.Terminated[0] = 1
			x.End(0, 0, step)
			graphtest.Normal(r, step.Obs[:6])
		}
		x.Observe(t, step)
	}
	for i := range x.Act.Continuous {
		x.Act.Continuous[i] = r.Uniform(-1, 1)
	}
	graphtest.Normal(r, x.Extrinsic)
	return x
}

// newDB builds the module on the pure Go backend.
func newDB(t *testing.T, c DB, s *envs.Spec) (*db, *model.Store) {
	t.Helper()
	b := graphtest.Build(s, 3)
	return must.Get(c.Build(b))(t).(*db), b.Store
}

// dbReference computes the Dynamic Bottleneck in float64 from its formulas: forward only, in plain loops.
type dbReference struct {
	cfg    DB
	params map[string][]float64 // by path
}

func reference(c DB, store *model.Store) *dbReference {
	return &dbReference{cfg: c, params: nntest.Read(nn.Variables(store, "/"+dbScope), "/"+dbScope+"/")}
}

// layer is W·x + b, with W stored [out,in] if rows, else [in,out].
func (r *dbReference) layer(name string, rows bool, x ...float64) []float64 {
	return nntest.Linear(r.params, name, x, rows)
}

func leaky(x []float64) []float64 { return nntest.Apply(x, nntest.Leaky) }

func (r *dbReference) encode(net string, obs []float32) []float64 {
	h := leaky(r.layer(net+"/encoder/layer_0", true, nntest.Wide(obs)...))
	return nntest.Normalize(r.layer(net+"/encoder/out", true, leaky(r.layer(net+"/encoder/layer_1", true, h...))...))
}

// code is mean and spread of z.
func (r *dbReference) code(obs, act []float32) (mean, scale []float64) {
	with := func(x []float64) []float64 { return slices.Concat(x, nntest.Wide(act)) }
	const net = "online/transition/"
	x := leaky(r.layer(net+"in", false, with(r.encode("online", obs))...))
	for _, block := range []string{"block_0/", "block_1/"} {
		y := leaky(r.layer(net+block+"first", false, with(x)...))
		floats.Add(x, r.layer(net+block+"second", false, with(y)...))
	}
	out := r.layer(net+"out", false, with(x)...)
	mean, scale = out[:r.cfg.Latent], out[r.cfg.Latent:]
	for i := range scale {
		scale[i] = max(math.Log1p(math.Exp(scale[i])), 1e-3)
	}
	return mean, scale
}

func klToNormal(mean, scale []float64) float64 {
	return floats.Sum(nntest.KL(mean, scale, make([]float64, len(mean)), slices.Repeat([]float64{1}, len(mean))))
}

func (r *dbReference) generate(z []float64) []float64 {
	const net = "online/generator/"
	x := leaky(r.layer(net+"in", false, z...))
	block := func(name string) {
		y := leaky(r.layer(net+name+"/first", false, x...))
		floats.Add(x, r.layer(net+name+"/second", false, y...))
	}
	block("block_0")
	block("block_1")
	x = leaky(r.layer(net+"widen", false, x...))
	block("block_2")
	return r.layer(net+"out", false, x...)
}

func (r *dbReference) project(net string, s []float64) []float64 {
	y := nntest.Apply(nntest.Normalize(r.layer(net+"/projection/hidden", false, s...)), nntest.ReLU)
	return nntest.Normalize(r.layer(net+"/projection/out", false, y...))
}

// loss of the agent steps rows with their noise, and its terms.
func (r *dbReference) loss(x *rl.Rollout, rows []int32, noise, sample []float64) (loss, kl, likelihood, contrast float64) {
	var queries, keys [][]float64
	var counted []bool
	count := 0.0
	spread := math.Exp(min(max(r.params["online/generator/log_spread"][0], math.Log(0.1)), 2))
	act := make([]float32, x.Spec.Act.Len())
	for k, row := range rows {
		x.ActionVector(act, int(row))
		mean, scale := r.code(x.ObsRow(int(row)), act)
		z := make([]float64, len(mean))
		for i := range z {
			z[i] = mean[i] + scale[i]*noise[k*len(z)+i]
		}
		predicted, next := r.generate(z), r.encode("momentum", x.NextRow(int(row)))
		drawn := slices.Clone(predicted)
		for i := range drawn {
			drawn[i] += spread * sample[k*len(drawn)+i]
		}
		queries, keys = append(queries, r.project("online", drawn)), append(keys, r.project("momentum", next))
		counted = append(counted, x.Alive[row] != 0)
		if x.Alive[row] == 0 {
			continue
		}
		count++
		kl += klToNormal(mean, scale)
		for i := range next {
			d := (next[i] - predicted[i]) / spread
			likelihood += -d*d/2 - math.Log(spread) - math.Log(2*math.Pi)/2
		}
	}
	w, width := r.params["online/bilinear/weights"], r.cfg.Hidden/2
	score := func(q, k []float64) float64 {
		s := 0.0
		for i := range q {
			for j := range k {
				s += q[i] * w[i*width+j] * k[j]
			}
		}
		return s
	}
	for i, q := range queries {
		if !counted[i] {
			continue
		}
		total := 0.0
		for j, k := range keys {
			if counted[j] {
				total += math.Exp(score(q, k))
			}
		}
		contrast += score(q, keys[i]) - math.Log(total)
	}
	kl, likelihood, contrast = kl/count, likelihood/count, contrast/count
	return r.cfg.WeightKL*kl - r.cfg.WeightL2*likelihood - r.cfg.WeightNCE*contrast, kl, likelihood, contrast
}

// TestBottleneckFollowsAnIndependentFloat64Implementation: the terms of the loss, and through finite differences one
// step of Adam in a sample of all weights.
func TestBottleneckFollowsAnIndependentFloat64Implementation(t *testing.T) {
	c := smallDB()
	c.WeightNCE = 0.5 // enough to show in the gradient
	c.LR, c.Eps, c.Clip, c.Momentum = 0.01, 1e-3, 1e9, 0.1
	x := dbRollout(dbSpec(), 2) // 8 agent steps and 2 that only fill up
	m, store := newDB(t, c, dbSpec())
	ref := reference(c, store)
	must.Value(m.Reward(t.Context(), x))
	got := must.Value(m.Update(t.Context(), x))
	rows := make([]int32, x.Rows())
	rng.New(3, "db rows", 0, 0).Perm(rows)
	drawn := func(purpose string, n int) []float64 {
		r, out := rng.New(3, purpose, 0, 0), make([]float64, n)
		for i := range out {
			out[i] = float64(r.Norm())
		}
		return out
	}
	noise, sample := drawn("db noise", c.Minibatch*c.Latent), drawn("db sample", c.Minibatch*c.Feat)
	loss, kl, likelihood, contrast := ref.loss(x, rows, noise, sample)
	for name, want := range map[string]float64{"loss": loss, "kl": kl, "log_likelihood": likelihood, "contrast": contrast} {
		// float32 against float64
		if math.Abs(got["db/"+name]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("%s is %g, want %g", name, got["db/"+name], want)
		}
	}
	forward := func() float64 { l, _, _, _ := ref.loss(x, rows, noise, sample); return l }
	checkFirstStep(t, c.Adam, ref.params, reference(c, store).params, "online", 5, 60, forward)
}

// checkFirstStep checks, in a sample of the weights below scope, one step of Adam of 0.01 against differences of loss. At
// least the given number of weights must have a gradient.
func checkFirstStep(t *testing.T, adam nn.Adam, before, after map[string][]float64, scope string, sample, least int,
	loss func() float64) {
	t.Helper()
	moved := 0
	nntest.FirstSteps(before, scope, sample, adam.LR, adam.Eps, loss, func(name string, i int, want, g float64) {
		// float32 against float64; near g = 0 an error of the gradient of 1e-6 moves the step by 1e-5
		if math.Abs(after[name][i]-want) > 5e-5 {
			t.Errorf("%s[%d] is %g after a step, want %g (gradient %g)", name, i, after[name][i], want, g)
		}
		if math.Abs(g) > 1e-6 {
			moved++
		}
	})
	if moved < least {
		t.Errorf("only %d weights of the sample below %s have a gradient", moved, scope)
	}
}

// TestMomentumCopiesMoveOnceAnEpoch: after an epoch of four gradient steps, the copies are a tenth of the way from the
// networks' initial weights to their final ones. Intermediate weights do not matter.
func TestMomentumCopiesMoveOnceAnEpoch(t *testing.T) {
	c := smallDB()
	c.Minibatch, c.LR, c.Momentum = 2, 0.01, 0.1
	m, store := newDB(t, c, dbSpec())
	before, x := reference(c, store), dbRollout(dbSpec(), 2)
	must.Value(m.Reward(t.Context(), x))
	must.Value(m.Update(t.Context(), x))
	after := reference(c, store)
	for _, name := range []string{"encoder/layer_0/weights", "projection/out/bias"} {
		for i, v := range after.params["momentum/"+name] {
			if want := 0.9*before.params["online/"+name][i] + 0.1*after.params["online/"+name][i]; math.Abs(v-want) > 1e-6 {
				t.Fatalf("momentum copy of %s[%d] is %g, want %g", name, i, v, want)
			}
		}
	}
}

func TestBottleneckPaysTheDivergenceOfTheCode(t *testing.T) {
	c := smallDB()
	c.IntNorm, c.IntCoef, c.ExtCoef = NormNone, 2, 0.25
	x := dbRollout(dbSpec(), 7)
	m, store := newDB(t, c, dbSpec())
	ref := reference(c, store)
	must.Value(m.Reward(t.Context(), x))
	act := make([]float32, 2)
	for row := range x.Rows() {
		x.ActionVector(act, row)
		want := 2 * klToNormal(ref.code(x.ObsRow(row), act))
		if x.Alive[row] == 0 {
			want = 0
		}
		if got := float64(x.Intrinsic[row]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("agent step %d is paid %g, want %g", row, got, want)
		}
	}
	if x.ExtrinsicWeight != 0.25 {
		t.Errorf("the extrinsic reward has weight %g, want that of ext_coef, 0.25", x.ExtrinsicWeight)
	}
}
