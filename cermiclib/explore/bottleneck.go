// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// dbIn are the inputs of a gradient step of the Dynamic Bottleneck.
type dbIn struct {
	spec   *envs.Spec
	obs    *Node // [B,I]
	act    *Node // [B,A]
	next   *Node // [B,I] true next observations
	noise  *Node // [B,Z] standard normal
	weight *Node // [B] 0 for padding and dead agents
	sample *Node // [B,S] standard normal, of the generator
}

// scaleFloor keeps the spread of z away from 0.
const scaleFloor = 1e-3

// Clamp of the log of σ_G: the authors' floor of 0.1, and a ceiling far above any use.
var logSpreadMin, logSpreadMax = math.Log(0.1), 2.0

// encode maps o [B,I] to s [B,S].
func (c DB) encode(sc *model.Scope, s *envs.Spec, obs *Node) *Node {
	return nn.Encode(sc.At("encoder"), s, obs, c.Feat, c.FeatNorm)
}

// transition maps s [B,S] and the action [B,A] to mean and spread of z, both [B,Z].
func (c DB) transition(sc *model.Scope, s, act *Node) (mean, scale *Node) {
	sc = sc.At("transition")
	x := nn.LeakyReLU(nn.Linear(sc.At("in"), besides(s, act), c.Hidden))
	for i := range 2 {
		block := sc.At("block_%d", i)
		y := nn.LeakyReLU(nn.Linear(block.At("first"), besides(x, act), c.Hidden))
		x = Add(x, nn.Linear(block.At("second"), besides(y, act), c.Hidden))
	}
	out := Split(nn.Linear(sc.At("out"), besides(x, act), 2*c.Latent), -1, 2)
	return out[0], MaxScalar(Softplus(out[1]), scaleFloor)
}

func besides(x, act *Node) *Node { return Concatenate([]*Node{x, act}, -1) }

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
		x = residual(sc.At("block_%d", i), x, c.Hidden)
	}
	x = nn.LeakyReLU(nn.Linear(sc.At("widen"), x, 2*c.Hidden))
	x = residual(sc.At("block_2"), x, 2*c.Hidden)
	mean = nn.Linear(sc.At("out"), x, c.Feat)
	return mean, ClipScalar(nn.Weight(sc, z, "log_spread", nn.AllZero), logSpreadMin, logSpreadMax)
}

// residual adds two layers of x [B,width] to x.
func residual(sc *model.Scope, x *Node, width int) *Node {
	return Add(x, nn.Linear(sc.At("second"), nn.LeakyReLU(nn.Linear(sc.At("first"), x, width)), width))
}

// project maps features [B,S] to what the contrast compares, [B,H/2].
func (c DB) project(sc *model.Scope, s *Node) *Node {
	y := nn.ReLU(nn.Normalize(nn.Linear(sc.At("hidden"), s, c.Hidden)))
	return nn.Normalize(nn.Linear(sc.At("out"), y, c.Hidden/2))
}

// train takes one gradient step and reports dbScalars.
func (c DB) train(sc *model.Scope, in dbIn) []*Node {
	online, momentum := sc.At("online"), sc.At("momentum")
	s := c.encode(online, in.spec, in.obs)
	next := StopGradient(c.encode(momentum, in.spec, in.next))
	mean, scale := c.transition(online, s, in.act)
	predicted, logSpread := c.generate(online, Add(mean, Mul(scale, in.noise)))

	kl := divergence(mean, scale)
	z := Mul(Sub(next, predicted), Exp(Neg(logSpread)))
	likelihood := ReduceSum(Neg(AddScalar(Add(MulScalar(Square(z), 0.5), logSpread), 0.5*math.Log(2*math.Pi))), -1)
	sampled := Add(predicted, Mul(Exp(logSpread), in.sample))
	contrast := c.contrast(online, momentum, sampled, next, in.weight)

	terms := []*Node{average(kl, in.weight), average(likelihood, in.weight), average(contrast, in.weight)}
	loss := Sub(nn.Times(terms[0], "db/kl", c.WeightKL), Add(nn.Times(terms[1], "db/l2", c.WeightL2), nn.Times(terms[2], "db/nce", c.WeightNCE)))
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

// contrast is the log-probability [B] with which each sample of the generator picks its own s' among those of the
// minibatch, by a bilinear form of both projections; the one of s' is a momentum copy.
func (c DB) contrast(online, momentum *model.Scope, sampled, next, weight *Node) *Node {
	query := c.project(online.At("projection"), sampled)
	key := StopGradient(c.project(momentum.At("projection"), next))
	width := c.Hidden / 2
	w := nn.Weight(online.At("bilinear"), query, "weights", nn.FanIn(width), width, width)
	scores := Dot(Dot(query, w).Product(), Transpose(key, 0, 1)).Product()      // [B,B]
	scores = Add(scores, ExpandLeftToRank(MulScalar(MinusOne(weight), 1e9), 2)) // rows that only fill up are no candidates
	b := scores.Shape().Dimensions[0]
	return ReduceSum(Mul(LogSoftmax(scores, -1), DiagonalWithValue(ScalarOne(scores.Graph(), scores.DType()), b)), -1)
}

// average of v [B] over the rows that count.
func average(v, weight *Node) *Node {
	return Div(ReduceAllSum(Mul(v, weight)), MaxScalar(ReduceAllSum(weight), 1))
}
