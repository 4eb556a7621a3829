// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// hindsight is h_i(a | o_i, z): what an agent must have done, given what became new to its peers afterwards. It is trained by
// maximum likelihood on the collection itself; an action that it finds likelier than the policy did has caused z.
//
// One network serves all agents, each told by a one-hot who it is and, where peers count one by one, whose z it is given.
type hindsight struct {
	MACE
	spec  *envs.Spec
	seed  uint64
	eyes  *novelty // standardises observations
	peers int      // P: how many z are given one after the other, 1 for their sum
	score *nn.Program
	step  *nn.Program
	upper float64   // scale of z: a running mean of its 95 % quantile
	given []float32 // [T,E,N,P] z
	order []int32   // [T·E] permutation of the frames
	block []float32 // [Minibatch,N,P]
}

// Reading: the authors set the scale of z by hand for each game. Here it is an exponential mean over collections.
const (
	upperQuantile = 0.95
	upperMemory   = 0.9
)

func newHindsight(c MACE, b *nn.Build, eyes *novelty) (*hindsight, error) {
	s := b.Spec
	m := &hindsight{MACE: c, spec: s, seed: b.Seed, eyes: eyes, peers: s.Agents - 1}
	if c.Reduce {
		m.peers = 1
	}
	m.block = make([]float32, c.Minibatch*s.Agents*m.peers)
	inputs := []nn.Input{
		nn.F32("obs", c.Minibatch, s.Agents, nn.SeenLen(s)), nn.F32("given", c.Minibatch, s.Agents, m.peers),
		nn.F32("weight", c.Minibatch, s.Agents),
	}
	if k := s.Act.Choices; k > 0 {
		inputs = append(inputs, nn.I32("choice", c.Minibatch, s.Agents), nn.F32("mask", c.Minibatch, s.Agents, k))
	} else {
		inputs = append(inputs, nn.F32("raw", c.Minibatch, s.Agents, s.Act.Dim))
	}
	var err error
	m.score, err = nn.NewProgram(b, "mace.hindsight", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{m.logProb(sc.At(maceScope), nn.Named(inputs, in))}
	})
	if err != nil {
		return nil, err
	}
	m.step, err = nn.NewProgram(b, "mace.hindsight.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		named := nn.Named(inputs, in)
		logp := ReduceMean(m.logProb(sc.At(maceScope), named), -1)
		loss := Neg(average(Reshape(logp, -1), Reshape(named["weight"], -1)))
		c.Adam.Minimize(sc.At(maceScope).At(hindsightScope), loss)
		return []*Node{loss}
	})
	return m, err
}

// logProb is log h_i(a_i | o_i, z) [B,N,P].
func (m *hindsight) logProb(sc *model.Scope, in map[string]*Node) *Node {
	b, n, p := m.Minibatch, m.spec.Agents, m.peers
	every := func(x *Node) *Node { // [B,N,W] to [B,N,P,W]
		return BroadcastToDims(InsertAxes(x, 2), b, n, p, x.Shape().Dimensions[2])
	}
	one := ScalarOne(in["obs"].Graph(), in["obs"].DType())
	who := BroadcastToDims(InsertAxes(DiagonalWithValue(one, n), 1), n, p, n)
	parts := []*Node{every(in["obs"]), InsertAxes(in["given"], -1), BroadcastToDims(InsertAxes(who, 0), b, n, p, n)}
	if p > 1 {
		whose := Const(in["obs"].Graph(), peerCodes(n))
		parts = append(parts, BroadcastToDims(InsertAxes(whose, 0), b, n, p, n))
	}
	x := Concatenate(parts, -1)
	act := &m.spec.Act
	y := nn.MLP(sc.At(hindsightScope), Reshape(x, b*n*p, -1), m.HindsightHidden, nn.ReLU, nn.ActionOutputs(act))
	y = Reshape(y, b, n, p, -1)
	if act.Choices > 0 {
		choice := BroadcastToDims(InsertAxes(in["choice"], -1), b, n, p)
		logp, _ := nn.LogProbCategorical(y, every(in["mask"]), choice)
		return logp
	}
	mean, scale := nn.Gaussian(y)
	return nn.LogProbGaussian(every(in["raw"]), mean, scale, act)
}

// peerCodes is [N][N-1][N], the one-hot of each agent's p-th peer.
func peerCodes(n int) [][][]float32 {
	codes := make([][][]float32, n)
	for i := range codes {
		for j := range n {
			if j != i {
				code := make([]float32, n)
				code[j] = 1
				codes[i] = append(codes[i], code)
			}
		}
	}
	return codes
}

