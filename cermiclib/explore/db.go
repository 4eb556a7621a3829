// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/rng"
)

// DB is the Dynamic Bottleneck (Bai et al. 2021): an agent is rewarded for steps whose code of the dynamics has a high
// information content. One module serves all agents. Each agent step (o, a, o') is a sample.
//
//	s = f(o), s' = f⁻(o')                 encoder and its momentum copy
//	z ~ N(μ(s,a), σ²(s,a))                the bottleneck
//	L = w_kl·KL(N(μ,σ²) ‖ N(0,I)) − w_l2·log N(s'; G(z), σ_G²·I) − w_nce·log-softmax of the contrast of G(z) and s'
//	r = KL(N(μ,σ²) ‖ N(0,I))              as in their code; the article has its root
//
// Sources: the description of the authors' code (Baichenjia/DB). It is for one agent and images, with sizes 512 and
// 128. db_feat and db_latent are 64 here, as in CERMIC: DB is CERMIC's module without context and chance constraints.
// Reconstructed: the encoder for vectors, the sharing among agents, the parametrisation of σ_G as exp of a clamped
// number.
type DB struct {
	Feat      int     `json:"db_feat" range:"1..8192" help:"length of the observation embedding s; the authors: 512"`
	Latent    int     `json:"db_latent" range:"1..8192" help:"length of the code z; the authors: 128"`
	Hidden    int     `json:"db_hidden" range:"2..8192" help:"width of the transition network and the heads; the authors: 256"`
	WeightKL  float64 `json:"db_kl" range:"0.." help:"weight of the KL loss; the authors: 0.1, or 0.001"`
	WeightL2  float64 `json:"db_l2" range:"0.." help:"weight of the prediction loss; the authors: 0.1"`
	WeightNCE float64 `json:"db_nce" range:"0.." help:"weight of the contrastive loss; the authors: 0.01, or 0.1"`
	Momentum  float64 `json:"db_tau_epoch" range:"0..1" help:"fraction by which the EMA copies follow after each epoch; the authors: 0.001"`
	Epochs    int     `json:"db_epochs" range:"1..10000" help:"epochs over a rollout batch; the authors: 3"`
	Minibatch int     `json:"db_minibatch" range:"2..100000000" help:"agent steps per gradient step; each is a negative of the others"`
	ExtCoef   float64 `json:"ext_coef" range:"0.." help:"weight of the extrinsic reward; the authors: 0"`
	Bonus             // normalisation and weight of r; the authors': return_std, weight 1
	nn.Adam           // the authors': lr 1e-4, clip 50

	// Former settings.
	_ conf.Constant `key:"enc_ln" value:"true"`
	_ conf.Constant `key:"db_sqrt" value:"false"`
}

func init() { Register(DefaultDB()) }

// DefaultDB has the authors' weights, CERMIC's sizes, and the bonus on the scale of all methods.
func DefaultDB() DB {
	return DB{
		Feat: 64, Latent: 64, Hidden: 256, WeightKL: 0.1, WeightL2: 0.1, WeightNCE: 0.01, Momentum: 0.001,
		Epochs: 3, Minibatch: 2400, ExtCoef: 1,
		Bonus: DefaultBonus("db"),
		Adam:  nn.Adam{LR: 1e-4, Eps: 1e-6, Clip: 50},
	}
}

// Scheduled keeps the module in proportion to small networks. It then takes larger steps, since training has only fifty
// small rollout batches.
func (c DB) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Hidden, c.Minibatch, c.LR = s.Width, 512, 1e-3
	}
	return c
}

// Kind is "db".
func (DB) Kind() string { return "db" }

// dbScope holds all variables of the module.
const dbScope = "db"

// dbScalars names what a gradient step reports, in order.
var dbScalars = []string{"db/loss", "db/kl", "db/log_likelihood", "db/contrast", "db/grad_norm"}

// db is a DB in a running experiment.
type db struct {
	none
	cfg   DB
	seed  uint64
	score *nn.Program // observations and actions to KL
	step  *nn.Loop    // gradient steps
	track *nn.Program // one step of the momentum copies
	RewardNormaliser
}

