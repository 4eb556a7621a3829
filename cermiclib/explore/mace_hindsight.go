// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// hindsight is h_i(a | o_i, z): the distribution of an agent's action, given the novelty of its peers afterwards. It is
// trained by maximum likelihood on the most recent rollout batches, including the present one. An action that h finds
// likelier than the policy did has caused z. A well-trained h predicts actions no worse than the policy, so the mean of
// z·log(h/π) is at least 0. Where it stays negative, h is under-fitted, and its output is not influence.
//
// h starts from π, the distribution that the action was drawn from: the network learns log h/π alone, which is 0 before
// training. A network that learns h itself spends its capacity on π and lags behind it. It then predicts actions worse
// than the policy that took them, and z·log(h/π) is negative even without any influence.
//
// One network serves all agents. Its input has an agent's one-hot index.
type hindsight struct {
	MACE
	spec     *envs.Spec
	seed     uint64
	novelty  *novelty // encodes and standardises observations
	score    *nn.Program
	step     *nn.Loop
	buffer   frameBuffer
	upper    float64     // scale of z: its 95 % quantile over the buffer
	negative int         // rollout batches in a row whose mean influence was negative
	given    []float32   // [T,E,N] sum of the peers' z
	policy   []float32   // [T,E,N,K] or [T,E,N,2D] of the distributions behind the actions so far
	scratch  frameBuffer // [Minibatch] frames of the rollout batch
	block    []float32   // [Minibatch,N]
}

// upperQuantile of z is its scale. Reading: the authors set the scale by hand for each game.
const upperQuantile = 0.95

func newHindsight(c MACE, b *nn.Build, u *novelty) (*hindsight, error) {
	s := b.Spec
	m := &hindsight{MACE: c, spec: s, seed: b.Seed, novelty: u}
	m.buffer = frameBuffer{frameLayout: newFrameLayout(s), batches: c.HindsightBuffer, limit: c.HindsightFrames}
	m.scratch = frameBuffer{frameLayout: m.buffer.frameLayout, frames: make([]float32, c.Minibatch*m.buffer.width())}
	m.block = make([]float32, c.Minibatch*s.Agents)
	inputs := []nn.Input{
		nn.F32("obs", c.Minibatch, s.Agents, nn.ObsFeatures(s)), nn.F32("given", c.Minibatch, s.Agents),
		nn.F32("weight", c.Minibatch, s.Agents), nn.F32("policy", c.Minibatch, s.Agents, nn.ActionOutputs(&s.Act)),
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
	m.step, err = nn.NewLoop(b, "mace.hindsight.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		named := nn.Named(inputs, in)
		logp := Squeeze(m.logProb(sc.At(maceScope), named), -1)
		loss := Neg(nn.Average(Reshape(logp, -1), Reshape(named["weight"], -1)))
		c.Adam.Minimize(sc.At(maceScope).At(hindsightScope), loss)
		return []*Node{loss}
	})
	return m, err
}

// logProb is log h_i(a_i | o_i, z) [B,N,1]. The axis of length 1 decides in which order XLA sums, and so the last bits
// of results.
func (m *hindsight) logProb(sc *model.Scope, in map[string]*Node) *Node {
	b, n, act := m.Minibatch, m.spec.Agents, &m.spec.Act
	each := func(input string) *Node { return Reshape(in[input], b, n, 1, -1) }
	one := ScalarOne(in["obs"].Graph(), in["obs"].DType())
	who := BroadcastToDims(Reshape(DiagonalWithValue(one, n), 1, n, 1, n), b, n, 1, n)
	x := Concatenate([]*Node{each("obs"), each("given"), who}, -1)
	y := Reshape(m.outputs(sc.At(hindsightScope), Reshape(x, b*n, -1)), b, n, 1, -1)
	if act.Choices > 0 {
		logp, _ := nn.LogProbCategorical(Add(y, each("policy")), each("mask"), InsertAxes(in["choice"], -1))
		return logp
	}
	mean, scale := gaussianFrom(each("policy"), y)
	return nn.LogProbGaussian(each("raw"), mean, scale, act)
}