// pay adds the reward for influence to raw [T,E,N], given z [T,E,N].
func (m *hindsight) pay(ctx context.Context, raw, z []float32, x *rl.Rollout) (rl.Scalars, error) {
	m.give(z, x)
	loss, err := m.train(ctx, x)
	if err != nil {
		return nil, err
	}
	for k := range m.order {
		m.order[k] = int32(k)
	}
	sum := 0.0
	for from := 0; from < len(m.order); from += m.Minibatch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		frames := m.order[from:min(from+m.Minibatch, len(m.order))]
		m.feed(m.score, x, frames)
		if err := m.score.Run(); err != nil {
			return nil, err
		}
		m.score.Read(0, m.block)
		for k := range len(frames) * x.N {
			row := from*x.N + k
			v := m.influence(row, m.block[k*m.peers:(k+1)*m.peers], x)
			raw[row] += float32(m.Influence * v)
			sum += v * float64(x.Alive[row])
		}
	}
	return rl.Scalars{"mace/influence": sum / float64(x.Rows()), "mace/hindsight_loss": loss, "mace/z_upper": m.upper}, nil
}

// influence is Σ z·log(h/π) of agent step row, given log h [P].
func (m *hindsight) influence(row int, logh []float32, x *rl.Rollout) float64 {
	sum := 0.0
	for p, h := range logh {
		ratio := float64(h) - float64(x.LogP[row])
		sum += float64(m.given[row*m.peers+p]) * min(max(ratio, -m.RatioClip), m.RatioClip)
	}
	return sum
}

// give sorts z [T,E,N] by who is given it, and takes its scale in.
func (m *hindsight) give(z []float32, x *rl.Rollout) {
	if len(m.given) != x.Rows()*m.peers {
		m.given, m.order = make([]float32, x.Rows()*m.peers), make([]int32, x.T*x.E)
	}
	clear(m.given)
	for row := range z {
		first, p := row/x.N*x.N, 0
		for j := range x.N {
			if first+j == row {
				continue
			}
			m.given[row*m.peers+p] += z[first+j]
			p = min(p+1, m.peers-1)
		}
	}
	sorted := slices.Clone(m.given)
	slices.Sort(sorted)
	now := max(float64(sorted[int(upperQuantile*float64(len(sorted)-1))]), statTiny)
	if m.upper == 0 {
		m.upper = now
	}
	m.upper += (1 - upperMemory) * (now - m.upper)
}

// train takes hdd_epochs passes over the collection and returns the mean loss.
func (m *hindsight) train(ctx context.Context, x *rl.Rollout) (float64, error) {
	sum, steps := 0.0, 0.0
	for epoch := range m.HindsightEpochs {
		rng.New(m.seed, "mace hindsight", uint64(x.Iteration), uint64(epoch)).Perm(m.order)
		for at := 0; at < len(m.order); at += m.Minibatch {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			m.feed(m.step, x, m.order[at:min(at+m.Minibatch, len(m.order))])
			if err := m.step.Run(); err != nil {
				return 0, err
			}
			sum, steps = sum+m.step.Scalar(0), steps+1
		}
	}
	return sum / steps, nil
}

// feed writes frames; what is beyond them counts nothing.
func (m *hindsight) feed(p *nn.Program, x *rl.Rollout, frames []int32) {
	n, o, k := x.N, nn.SeenLen(m.spec), m.spec.Act.Choices
	rows := func(input string, width int, copyRow func(dst []float32, row int)) {
		p.Feed(p.Input(input), func(dst []float32) {
			for b, f := range frames {
				for i := range n {
					at := (b*n + i) * width
					copyRow(dst[at:at+width], int(f)*n+i)
				}
			}
		})
	}
	rows("obs", o, func(dst []float32, row int) { m.eyes.standardise(dst, m.eyes.sight.now(row)) })
	rows("given", m.peers, func(dst []float32, row int) {
		for i := range dst {
			dst[i] = m.given[row*m.peers+i] / float32(m.upper)
		}
	})
	p.Feed(p.Input("weight"), func(dst []float32) { feedAlive(dst, x, frames) })
	if k == 0 {
		d := m.spec.Act.Dim
		rows("raw", d, func(dst []float32, row int) { copy(dst, x.Raw[row*d:]) })
		return
	}
	p.FeedInt(p.Input("choice"), func(dst []int32) {
		for b, f := range frames {
			copy(dst[b*n:(b+1)*n], x.Act.Choice[int(f)*n:])
		}
	})
	rows("mask", k, func(dst []float32, row int) {
		for i := range dst {
			dst[i] = 1
			if x.Mask != nil {
				dst[i] = float32(x.Mask[row*k+i])
			}
		}
	})
}
