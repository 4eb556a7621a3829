// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// smallCPM has networks small enough for differences of losses, and takes one step on all of a small rollout.
func smallCPM() CPM {
	c := DefaultCPM()
	c.Core, c.Hidden, c.Latent, c.Epochs, c.Minibatch, c.LR, c.Clip = MLP{Hidden: []int{4}}, 5, 3, 1, 10, 0.01, 1e9
	return c
}

// cpmReference computes a CPM in float64 from its formulas: forward only, in plain loops, one pair after the other.
type cpmReference struct {
	cfg    CPM
	x      *rl.Rollout
	p      int                  // length of a policy vector
	params map[string][]float64 // by path
}

func weights(store *model.Store) map[string][]float64 {
	return nntest.Read(nn.Variables(store, "/"), "")
}

func relu(x []float64) []float64 { return nntest.Apply(x, nntest.ReLU) }

func oneHot(n int, at ...int) []float64 {
	out := make([]float64, n)
	for _, i := range at {
		out[i] = 1
	}
	return out
}

// decoded is a decoder's output for the k-th peer of agent step row, "online" or "following".
func (r *cpmReference) decoded(copy string, row, k int) []float64 {
	layer := func(name string, x []float64) []float64 {
		return nntest.GroupLinear(r.params, "/cpm/"+copy+"/"+name, 0, 1, x)
	}
	n, i := r.x.N, row%r.x.N
	j := k
	if j >= i {
		j++
	}
	obs, last := nntest.Wide(r.x.ObsRow(row)), nntest.Wide(r.x.Hidden[(row*(n-1)+k)*r.p:(row*(n-1)+k+1)*r.p])
	code := oneHot(2*n, i, n+j)
	seen := relu(layer("encoder_out", relu(layer("encoder_in", append(obs, oneHot(n, i)...)))))
	mean, gain := layer("mean", seen), layer("gain", seen)
	z := layer("noise_out", relu(layer("noise_in", append(last, code...))))
	for d := range z {
		z[d] = mean[d] + z[d]*gain[d]
	}
	return layer("decoder_out", relu(layer("decoder_in", append(z, code...))))
}

// vector is p̂ of a decoder's output.
func (r *cpmReference) vector(raw []float64) []float64 {
	if r.x.Spec.Act.Choices > 0 {
		return softmax(raw, nil)
	}
	out := make([]float64, len(raw))
	for d, v := range raw {
		out[d] = 3 * math.Tanh(v/3)
		if d >= len(raw)/2 {
			out[d] -= 2
		}
	}
	return out
}

// softmax leaves x as it is.
func softmax(x []float64, mask []uint8) []float64 {
	scores := slices.Clone(x)
	for i, allowed := range mask {
		if allowed == 0 {
			scores[i] = math.Inf(-1)
		}
	}
	return nntest.Softmax(scores)
}

// outputs returns the acting network's outputs for agent step row, given the predictions.
func (r *cpmReference) outputs(row int) []float64 {
	in := nntest.Wide(r.x.ObsRow(row))
	for k := range r.x.N - 1 {
		in = append(in, r.vector(r.decoded("following", row, k))...)
	}
	hidden := nntest.Apply(nntest.Linear(r.params, "/actor/layer_0", in, true), math.Tanh)
	return nntest.Linear(r.params, "/actor/out", hidden, true)
}

// truths are the policy vectors to be predicted, of every agent step; they do not move with the predictor.
func (r *cpmReference) truths() [][]float64 {
	out := make([][]float64, r.x.Rows())
	for row := range out {
		y := r.outputs(row)
		if k := r.x.Spec.Act.Choices; k > 0 {
			out[row] = softmax(y, r.x.Mask[row*k:(row+1)*k])
			continue
		}
		d := len(y) / 2
		for i := range d {
			y[i] = min(max(y[i], -3), 3)
			y[d+i] = min(max(math.Log(math.Log1p(math.Exp(y[d+i]+math.Log(math.Exp(0.99)-1)))+0.01), -5), 1)
		}
		out[row] = y
	}
	return out
}