var _ rl.Saver = (*db)(nil)

// Build compiles the module's graphs.
func (c DB) Build(b *nn.Build) (Module, error) {
	m := &db{cfg: c, seed: b.Seed, RewardNormaliser: NewRewardNormaliser(c.Bonus)}
	rows, o, a := c.Minibatch, b.Spec.InLen(), b.Spec.Act.Len()
	seen := []nn.Input{nn.F32("obs", rows, o), nn.F32("act", rows, a)}
	var err error
	m.score, err = nn.NewProgram(b, "db.reward", seen, func(sc *model.Scope, in []*Node) []*Node {
		sc = sc.At(dbScope).At("online")
		mean, scale := c.transition(sc, c.encode(sc, b.Spec, in[0]), in[1])
		return []*Node{divergence(mean, scale)}
	})
	if err != nil {
		return nil, err
	}
	inputs := append(seen,
		nn.F32("next", rows, o),         // true next observations
		nn.F32("noise", rows, c.Latent), // standard normal
		nn.F32("weight", rows),          // 0 for padding and dead agents
		nn.F32("sample", rows, c.Feat))  // standard normal, of the generator
	m.step, err = nn.NewLoop(b, "db.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return c.train(sc.At(dbScope), b.Spec, nn.Named(inputs, in))
	})
	if err != nil {
		return nil, err
	}
	unused := []nn.Input{nn.F32("unused", 1)}
	m.track, err = nn.NewProgram(b, "db.momentum", unused, func(sc *model.Scope, in []*Node) []*Node {
		c.follow(sc.At(dbScope), in[0])
		return in
	})
	return m, err
}

// scaleFloor keeps the spread of z away from 0.
const scaleFloor = 1e-3

// Clamp of the log of σ_G: the authors' floor of 0.1, and a ceiling far above any use.
var logSpreadMin, logSpreadMax = math.Log(0.1), 2.0

// encode maps o [B,I] to s [B,S], of mean 0 and variance 1 over its components as in CERMIC.
func (c DB) encode(sc *model.Scope, s *envs.Spec, obs *Node) *Node {
	return nn.Encode(sc.At("encoder"), s, obs, c.Feat)
}

// transition maps s [B,S] and the action [B,A] to mean and spread of z, both [B,Z].
func (c DB) transition(sc *model.Scope, s, act *Node) (mean, scale *Node) {
	out := Split(nn.Transition(sc.At("transition"), s, act, c.Hidden, 2*c.Latent), -1, 2)
	return out[0], MaxScalar(Softplus(out[1]), scaleFloor)
}

// divergence is KL(N(mean, scale²) ‖ N(0, I)) [B], summed over components:
//
//	KL = Σ ½(μ² + σ² − 1) − log σ
func divergence(mean, scale *Node) *Node {
	each := Sub(MulScalar(AddScalar(Add(Square(mean), Square(scale)), -1), 0.5), Log(scale))
	return ReduceSum(each, -1)
}

// generate maps z [B,Z] to the mean of s' [B,S] and the log of its spread, a scalar.
func (c DB) generate(sc *model.Scope, z *Node) (mean, logSpread *Node) {
	sc = sc.At("generator")
	x := nn.LeakyReLU(nn.Linear(sc.At("in"), z, c.Hidden))
	for i := range 2 {
		x = nn.Residual(sc.At("block_%d", i), x, c.Hidden)
	}
	x = nn.LeakyReLU(nn.Linear(sc.At("widen"), x, 2*c.Hidden))
	x = nn.Residual(sc.At("block_2"), x, 2*c.Hidden)
	mean = nn.Linear(sc.At("out"), x, c.Feat)
	return mean, ClipScalar(nn.Weight(sc, z, "log_spread", nn.AllZero), logSpreadMin, logSpreadMax)
}

// project maps features [B,S] to the projections that contrast compares, [B,H/2].
func (c DB) project(sc *model.Scope, s *Node) *Node {
	y := nn.ReLU(nn.Normalize(nn.Linear(sc.At("hidden"), s, c.Hidden)))
	return nn.Normalize(nn.Linear(sc.At("out"), y, c.Hidden/2))
}