// reward adds λ·Σ z·log(h/π) to raw [T,E,N], given z [T,E,N].
func (m *hindsight) reward(ctx context.Context, raw, z []float32, x *rl.Rollout) (rl.Scalars, error) {
	var err error
	m.give(z, x)
	if m.policy, err = m.policyOf(x); err != nil {
		return nil, err
	}
	order := make([]int32, x.T*x.E)
	rng.New(m.seed, "mace buffer", uint64(x.Iteration)).Perm(order)
	m.buffer.add(order, func(dst []float32, frame int) { m.write(dst, x, frame) })
	m.upper = max(m.buffer.upper(upperQuantile), statTiny)
	loss, err := m.train(ctx, x.Iteration)
	if err != nil {
		return nil, err
	}
	sum, living := 0.0, 0.0
	err = m.score.Blocks(ctx, x.T*x.E, m.Minibatch, func(from, to int) {
		rows := make([]int32, to-from)
		for k := range rows {
			rows[k] = int32(k)
			m.write(m.scratch.frame(k), x, from+k)
		}
		m.feed(m.score, &m.scratch, rows)
	}, func(from, to int) {
		m.score.Read(0, m.block)
		for row := from * x.N; row < to*x.N; row++ {
			v := m.influence(row, m.block[row-from*x.N], x)
			raw[row] += float32(m.Influence * v)
			sum, living = sum+v*float64(x.Alive[row]), living+float64(x.Alive[row])
		}
	})
	if err != nil {
		return nil, err
	}
	m.policy = m.policy[:0]
	mean := sum / max(1, living)
	return rl.Scalars{
		"mace/influence": mean, "mace/hindsight_loss": loss, "mace/z_upper": m.upper, "mace/warn_influence": m.check(mean),
	}, nil
}

// check is 1 if the influence has been negative for as many rollout batches in a row as the buffer holds, else 0. It
// warns once in each such stretch.
func (m *hindsight) check(influence float64) float64 {
	if influence >= 0 {
		m.negative = 0
		return 0
	}
	if m.negative++; m.negative < m.HindsightBuffer {
		return 0
	}
	if m.negative == m.HindsightBuffer {
		slog.Warn("mace: the influence on peers stays negative: hindsight is under-fitted, set a larger explore.hdd_steps",
			"scalar", "mace/influence", "value", influence)
	}
	return 1
}

// influence is z·log(h/π) of agent step row, given log h.
func (m *hindsight) influence(row int, logh float32, x *rl.Rollout) float64 {
	ratio := float64(logh) - float64(x.LogP[row])
	return float64(m.given[row]) * min(max(ratio, -m.RatioClip), m.RatioClip)
}

// give sums z [T,E,N] over the peers of each agent.
func (m *hindsight) give(z []float32, x *rl.Rollout) {
	m.given = make([]float32, x.Rows())
	for row := range z {
		first := row / x.N * x.N
		for peer := first; peer < first+x.N; peer++ {
			if peer != row {
				m.given[row] += z[peer]
			}
		}
	}
}

// write fills dst [W] with a frame of the rollout batch.
func (m *hindsight) write(dst []float32, x *rl.Rollout, frame int) {
	l, act := m.buffer.frameLayout, &m.spec.Act
	outputs := nn.ActionOutputs(act)
	for i := range x.N {
		row, to := frame*x.N+i, dst[i*l.agent:(i+1)*l.agent]
		copy(to, m.novelty.encoder.now(row))
		to[l.given] = m.given[row]
		to[l.alive] = float32(x.Alive[row])
		copy(to[l.policy:], m.policy[row*outputs:(row+1)*outputs])
		if act.Choices == 0 {
			copy(to[l.action:l.mask], x.Raw[row*act.Dim:])
			continue
		}
		to[l.action] = float32(x.Act.Discrete[row])
		x.GatherMask(to[l.mask:l.agent], row)
	}
}

