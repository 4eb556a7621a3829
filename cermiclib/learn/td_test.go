// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/diff/fd"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// tdSpec is a made-up task: 2 copies, 2 agents, 3 observed numbers, 4 of state, 3 choices.
func tdSpec(masked bool) *envs.Spec {
	return &envs.Spec{Name: "fake", Copies: 2, Agents: 2, Obs: []int{3}, State: 4, Act: envs.ActSpec{Choices: 3}, Masked: masked}
}

// randomRollout fills a rollout with random numbers; episodes end in all ways.
func randomRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, r, step := rl.NewRollout(s, steps, 0), rng.New(1, "rollout"), envs.NewStep(s)
	show := func() {
		for _, v := range [][]float32{step.Obs, step.State} {
			for i := range v {
				v[i] = r.Norm()
			}
		}
		for i := range step.Mask {
			step.Mask[i] = 1
			if i%s.Act.Choices > 0 {
				step.Mask[i] = uint8(r.IntN(2))
			}
		}
		for i := range step.Alive {
			step.Alive[i] = 1
		}
	}
	show()
	for t := range steps {
		x.See(t, step)
		for i := range s.Copies * s.Agents {
			row := t*s.Copies*s.Agents + i
			if s.Act.Choices > 0 {
				x.Act.Choice[row] = int32(r.IntN(s.Act.Choices))
			}
			x.Extrinsic[row], x.Intrinsic[row] = r.Norm(), r.Norm()
		}
		show()
		for c := range s.Copies {
			switch r.IntN(4) {
			case 0:
				x.Terminated[t*s.Copies+c] = 1
				x.End(t, c, step)
			case 1:
				x.Truncated[t*s.Copies+c] = 1
				x.End(t, c, step)
			}
		}
		if step2 := step; x.Done(t, 0) || x.Done(t, 1) {
			step = envs.NewStep(s)
			*step = *step2
			show() // after a reset
		}
	}
	x.See(steps, step)
	return x
}

// tdReference computes a step of value decomposition in float64, from methods and formulas alone: forward in plain loops,
// gradients by finite differences.
type tdReference struct {
	cfg    Q
	spec   *envs.Spec
	names  []string // of the online variables
	online map[string][]float64
	target map[string][]float64
	m, v   map[string][]float64
	steps  float64
	mix    func(p map[string][]float64, in mixed) float64
	frozen map[int][]float64 // by frame of the minibatch, what no gradient passes through
}

// mixed is what a mixer gets of one frame.
type mixed struct {
	chosen, max []float64 // [N]
	choice      []int     // [N]
	obs, state  []float32
	frame       int // of the minibatch, -1 in a target
}

func newReference(l *q) *tdReference {
	r := &tdReference{cfg: l.Q, spec: l.build.Spec, online: map[string][]float64{}, target: map[string][]float64{},
		m: map[string][]float64{}, v: map[string][]float64{}}
	switch l.Mixer.(type) {
	case QMIX:
		r.mix = r.qmix
	case QPLEX:
		r.mix = r.qplex
	case SPECTra:
		r.mix = r.spectra
	}
	for _, v := range nn.Variables(l.build.Store, "/"+onlineScope) {
		if v.Trainable {
			name := strings.TrimPrefix(v.Path(), "/"+onlineScope+"/")
			r.names = append(r.names, name)
			r.online[name] = values(l.build.Store, v.Path())
			r.target[name] = values(l.build.Store, "/"+targetScope+"/"+name)
		}
	}
	return r
}

// values reads a variable of any shape.
func values(store *model.Store, path string) []float64 {
	flat, err := tensors.CopyFlatData[float32](store.GetVariable(path).MustValue())
	if err != nil {
		panic(err)
	}
	return wide(flat)
}

// linear is W·x + b; rows says whether W is stored [out,in], as in nn.MLP, or [in,out], as in nn.Linear.
func linear(p map[string][]float64, name string, x []float64, rows bool) []float64 {
	w, b := p[name+"/weights"], p[name+"/bias"]
	y := slices.Clone(b)
	for o := range y {
		for i := range x {
			if rows {
				y[o] += w[o*len(x)+i] * x[i]
			} else {
				y[o] += w[i*len(y)+o] * x[i]
			}
		}
	}
	return y
}

