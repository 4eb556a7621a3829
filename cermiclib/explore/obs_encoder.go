// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// obsBlock is the number of agent steps that one call of the graph takes.
const obsBlock = 512

// frozenObs is nn.ReadObs with random weights that are never trained, for quantities whose meaning must not drift:
// [...,I] to [...,F]. Vectors pass unchanged.
func frozenObs(sc *model.Scope, s *envs.Spec, in *Node) *Node {
	out := nn.ReadObs(sc, s, in)
	for _, v := range nn.Variables(sc.Store(), sc.Scope()) {
		v.SetTrainable(false)
	}
	return StopGradient(out)
}

// obsEncoder holds the observations of a rollout as F numbers each. Vectors are unchanged; cells become the features of
// a random convolutional network. For cells that takes 4·F bytes for each agent step: 0.26 GB for the paper's rollout
// batch of 36,000 frames with 7 agents.
type obsEncoder struct {
	spec *envs.Spec
	see  *nn.Program // nil for vectors
	seen []float32   // [T+1,E,N,F] of x, for cells
	x    *rl.Rollout // last looked at
}

// newObsEncoder compiles the graph, whose variables lie below scope.
func newObsEncoder(b *nn.Build, scope string) (*obsEncoder, error) {
	e := &obsEncoder{spec: b.Spec}
	if b.Spec.CellLen() == 0 {
		return e, nil
	}
	var err error
	inputs := []nn.Input{nn.F32("obs", obsBlock, b.Spec.InLen())}
	e.see, err = nn.NewProgram(b, scope+".eyes", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{frozenObs(sc.At("%s", scope).At("eyes"), b.Spec, in[0])}
	})
	return e, err
}

// watch prepares now and next for x.
func (e *obsEncoder) watch(ctx context.Context, x *rl.Rollout) error {
	e.x = x
	if e.see == nil {
		return nil
	}
	f, rows := nn.ObsFeatures(e.spec), (x.T+1)*x.E*x.N
	if len(e.seen) != rows*f {
		e.seen = make([]float32, rows*f)
	}
	return e.see.EachRow(ctx, rows, []func([]float32, int){x.Gather}, func(_, row int, features []float32) {
		copy(e.seen[row*f:], features)
	})
}

// now is the observation at an agent step [F].
func (e *obsEncoder) now(row int) []float32 {
	if e.see == nil {
		return e.x.ObsRow(row)
	}
	f := nn.ObsFeatures(e.spec)
	return e.seen[row*f : (row+1)*f]
}

// next is the observation after an agent step. Where an episode ends, its cells belong to the start of the next episode
// and must not be used.
func (e *obsEncoder) next(row int) []float32 {
	if e.see == nil {
		return e.x.NextRow(row)
	}
	return e.now(row + e.x.E*e.x.N)
}