// train takes hdd_steps gradient steps on the buffer, whose frames come in random order, and returns the mean loss.
func (m *hindsight) train(ctx context.Context, iteration int) (float64, error) {
	drawn := make([]int32, m.buffer.len())
	const loss = "mace/hindsight_loss"
	means, _, err := m.step.Means(ctx, []string{loss}, func(yield func(error) bool) {
		at, epoch := len(drawn), uint64(0)
		for range m.HindsightSteps {
			if at == len(drawn) {
				rng.New(m.seed, "mace hindsight", uint64(iteration), epoch).Perm(drawn)
				at, epoch = 0, epoch+1
			}
			frames := drawn[at:min(at+m.Minibatch, len(drawn))]
			at += len(frames)
			m.feed(m.step.Program, &m.buffer, frames)
			if !yield(nil) {
				return
			}
		}
	})
	return means[loss], err
}

// feed writes frames of b; rows beyond them are padding of weight 0.
func (m *hindsight) feed(p *nn.Program, b *frameBuffer, frames []int32) {
	n := m.spec.Agents
	part := func(input string, from, to int, write func(dst, src []float32)) {
		nn.FeedRows(p, input, frames, func(dst []float32, frame int) {
			for i := range n {
				write(dst[i*(to-from):(i+1)*(to-from)], b.frame(frame)[i*b.agent+from:i*b.agent+to])
			}
		})
	}
	as := func(dst, src []float32) { copy(dst, src) }
	part("obs", 0, b.given, m.novelty.standardise)
	part("given", b.given, b.alive, func(dst, z []float32) { dst[0] = z[0] / float32(m.upper) })
	part("weight", b.alive, b.policy, as)
	p.Feed(p.Input("weight"), func(dst []float32) { clear(dst[len(frames)*n:]) })
	part("policy", b.policy, b.action, as)
	if m.spec.Act.Choices == 0 {
		part("raw", b.action, b.mask, as)
		return
	}
	nn.FeedRows(p, "choice", frames, func(dst []int32, frame int) {
		for i := range dst {
			dst[i] = int32(b.frame(frame)[i*b.agent+b.action])
		}
	})
	part("mask", b.mask, b.agent, as)
}

// rememberPolicy keeps the parameters of the distributions d that the next actions are drawn from: log-probabilities
// [E,N,K], or means and scales side by side [E,N,2D].
func (m *hindsight) rememberPolicy(d *rl.Dist) {
	k, rows := m.spec.Act.Choices, m.spec.NumEnvs*m.spec.Agents
	from := len(m.policy)
	m.policy = append(m.policy, make([]float32, rows*nn.ActionOutputs(&m.spec.Act))...)
	now := m.policy[from:]
	if k > 0 {
		d.LogProbs(now)
		return
	}
	n := m.spec.Act.Dim
	for row := range rows {
		copy(now[2*row*n:], d.Mean[row*n:(row+1)*n])
		copy(now[(2*row+1)*n:], d.Scale[row*n:(row+1)*n])
	}
}

// policyOf returns the kept parameters for the steps of x [T,E,N,K] or [T,E,N,2D].
func (m *hindsight) policyOf(x *rl.Rollout) ([]float32, error) {
	size := x.Rows() * nn.ActionOutputs(&m.spec.Act)
	if len(m.policy) < size {
		return nil, errors.New("explore: mace was asked for the reward of a rollout batch whose policies it has not seen: " +
			"call Behave at each step")
	}
	return m.policy[len(m.policy)-size:], nil
}

// outputs maps x [R,in] to the outputs of h's network [R,K] or [R,2D]. The last layer starts at 0.
func (m *hindsight) outputs(sc *model.Scope, x *Node) *Node {
	out := nn.ActionOutputs(&m.spec.Act)
	x = Transpose(x, 0, 1)
	for i, width := range m.HindsightHidden {
		x = nn.ReLU(nn.Affine(sc.At("layer_%d", i), x, width))
	}
	sc = sc.At("out")
	w := nn.Weight(sc, x, "weights", nn.AllZero, out, x.Shape().Dimensions[0])
	b := nn.Weight(sc, x, "bias", nn.AllZero, out, 1)
	return Transpose(Add(Dot(w, x).Product(), b), 0, 1)
}

// scaleChange bounds how much narrower or wider a Gaussian h may be than π: by a factor of e².
const scaleChange = 2

