// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"strings"

	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// tdReference computes a step of value decomposition in float64, from methods and formulas alone: forward in plain loops,
// gradients by finite differences.
type tdReference struct {
	cfg    Q
	spec   *envs.Spec
	chunk  int      // L
	hidden int      // C
	names  []string // of the online variables
	online map[string][]float64
	target map[string][]float64
	adam   nntest.Adam
	mix    func(p map[string][]float64, in mixed) float64
	frozen map[int][]float64 // by frame of the minibatch, values without a gradient
}

// mixed is a mixer's input for one frame.
type mixed struct {
	chosen, max []float64 // [N]
	choice      []int     // [N]
	obs, state  []float32
	frame       int // of the minibatch, -1 in a target
}

func newReference(l *q) *tdReference {
	r := &tdReference{cfg: l.Q, spec: l.build.Spec, chunk: l.chunk, hidden: l.HiddenLen(), online: map[string][]float64{}, target: map[string][]float64{},
		adam: nntest.Adam{LR: l.LR, Eps: l.Eps, Clip: l.Adam.Clip}}
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
	return nntest.Read([]*model.Variable{store.GetVariable(path)}, "")[path]
}

// utility is Q_i of one agent, and its state after observing obs in state h.
func (r *tdReference) utility(p map[string][]float64, obs []float32, h []float64) (q, next []float64) {
	x := nntest.Wide(obs)
	if len(h) > 0 {
		h = gruStep(p, "utility/gru", x, h)
		x = h
	}
	return nntest.Linear(p, "utility/out", nntest.Apply(nntest.Linear(p, "utility/layer_0", x, true), math.Tanh), true), h
}

// gruStep is one step of gated recurrent units.
func gruStep(p map[string][]float64, name string, x, h []float64) []float64 {
	gates := func(weights, bias string, v []float64) []float64 {
		return nntest.Linear(map[string][]float64{"g/weights": p[name+"/"+weights], "g/bias": p[name+"/"+bias]}, "g", v, false)
	}
	in, echo, next := gates("input", "input_bias", x), gates("recurrent", "recurrent_bias", h), make([]float64, len(h))
	for i := range h {
		f := len(h)
		reset, update := nntest.Sigmoid(in[i]+echo[i]), nntest.Sigmoid(in[f+i]+echo[f+i])
		next[i] = (1-update)*math.Tanh(in[2*f+i]+reset*echo[2*f+i]) + update*h[i]
	}
	return next
}

// see returns the utilities of every agent in the frames of slots, and after each of them: [B][N][K].
func (r *tdReference) see(p map[string][]float64, replay *rl.Replay, slots []int) (now, next [][][]float64) {
	n, o, width := r.spec.Agents, r.spec.ObsLen(), len(slots)/r.chunk
	now, next = make([][][]float64, len(slots)), make([][][]float64, len(slots))
	for b := range slots {
		now[b], next[b] = make([][]float64, n), make([][]float64, n)
	}
	for b := range width {
		for i := range n {
			var h []float64
			if r.hidden > 0 {
				h = nntest.Wide(replay.Hidden(slots[b])[i*r.hidden : (i+1)*r.hidden])
			}
			for t := range r.chunk {
				at, obs := t*width+b, replay.At(slots[t*width+b]).Obs
				now[at][i], h = r.utility(p, obs[i*o:(i+1)*o], h)
				if t > 0 {
					next[at-width][i] = now[at][i]
				}
				if replay.Ended(slots[at]) {
					clear(h)
				}
			}
			last := len(slots) - width + b
			next[last][i], _ = r.utility(p, replay.Next(slots[last]).Obs[i*o:(i+1)*o], h)
		}
	}
	return now, next
}

func (r *tdReference) qmix(p map[string][]float64, in mixed) float64 {
	s, q := nntest.Wide(in.state), in.chosen
	hyper := func(name string) []float64 {
		return nntest.Apply(nntest.Linear(p, "mixer/"+name+"/out", s, false), math.Abs)
	}
	w1, w2, h := hyper("w1"), hyper("w2"), nntest.Linear(p, "mixer/b1", s, false)
	total := nntest.Linear(p, "mixer/v_out", nntest.Apply(nntest.Linear(p, "mixer/v", s, false), nntest.ReLU), false)[0]
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

// ahead is Q_tot⁻ after a frame; target and online are the utilities of both networks there.
func (r *tdReference) ahead(p *rl.Replay, slot int, target, online [][]float64) float64 {
	n, k := r.spec.Agents, r.spec.Act.Choices
	next := mixed{chosen: make([]float64, n), max: make([]float64, n), choice: make([]int, n), obs: p.Next(slot).Obs, state: p.Next(slot).State, frame: -1}
	for i := range n {
		var mask []uint8
		if r.spec.Masked {
			mask = p.Next(slot).Mask[i*k : (i+1)*k]
		}
		chooser := target[i]
		if r.cfg.DoubleQ {
			chooser = online[i]
		}
		next.choice[i] = argmax(chooser, mask)
		next.chosen[i], next.max[i] = target[i][next.choice[i]], target[i][argmax(target[i], mask)]
	}
	return r.mix(r.target, next)
}

// goals are the targets y of frames.
func (r *tdReference) goals(p *rl.Replay, slots []int) []float64 {
	_, target := r.see(r.target, p, slots)
	_, online := r.see(r.online, p, slots)
	y := make([]float64, len(slots))
	for b, slot := range slots {
		y[b] = float64(p.Reward(slot)) + float64(p.Bonus(slot))
		if p.Ended(slot) {
			continue
		}
		y[b] += r.cfg.Discount * r.ahead(p, slot, target[b], online[b])
	}
	return y
}

// mask is agent i's allowed actions in a frame; nil: all.
func (r *tdReference) mask(p *rl.Replay, slot int, i int) []uint8 {
	if !r.spec.Masked {
		return nil
	}
	k := r.spec.Act.Choices
	return p.At(slot).Mask[i*k : (i+1)*k]
}

// loss is the loss of the frames with online parameters p, given the targets y.
func (r *tdReference) loss(p map[string][]float64, replay *rl.Replay, slots []int, y []float64) float64 {
	n, sum := r.spec.Agents, 0.0
	utility, _ := r.see(p, replay, slots)
	for b, slot := range slots {
		now := mixed{chosen: make([]float64, n), max: make([]float64, n), choice: make([]int, n), obs: replay.At(slot).Obs, state: replay.At(slot).State, frame: b}
		for i := range n {
			q := utility[b][i]
			now.choice[i] = int(replay.Discrete(slot)[i])
			now.chosen[i], now.max[i] = q[now.choice[i]], q[argmax(q, r.mask(replay, slot, i))]
		}
		d := r.mix(p, now) - y[b]
		sum += d * d
	}
	return sum / float64(len(slots))
}

// step takes one gradient step and moves the targets.
func (r *tdReference) step(replay *rl.Replay, slots []int) (loss float64) {
	y := r.goals(replay, slots)
	r.frozen = map[int][]float64{}
	loss = r.loss(r.online, replay, slots, y)
	r.adam.Step(r.online, r.names, func() float64 { return r.loss(r.online, replay, slots, y) })
	for _, name := range r.names {
		for i, now := range r.online[name] {
			r.target[name][i] += r.cfg.Polyak * (now - r.target[name][i])
		}
	}
	return loss
}
