// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// MLP is the stateless memory of Appendix C. f_n is a function of the present observation alone, f_{n-1} the same
// function of the one before.
//
// Reading: the paper's paragraph on this memory ends in mid-sentence. We let n advance with every step. f_{n-1} then
// exists wherever the previous step is in the same episode and in the same rollout batch.
type MLP struct {
	Embed  int `json:"d_obs_enc" range:"1..8192" help:"length of the observation embedding; the paper: 64"`
	Hidden int `json:"hidden" range:"1..8192" help:"width of both hidden layers after the embedding; the paper: 128"`
	Width  int `json:"d_f" range:"1..8192" help:"F, length of the context f_n^o; the paper: 256"`
	Start
}

func init() { Register(DefaultMLP()) }

// DefaultMLP returns the sizes of the paper's table.
func DefaultMLP() MLP { return MLP{Embed: 64, Hidden: 128, Width: 256} }

// Scheduled has layers of the schedule's width.
func (c MLP) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Hidden, c.Width = s.Width, s.Width
	}
	return c
}

// bare is the config for pre-training this memory.
func (c MLP) bare() Config {
	c.Start = Start{}
	return c
}

// Kind is "mlp".
func (MLP) Kind() string { return "mlp" }

// Validate returns one sentence about the first impossible setting.
func (c MLP) Validate() error { return validate(c, c.Pretrain, c.Weights) }

// Build returns the memory for b's task.
func (c MLP) Build(b *nn.Build) (Memory, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	weights, err := loadFor("mlp", b.Files, c.Weights)
	if err != nil {
		return nil, err
	}
	return &mlp{c, b.Spec, weights}, nil
}

type mlp struct {
	MLP
	spec    *envs.Spec
	weights *Pretrained // nil without pre-training
}

func (m *mlp) Shape() Shape { return Shape{Width: m.Width, Chunk: 1} }

func (m *mlp) Inputs(b int) []nn.Input {
	return []nn.Input{nn.F32("now", b, m.spec.InLen()), nn.F32("before", b, m.spec.InLen()), nn.F32("exists", b)}
}

func (m *mlp) Gather(p nn.Feeder, first int, x *rl.Rollout, rows []int32) {
	step := x.E * x.N
	nn.FeedEach(p, first, rows, x.Gather)
	nn.FeedEach(p, first+1, rows, func(dst []float32, row int) {
		x.Gather(dst, max(row-step, row%step)) // at t = 0 any finite value will do
	})
	nn.FeedEach(p, first+2, rows, func(dst []float32, row int) {
		if dst[0] = 0; row >= step && x.IsFirst[row/x.N] == 0 {
			dst[0] = 1
		}
	})
}

func (m *mlp) Context(sc *model.Scope, in []*graph.Node) Context {
	fresh := len(nn.Variables(sc.Store(), sc.Scope())) == 0
	out := Context{Now: m.feature(sc, in[0]), Before: m.feature(sc, in[1]), Exists: in[2]}
	m.weights.fill(sc, fresh, mlpParts)
	return out
}

// feature maps observations [B,I] to [B,F], of fixed scale. Negatives for the critic are drawn in units of the
// feature's spread, which a growing scale would make meaningless.
func (m *mlp) feature(sc *model.Scope, obs *graph.Node) *graph.Node {
	e := nn.Encode(sc.At("encoder"), m.spec, obs, m.Embed)
	return nn.Normalize(nn.MLP(sc.At("feature"), e, []int{m.Hidden, m.Hidden}, nn.LeakyReLU, m.Width))
}