// train takes one gradient step and reports dbScalars.
func (c DB) train(sc *model.Scope, spec *envs.Spec, in map[string]*Node) []*Node {
	online, momentum := sc.At("online"), sc.At("momentum")
	s, weight := c.encode(online, spec, in["obs"]), in["weight"]
	next := StopGradient(c.encode(momentum, spec, in["next"]))
	mean, scale := c.transition(online, s, in["act"])
	predicted, logSpread := c.generate(online, Add(mean, Mul(scale, in["noise"])))

	kl := divergence(mean, scale)
	likelihood := ReduceSum(nn.LogNormal(Mul(Sub(next, predicted), Exp(Neg(logSpread))), logSpread), -1)
	sampled := Add(predicted, Mul(Exp(logSpread), in["sample"]))
	contrast := c.contrast(online, momentum, sampled, next, weight)

	terms := []*Node{nn.Average(kl, weight), nn.Average(likelihood, weight), nn.Average(contrast, weight)}
	loss := nn.Times(terms[0], "db/kl", c.WeightKL)
	loss = Sub(loss, Add(nn.Times(terms[1], "db/l2", c.WeightL2), nn.Times(terms[2], "db/nce", c.WeightNCE)))
	for _, part := range dbTwins {
		nn.TargetCopy(online.At("%s", part), momentum.At("%s", part))
	}
	norm := c.Adam.Minimize(online, loss)
	return []*Node{Stack([]*Node{loss, terms[0], terms[1], terms[2], norm}, 0)}
}

// dbTwins are the parts of the module that have a momentum copy.
var dbTwins = []string{"encoder", "projection"}

// follow moves the momentum copies, as the authors do after each epoch. node is any of the graph.
func (c DB) follow(sc *model.Scope, node *Node) {
	for _, part := range dbTwins {
		nn.Follow(node.Graph(), sc.At("online").At("%s", part), sc.At("momentum").At("%s", part), c.Momentum)
	}
}

// contrast is the log-probability [B] with which each sample of the generator picks its own s' in the minibatch. It
// scores pairs by a bilinear form of both projections; the projection of s' is a momentum copy.
func (c DB) contrast(online, momentum *model.Scope, sampled, next, weight *Node) *Node {
	query := c.project(online.At("projection"), sampled)
	key := StopGradient(c.project(momentum.At("projection"), next))
	width := c.Hidden / 2
	w := nn.Weight(online.At("bilinear"), query, "weights", nn.FanIn(width), width, width)
	return nn.OwnLogProb(Dot(Dot(query, w).Product(), Transpose(key, 0, 1)).Product(), weight)
}

// Reward rewards every agent for the information in the code of its step.
func (m *db) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	raw, inputs := make([]float32, x.Rows()), []func([]float32, int){x.Gather, x.ActionVector}
	err := m.score.EachRow(ctx, len(raw), inputs, func(_, row int, kl []float32) { raw[row] = kl[0] })
	if err != nil {
		return nil, err
	}
	x.ExtrinsicWeight = float32(m.cfg.ExtCoef)
	return m.Apply(x, raw, "db"), nil
}

// Update trains the module on the agent steps of x: db_epochs passes in random order.
func (m *db) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	out, fed, steps, order := rl.Scalars{}, uint64(0), 0.0, make([]int32, x.Rows())
	for epoch := range m.cfg.Epochs {
		rng.New(m.seed, "db rows", uint64(x.Iteration), uint64(epoch)).Perm(order)
		minibatches := func(yield func(error) bool) {
			for rows := range slices.Chunk(order, m.cfg.Minibatch) {
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
	p := m.step.Program
	nn.FeedRows(p, "obs", rows, x.Gather)
	nn.FeedRows(p, "act", rows, x.ActionVector)
	nn.FeedRows(p, "next", rows, x.GatherNext)
	for _, input := range []string{"noise", "sample"} {
		r := rng.New(m.seed, "db "+input, uint64(x.Iteration), step)
		p.Feed(p.Input(input), func(dst []float32) { nn.Normal(r, dst, nil) })
	}
	p.Feed(p.Input("weight"), func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[k] = float32(x.Alive[row])
		}
	})
}
