// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// DB is the Dynamic Bottleneck (Bai et al. 2021): an agent is rewarded for steps whose dynamics-relevant code tells
// much. One module serves all agents, each of whose steps (o, a, o') is a sample:
//
//	s = f(o), s' = f⁻(o')                 encoder and its momentum copy
//	z ~ N(μ(s,a), σ²(s,a))                the bottleneck
//	L = w_kl·KL(N(μ,σ²) ‖ N(0,I)) − w_l2·log N(s'; G(z), σ_G²·I) − w_nce·log-softmax of the contrast of G(z) and s'
//	r = KL(N(μ,σ²) ‖ N(0,I))              or its root
//
// Sources: the description of the authors' code (Baichenjia/DB), which is for one agent and images; its sizes are 512
// and 128 where db_feat and db_latent are 64, the sizes of CERMIC: this is that module without context and chance
// constraints.
// Reconstructed: the encoder for vectors, the sharing among agents, the parametrisation of σ_G as exp of a clamped
// number.
type DB struct {
	Feat      int     `json:"db_feat" range:"1..8192" help:"length of the observation embedding s; the authors: 512"`
	Latent    int     `json:"db_latent" range:"1..8192" help:"length of the code z; the authors: 128"`
	Hidden    int     `json:"db_hidden" range:"2..8192" help:"width of the transition network and the heads; the authors: 256"`
	FeatNorm  bool    `json:"enc_ln" help:"s has mean 0 and variance 1 over its components, as in CERMIC"`
	Sqrt      bool    `json:"db_sqrt" help:"the bonus is the root of the KL divergence, as in the article; the authors' code: no root"`
	WeightKL  float64 `json:"db_kl" range:"0.." help:"weight of the KL loss; the authors: 0.1, or 0.001"`
	WeightL2  float64 `json:"db_l2" range:"0.." help:"weight of the prediction loss; the authors: 0.1"`
	WeightNCE float64 `json:"db_nce" range:"0.." help:"weight of the contrastive loss; the authors: 0.01, or 0.1"`
	Momentum  float64 `json:"db_tau_epoch" range:"0..1" help:"share, by which the EMA copies follow after each epoch; the authors: 0.001"`
	Epochs    int     `json:"db_epochs" range:"1..10000" help:"epochs over a rollout batch; the authors: 3"`
	Minibatch int     `json:"db_minibatch" range:"2..100000000" help:"agent steps per gradient step; each is a negative of the others"`
	ExtCoef   float64 `json:"ext_coef" range:"0.." help:"weight of the extrinsic reward; the authors: 0"`
	Bonus             // normalisation and weight of r; the authors': NativeDB
	nn.Adam           // the authors': lr 1e-4, clip 50
}

func init() { Register(DefaultDB()) }

// DefaultDB has the authors' weights, CERMIC's sizes, and the bonus on the scale of all methods.
func DefaultDB() DB {
	return DB{
		Feat: 64, Latent: 64, Hidden: 256, FeatNorm: true, WeightKL: 0.1, WeightL2: 0.1, WeightNCE: 0.01, Momentum: 0.001,
		Epochs: 3, Minibatch: 2400, ExtCoef: 1,
		Bonus: DefaultBonus("db"),
		Adam:  nn.Adam{LR: 1e-4, Eps: 1e-6, Clip: 50},
	}
}

// Scheduled keeps the module in proportion to small networks; it then takes larger steps, since fifty small rollout
// batches are all that there is to learn from.
func (c DB) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Hidden, c.Minibatch, c.LR = s.Width, 512, 1e-3
	}
	return c
}

// NativeDB is DefaultDB with the authors' own bonus: divided by the standard deviation of its discounted sums over
// all of training, and added to the reward as it is. Their learner normalises advantages, so that the scale of the
// bonus cancels where nothing else is rewarded, as in their experiments (ext_coef=0).
func NativeDB() DB {
	c := DefaultDB()
	c.IntNorm, c.IntCoef = NormReturnStd, 1
	return c
}

// Kind is "db".
func (DB) Kind() string { return "db" }

// Validate returns one sentence about the first impossible setting.
func (c DB) Validate() error { return conf.Check(c) }

// dbScope holds all variables of the module.
const dbScope = "db"

// dbScalars names what a gradient step reports, in order.
var dbScalars = []string{"db/loss", "db/kl", "db/log_likelihood", "db/contrast", "db/grad_norm"}

// db is a DB in a running experiment.
type db struct {
	cfg   DB
	seed  uint64
	score *nn.Program // observations and actions to KL
	step  *nn.Loop    // gradient steps
	track *nn.Program // one step of the momentum copies
	order []int32     // [T,E,N] permutation of the agent steps
	raw   []float32   // [T,E,N] r of the last rollout
	kl    []float32   // [Minibatch]
	RewardNormaliser
}

var (
	_ rl.Saver  = (*db)(nil)
	_ rl.Scorer = (*db)(nil)
)