func apply(v []float64, f func(float64) float64) []float64 {
	for i := range v {
		v[i] = f(v[i])
	}
	return v
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func (r *tdReference) utility(p map[string][]float64, obs []float32) []float64 {
	return linear(p, "utility/out", apply(linear(p, "utility/layer_0", wide(obs), true), math.Tanh), true)
}

func relu(x float64) float64 { return math.Max(x, 0) }

func (r *tdReference) qmix(p map[string][]float64, in mixed) float64 {
	cfg, s, q := r.cfg.Mixer.(QMIX), wide(in.state), in.chosen
	hyper := func(name string) []float64 {
		in := s
		if cfg.Layers == 2 {
			in = apply(linear(p, "mixer/"+name+"/hidden", s, false), relu)
		}
		return apply(linear(p, "mixer/"+name+"/out", in, false), math.Abs)
	}
	w1, w2, h := hyper("w1"), hyper("w2"), linear(p, "mixer/b1", s, false)
	total := linear(p, "mixer/v_out", apply(linear(p, "mixer/v", s, false), relu), false)[0]
	for e := range h {
		for i := range q {
			h[e] += q[i] * w1[i*len(h)+e]
		}
		if h[e] < 0 {
			h[e] = math.Exp(h[e]) - 1
		}
		total += h[e] * w2[e]
	}
	return total
}

func argmax(q []float64, mask []uint8) int {
	best := -1
	for k := range q {
		if (mask == nil || mask[k] != 0) && (best < 0 || q[k] > q[best]) {
			best = k
		}
	}
	return best
}

// goal is y of a frame.
func (r *tdReference) goal(p *rl.Replay, slot int32) float64 {
	n, o, k := r.spec.Agents, r.spec.ObsLen(), r.spec.Act.Choices
	next := mixed{chosen: make([]float64, n), max: make([]float64, n), choice: make([]int, n), obs: p.NextObs(slot), state: p.NextState(slot), frame: -1}
	for i := range n {
		obs := p.NextObs(slot)[i*o : (i+1)*o]
		var mask []uint8
		if r.spec.Masked {
			mask = p.NextMask(slot)[i*k : (i+1)*k]
		}
		chooser := r.target
		if r.cfg.DoubleQ {
			chooser = r.online
		}
		utility := r.utility(r.target, obs)
		next.choice[i] = argmax(r.utility(chooser, obs), mask)
		next.chosen[i], next.max[i] = utility[next.choice[i]], utility[argmax(utility, mask)]
	}
	y := float64(p.Reward(slot)) + float64(p.Bonus(slot))
	if terminated, truncated := p.Ended(slot); !terminated && (!truncated || r.cfg.BootstrapOnTimeout) {
		y += r.cfg.Discount * r.mix(r.target, next)
	}
	return y
}

// mask is what agent i could do in a frame, nil for everything.
func (r *tdReference) mask(p *rl.Replay, slot int32, i int) []uint8 {
	if !r.spec.Masked {
		return nil
	}
	k := r.spec.Act.Choices
	return p.Mask(slot)[i*k : (i+1)*k]
}

// loss of the frames with online parameters p, given the targets y.
func (r *tdReference) loss(p map[string][]float64, replay *rl.Replay, slots []int32, y []float64) float64 {
	n, o := r.spec.Agents, r.spec.ObsLen()
	sum := 0.0
	for b, slot := range slots {
		now := mixed{chosen: make([]float64, n), max: make([]float64, n), choice: make([]int, n), obs: replay.Obs(slot), state: replay.State(slot), frame: b}
		for i := range n {
			utility := r.utility(p, now.obs[i*o:(i+1)*o])
			now.choice[i] = int(replay.Choice(slot)[i])
			now.chosen[i], now.max[i] = utility[now.choice[i]], utility[argmax(utility, r.mask(replay, slot, i))]
		}
		sum += r.attentionCost(p, now)
		d := r.mix(p, now) - y[b]
		switch {
		case r.cfg.Loss == "l2":
			sum += d * d
		case math.Abs(d) < 1:
			sum += d * d / 2
		default:
			sum += math.Abs(d) - 0.5
		}
	}
	return sum / float64(len(slots))
}

// step takes one gradient step and moves the targets.
func (r *tdReference) step(replay *rl.Replay, slots []int32) (loss float64) {
	y := make([]float64, len(slots))
	for b, slot := range slots {
		y[b] = r.goal(replay, slot)
	}
	r.frozen = map[int][]float64{}
	loss = r.loss(r.online, replay, slots, y)
	grads, square := map[string][]float64{}, 0.0
	for _, name := range r.names {
		f := func(x []float64) float64 {
			old := r.online[name]
			r.online[name] = x
			defer func() { r.online[name] = old }()
			return r.loss(r.online, replay, slots, y)
		}
		grads[name] = fd.Gradient(nil, f, slices.Clone(r.online[name]), &fd.Settings{Formula: fd.Central})
		for _, g := range grads[name] {
			square += g * g
		}
	}
	scale := math.Min(1, r.cfg.Clip/(math.Sqrt(square)+1e-6))
	r.steps++
	for _, name := range r.names {
		if r.m[name] == nil {
			r.m[name], r.v[name] = make([]float64, len(grads[name])), make([]float64, len(grads[name]))
		}
		for i, g := range grads[name] {
			g *= scale
			r.m[name][i] = 0.9*r.m[name][i] + 0.1*g
			r.v[name][i] = 0.999*r.v[name][i] + 0.001*g*g
			mean, spread := r.m[name][i]/(1-math.Pow(0.9, r.steps)), r.v[name][i]/(1-math.Pow(0.999, r.steps))
			r.online[name][i] -= r.cfg.LR * mean / (math.Sqrt(spread) + r.cfg.Eps)
			r.target[name][i] += r.cfg.Polyak * (r.online[name][i] - r.target[name][i])
		}
	}
	return loss
}

// checkUpdate fails unless updates of the learner equal those of the reference.
func checkUpdate(t *testing.T, c Q, spec *envs.Spec) {
	t.Helper()
	backend, err := nn.OpenConfig("go:parallelism=-1")
	if err != nil {
		t.Fatal(err)
	}
	b := &nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(5), Seed: 5}
	built, err := c.Build(b, policy.MLP{Hidden: []int{4}})
	if err != nil {
		t.Fatal(err)
	}
	l := built.(*q)
	ref := newReference(l)
	got, err := l.Update(t.Context(), randomRollout(spec, 10))
	if err != nil {
		t.Fatal(err)
	}
	slots, loss := make([]int32, c.Batch), 0.0
	for step := range c.Steps {
		l.replay.Sample(slots, rng.New(5, "replay", 0, uint64(step)))
		loss += ref.step(l.replay, slots) / float64(c.Steps)
	}
	// float32 against float64 with finite differences, over six steps of 0.01
	if math.Abs(got["q_loss"]-loss) > 1e-4*loss {
		t.Errorf("mean loss %g, want %g", got["q_loss"], loss)
	}
	for _, name := range ref.names {
		online, target := values(l.build.Store, "/"+onlineScope+"/"+name), values(l.build.Store, "/"+targetScope+"/"+name)
		for i := range online {
			if math.Abs(online[i]-ref.online[name][i]) > 5e-5 || math.Abs(target[i]-ref.target[name][i]) > 5e-5 {
				t.Errorf("%s[%d] is %g, its target %g, want %g and %g", name, i, online[i], target[i], ref.online[name][i], ref.target[name][i])
			}
		}
	}
}

// sixSteps is a learner of six gradient steps on 7 frames each.
func sixSteps(mixer MixerConfig) Q {
	c := DefaultQ()
	c.Frames, c.Steps, c.Batch, c.Replay = 20, 6, 7, 12
	c.LR, c.Eps, c.Clip, c.Polyak, c.Mixer = 0.01, 1e-3, 0.5, 0.1, mixer
	return c
}

func TestQMIXUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for k := range 16 { // every combination of four switches
		on := func(bit int) bool { return k>>bit&1 == 1 }
		mixer := QMIX{Embed: 3, Layers: 1, Hidden: 4}
		c := sixSteps(mixer)
		c.DoubleQ, c.BootstrapOnTimeout = on(0), on(1)
		if on(2) {
			mixer.Layers, c.Loss = 2, "smooth_l1"
		}
		c.Mixer = mixer
		t.Run(fmt.Sprintf("double=%v/bootstrap=%v/layers=%d/masked=%v", c.DoubleQ, c.BootstrapOnTimeout, mixer.Layers, on(3)), func(t *testing.T) {
			checkUpdate(t, c, tdSpec(on(3)))
		})
	}
}