// loss is the mean divergence of predictions from truths over pairs that are alive.
func (r *cpmReference) loss(truths [][]float64) float64 {
	sum, count := 0.0, 0.0
	for row := range r.x.Rows() {
		for k := range r.x.N - 1 {
			peer := row/r.x.N*r.x.N + k
			if peer >= row {
				peer++
			}
			if r.x.Alive[row] == 0 || r.x.Alive[peer] == 0 {
				continue
			}
			count++
			sum += r.divergence(truths[peer], r.vector(r.decoded("online", row, k)))
		}
	}
	return sum / count
}

func (r *cpmReference) divergence(truth, guess []float64) float64 {
	kl := 0.0
	if r.x.Spec.Act.Choices > 0 {
		for i, p := range truth {
			if p > 0 {
				kl += p * math.Log(p/guess[i])
			}
		}
		return kl
	}
	d := len(truth) / 2
	scale := func(logs []float64) []float64 { return nntest.Apply(slices.Clone(logs), math.Exp) }
	return floats.Sum(nntest.KL(truth[:d], scale(truth[d:]), guess[:d], scale(guess[d:])))
}

// cpmRollout fills a rollout with random numbers; an agent is dead for a step, a choice is forbidden.
func cpmRollout(s *envs.Spec, hidden int) *rl.Rollout {
	x, r := rl.NewRollout(s, 4, hidden), rng.New(2, "rollout")
	graphtest.Normal(r, x.Obs)
	for i := range x.Hidden {
		x.Hidden[i] = r.Uniform(0, 1)
	}
	graphtest.Fill(x.Alive, 1)
	x.Alive[4] = 0
	for i := range x.Mask {
		x.Mask[i] = uint8(min(1, i%s.Act.Choices))
	}
	return x
}

func TestPredictorFollowsAnIndependentFloat64Implementation(t *testing.T) {
	box := envs.ActSpec{Dim: 2, Low: []float32{-1, -1}, High: []float32{1, 1}}
	for _, act := range []envs.ActSpec{{Choices: 3}, box} {
		t.Run(fmt.Sprintf("choices=%d", act.Choices), func(t *testing.T) { checkPredictor(t, act) })
	}
}

func checkPredictor(t *testing.T, act envs.ActSpec) {
	c, b := smallCPM(), build()
	b.Spec.Act, b.Spec.Masked = act, act.Choices > 0
	p := must.Value(c.Build(b))
	train := must.Value(TrainerOf(p, b, "/actor"))
	x := cpmRollout(b.Spec, p.HiddenLen())
	ref := &cpmReference{cfg: c, x: x, p: nn.ActionOutputs(&b.Spec.Act), params: weights(b.Store)}
	got := must.Value(train(t.Context(), x))
	truths := ref.truths()
	if want := ref.loss(truths); math.Abs(got["cpm/loss"]-want) > 1e-5*(1+want) { // float32 against float64
		t.Errorf("the loss is %g, want %g", got["cpm/loss"], want)
	}
	after, moved := weights(b.Store), 0
	for name, v := range ref.params {
		if strings.HasPrefix(name, "/actor/") && !slices.Equal(v, after[name]) {
			t.Errorf("%s of the acting network moved", name)
		}
		if part, ok := strings.CutPrefix(name, "/cpm/following/"); ok {
			checkFollows(t, name, 1-math.Exp(-float64(x.T*x.E)/float64(c.Lag)), v, after[name], after["/cpm/online/"+part])
		}
	}
	forward := func() float64 { return ref.loss(truths) }
	nntest.FirstSteps(ref.params, "/cpm/online", 4, c.LR, 1e-6, forward, func(name string, i int, want, g float64) {
		if math.Abs(g) < 1e-4 {
			return // the first step of Adam is ±lr; for a tiny gradient, rounding decides the sign
		}
		moved++
		if math.Abs(after[name][i]-want) > 2e-4 { // 2 % of a step
			t.Errorf("%s[%d] is %g after a step, want %g (gradient %g)", name, i, after[name][i], want, g)
		}
	})
	if moved < 15 {
		t.Errorf("only %d weights of the sample have a gradient", moved)
	}
}

// checkFollows checks that the acting copy's weights have moved from before towards trained by the share tau.
func checkFollows(t *testing.T, name string, tau float64, before, after, trained []float64) {
	t.Helper()
	for i := range after {
		if want := (1-tau)*before[i] + tau*trained[i]; math.Abs(after[i]-want) > 1e-6 { // rounding of float32
			t.Errorf("%s[%d] is %g after a step, want %g", name, i, after[i], want)
		}
	}
}