// Build compiles the module's two graphs.
func (c DB) Build(b *nn.Build) (Module, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &db{cfg: c, seed: b.Seed, kl: make([]float32, c.Minibatch), RewardNormaliser: NewRewardNormaliser(c.Bonus)}
	rows, o, a := c.Minibatch, b.Spec.InLen(), b.Spec.Act.Len()
	var err error
	m.score, err = nn.NewProgram(b, "db.reward", []nn.Input{nn.F32("obs", rows, o), nn.F32("act", rows, a)},
		func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			sc = sc.At(dbScope).At("online")
			mean, scale := c.transition(sc, c.encode(sc, b.Spec, in[0]), in[1])
			return []*graph.Node{divergence(mean, scale)}
		})
	if err != nil {
		return nil, err
	}
	inputs := []nn.Input{
		nn.F32("obs", rows, o), nn.F32("act", rows, a), nn.F32("next", rows, o), nn.F32("noise", rows, c.Latent), nn.F32("weight", rows),
		nn.F32("sample", rows, c.Feat),
	}
	m.step, err = nn.NewLoop(b, "db.update", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return c.train(sc.At(dbScope), dbIn{spec: b.Spec, obs: in[0], act: in[1], next: in[2], noise: in[3], weight: in[4], sample: in[5]})
	})
	if err != nil {
		return nil, err
	}
	m.track, err = nn.NewProgram(b, "db.momentum", []nn.Input{nn.F32("unused", 1)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		c.follow(sc.At(dbScope), in[0])
		return in
	})
	return m, err
}

// Behave leaves the policy's distribution as it is.
func (*db) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

// Reward rewards every agent for the information in the code of its step.
func (m *db) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if len(m.raw) != x.Rows() {
		m.raw, m.order = make([]float32, x.Rows()), make([]int32, x.Rows())
	}
	err := m.scoreRows(ctx, m.raw, func(row int, obs, act []float32) {
		x.Gather(obs, row)
		x.ActionVector(act, row)
	})
	if err != nil {
		return nil, err
	}
	x.ExtrinsicWeight = float32(m.cfg.ExtCoef)
	return m.Apply(x, m.raw, "db"), nil
}

// Score computes the bonus of old agent steps, as rl.Scorer says.
func (m *db) Score(ctx context.Context, dst, obs, act []float32, _ []uint8) error {
	o, a := len(obs)/len(dst), len(act)/len(dst)
	err := m.scoreRows(ctx, dst, func(row int, toObs, toAct []float32) {
		copy(toObs, obs[row*o:(row+1)*o])
		copy(toAct, act[row*a:(row+1)*a])
	})
	for row, r := range dst {
		dst[row] = m.Scaled(r)
	}
	return err
}

// CanScore is nil: it always can.
func (*db) CanScore() error { return nil }

// scoreRows fills dst [B] with r of the agent steps that fill writes.
func (m *db) scoreRows(ctx context.Context, dst []float32, fill func(row int, obs, act []float32)) error {
	for from := 0; from < len(dst); from += m.cfg.Minibatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+m.cfg.Minibatch, len(dst))
		m.score.Feed(0, func(obs []float32) {
			m.score.Feed(1, func(act []float32) {
				o, a := len(obs)/m.cfg.Minibatch, len(act)/m.cfg.Minibatch
				for row := from; row < to; row++ {
					k := row - from
					fill(row, obs[k*o:(k+1)*o], act[k*a:(k+1)*a])
				}
			})
		})
		if err := m.score.Run(); err != nil {
			return err
		}
		m.score.Read(0, m.kl)
		for k, kl := range m.kl[:to-from] {
			if m.cfg.Sqrt {
				kl = float32(math.Sqrt(max(float64(kl), 0))) // rounding may leave a KL of zero slightly negative
			}
			dst[from+k] = kl
		}
	}
	return nil
}

// Update trains the module on the agent steps of x: db_epochs passes in random order.
func (m *db) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	out, fed, steps := rl.Scalars{}, uint64(0), 0.0
	for epoch := range m.cfg.Epochs {
		rng.New(m.seed, "db rows", uint64(x.Iteration), uint64(epoch)).Perm(m.order)
		minibatches := func(yield func(error) bool) {
			for rows := range slices.Chunk(m.order, m.cfg.Minibatch) {
				m.feed(x, rows, fed)
				if fed++; !yield(nil) {
					return
				}
			}
		}
		for scalars, err := range m.step.Each(ctx, dbScalars, minibatches) {
			if err != nil {
				return nil, err
			}
			for i, name := range dbScalars {
				out[name] += float64(scalars[i])
			}
			steps++
		}
		if err := m.track.Run(); err != nil {
			return nil, err
		}
	}
	for name := range out {
		out[name] /= steps
	}
	return out, nil
}

// feed writes one minibatch of agent steps; rows beyond len(rows) are padding of weight 0.
func (m *db) feed(x *rl.Rollout, rows []int32, step uint64) {
	nn.FeedRows(m.step.Program, 0, len(rows), func(k int, dst []float32) { x.Gather(dst, int(rows[k])) })
	nn.FeedRows(m.step.Program, 1, len(rows), func(k int, dst []float32) { x.ActionVector(dst, int(rows[k])) })
	nn.FeedRows(m.step.Program, 2, len(rows), func(k int, dst []float32) { x.Next(dst, rows[k:k+1]) })
	for input, purpose := range map[int]string{3: "db noise", 5: "db sample"} {
		m.step.Feed(input, func(dst []float32) {
			r := rng.New(m.seed, purpose, uint64(x.Iteration), step)
			for i := range dst {
				dst[i] = r.Norm()
			}
		})
	}
	m.step.Feed(4, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[k] = float32(x.Alive[row])
		}
	})
}