// gaussianFrom is mean and scale [...,D] of h. policy [...,2D] has π's mean and scale side by side, y [...,2D] is the
// network's output.
//
//	μ_h = μ_π + σ_π·y₁,   σ_h = σ_π·exp(y₂)
func gaussianFrom(policy, y *Node) (mean, scale *Node) {
	change, base := Split(y, -1, 2), Split(policy, -1, 2)
	mean = Add(base[0], Mul(base[1], change[0]))
	return mean, Mul(base[1], Exp(ClipScalar(change[1], -scaleChange, scaleChange)))
}

// frameLayout is the layout of a frame in a flat []float32 of width W, as hindsight reads it. For each of the N agents
// in turn it has these parts.
//
//	observation [F], sum of z [1], alive [1], parameters of the policy's distribution [K] or [2D], action [1] or [D],
//	mask [K]
//
// Only discrete actions have a mask.
type frameLayout struct {
	spec                                      *envs.Spec
	given, alive, policy, action, mask, agent int // offsets within an agent's numbers; agent: their number
}

// newFrameLayout is the layout of frames of s.
func newFrameLayout(s *envs.Spec) frameLayout {
	l := frameLayout{spec: s, given: nn.ObsFeatures(s)}
	l.alive = l.given + 1
	l.policy = l.alive + 1
	l.action = l.policy + nn.ActionOutputs(&s.Act)
	l.mask = l.action + max(1, s.Act.Dim)
	l.agent = l.mask + s.Act.Choices
	return l
}

// width is W.
func (l frameLayout) width() int { return l.spec.Agents * l.agent }

// frameBuffer keeps random frames of the most recent rollout batches, equally many of each and as many as fit.
type frameBuffer struct {
	frameLayout
	batches int       // most rollout batches
	limit   int       // most frames
	each    int       // frames kept of a batch, 0 before the first one
	frames  []float32 // [≤ batches, each, W] a ring of batches
	next    int       // place in the ring of the batch to come
}

// len is the number of frames kept.
func (b *frameBuffer) len() int { return len(b.frames) / b.width() }

// frame is the k-th frame kept, [W].
func (b *frameBuffer) frame(k int) []float32 { return b.frames[k*b.width() : (k+1)*b.width()] }

// add takes in the first of the frames of a rollout batch in that order [T·E]; write fills a frame.
func (b *frameBuffer) add(order []int32, write func(dst []float32, frame int)) {
	if b.each == 0 {
		b.each = min(len(order), max(1, b.limit/b.batches))
	}
	size := b.each * b.width()
	if b.next*size == len(b.frames) {
		b.frames = slices.Grow(b.frames, size)[:len(b.frames)+size]
	}
	for k, f := range order[:b.each] {
		write(b.frame(b.next*b.each+k), int(f))
	}
	b.next = (b.next + 1) % b.batches
}

// upper is the quantile of all sums of z kept.
func (b *frameBuffer) upper(quantile float64) float64 {
	var all []float32
	for from := 0; from < len(b.frames); from += b.agent {
		all = append(all, b.frames[from+b.given])
	}
	slices.Sort(all)
	return float64(all[int(quantile*float64(len(all)-1))])
}

// save appends the frames and their places to dst.
func (b *frameBuffer) save(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.next))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.each))
	dst, err := binary.Append(dst, binary.LittleEndian, b.frames)
	if err != nil {
		panic("explore: " + err.Error()) // float32 has a fixed size
	}
	return dst
}

// load continues from what save appended.
func (b *frameBuffer) load(data []byte) error {
	const header = 16
	if len(data) < header {
		return fmt.Errorf("explore: the saved buffer of mace has %d bytes, want at least %d", len(data), header)
	}
	next, each := int(binary.LittleEndian.Uint64(data)), int(binary.LittleEndian.Uint64(data[8:]))
	data = data[header:]
	batch, n := 4*each*b.width(), len(data)
	if next < 0 || next >= b.batches || each < 0 || n > 0 && (batch == 0 || n%batch != 0 || n/batch > b.batches) {
		return fmt.Errorf("explore: the saved buffer of mace does not fit %d rollout batches of frames of %d numbers",
			b.batches, b.width())
	}
	b.next, b.each, b.frames = next, each, make([]float32, n/4)
	_, err := binary.Decode(data, binary.LittleEndian, b.frames)
	return err
}