// TestTheCopyToActOnFollowsOncePerCollection: the share does not depend on the number of gradient steps of a rollout
// batch. After a lag's worth of rollout batches of any size, 1/e of the way is left.
func TestTheCopyToActOnFollowsOncePerCollection(t *testing.T) {
	for _, c := range []struct{ minibatch, epochs int }{{1000, 1}, {4, 1}, {3, 5}} {
		cfg, b := smallCPM(), build()
		cfg.Minibatch, cfg.Epochs, cfg.Lag = c.minibatch, c.epochs, 40
		b.Spec.Act = envs.ActSpec{Choices: 3}
		p := must.Value(cfg.Build(b))
		train := must.Value(TrainerOf(p, b, "/actor"))
		x, before := cpmRollout(b.Spec, p.HiddenLen()), weights(b.Store)
		must.Value(train(t.Context(), x))
		after := weights(b.Store)
		for name, v := range before {
			if part, ok := strings.CutPrefix(name, "/cpm/following/"); ok {
				checkFollows(t, name, 1-math.Exp(-float64(x.T*x.E)/40), v, after[name], after["/cpm/online/"+part])
			}
		}
	}
	for _, run := range []struct{ frames, collection int }{{3000, 1000}, {600_000, 6000}, {3_000_000, 36_000}} {
		cfg, left := CPM{Lag: run.frames / 3}, 1.0
		at := 0
		for ; at < cfg.Lag; at += run.collection {
			left *= 1 - cfg.share(run.collection)
		}
		if want := math.Exp(-float64(at) / float64(cfg.Lag)); math.Abs(left-want) > 1e-9 {
			t.Errorf("a run of %d frames: %.4f of the way is left after a third, want %.4f", run.frames, left, want)
		}
	}
	if got := (CPM{}).share(10); got != 1 {
		t.Errorf("without a lag, the copy goes %g of the way, want all", got)
	}
}

// TestCarryIsWhatPeersWereThoughtToDo checks the hidden state, which holds the predictions.
func TestCarryIsWhatPeersWereThoughtToDo(t *testing.T) {
	c, b := smallCPM(), build()
	b.Spec.Act, b.Spec.Masked = envs.ActSpec{Choices: 3}, true
	p := must.Value(c.Build(b))
	x := cpmRollout(b.Spec, p.HiddenLen())
	const each = copies * agents
	y, next := stepOf(b, p, 3, x.Obs[:each*seen], x.Hidden[:each*p.HiddenLen()])
	ref := &cpmReference{cfg: c, x: x, p: 3, params: weights(b.Store)}
	for row := range each {
		for i, want := range ref.outputs(row) {
			if math.Abs(float64(y[row*3+i])-want) > 1e-5 { // float32 against float64
				t.Errorf("output %d of agent row %d is %g, want %g", i, row, y[row*3+i], want)
			}
		}
		for k := range agents - 1 {
			for i, want := range ref.vector(ref.decoded("following", row, k)) {
				if got := next[(row*(agents-1)+k)*3+i]; math.Abs(float64(got)-want) > 1e-5 {
					t.Errorf("agent row %d carries %g for choice %d of its peer %d, want %g", row, got, i, k, want)
				}
			}
		}
	}
}

func TestImpossibleCPMsGetASentence(t *testing.T) {
	for name, change := range map[string]func(*CPM){
		"no core": func(c *CPM) { c.Core = nil }, "core in core": func(c *CPM) { c.Core = DefaultCPM() },
		"set core": func(c *CPM) { c.Core = DefaultSPECTra() },
		"latent":   func(c *CPM) { c.Latent = 0 }, "lag": func(c *CPM) { c.Lag = -1 }, "lr": func(c *CPM) { c.LR = math.NaN() }, "width": func(c *CPM) { c.Core = MLP{Hidden: []int{0}} },
	} {
		c := smallCPM()
		change(&c)
		if err := conf.Validate(c); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
	alone := build()
	alone.Spec.Agents = 1
	if _, err := smallCPM().Build(alone); err == nil {
		t.Error("peers of a single agent: accepted")
	}
}
