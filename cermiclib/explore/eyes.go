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

// eyesBlock is the number of agent steps that one call of the eyes' graph takes.
const eyesBlock = 512

// frozenSee is nn.See with weights that stay as they were drawn, for quantities whose meaning must not drift: [...,I] to [...,F].
// Vectors pass unchanged.
func frozenSee(sc *model.Scope, s *envs.Spec, in *Node) *Node {
	out := nn.See(sc, s, in)
	for _, v := range nn.Variables(sc.Store(), sc.Scope()) {
		v.SetTrainable(false)
	}
	return StopGradient(out)
}

// eyes hold what the agents of a rollout saw as F numbers each: vectors as they are, cells as the features of a random
// convolutional network. For cells that takes 4·F bytes for each agent step: 0.26 GB for the paper's collection of 36,000 frames
// with 7 agents.
type eyes struct {
	spec *envs.Spec
	see  *nn.Program // nil for vectors
	seen []float32   // [T+1,E,N,F] of x, for cells
	x    *rl.Rollout // last looked at
}

// newEyes compiles the graph, whose variables lie below scope.
func newEyes(b *nn.Build, scope string) (*eyes, error) {
	e := &eyes{spec: b.Spec}
	if b.Spec.CellLen() == 0 {
		return e, nil
	}
	var err error
	inputs := []nn.Input{nn.F32("obs", eyesBlock, b.Spec.InLen())}
	e.see, err = nn.NewProgram(b, scope+".eyes", inputs, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{frozenSee(sc.At("%s", scope).At("eyes"), b.Spec, in[0])}
	})
	return e, err
}

// watch looks at x, whose agent steps can then be asked for.
func (e *eyes) watch(ctx context.Context, x *rl.Rollout) error {
	e.x = x
	if e.see == nil {
		return nil
	}
	f, rows := nn.SeenLen(e.spec), (x.T+1)*x.E*x.N
	if len(e.seen) != rows*f {
		e.seen = make([]float32, rows*f)
	}
	block := make([]float32, eyesBlock*f)
	for from := 0; from < rows; from += eyesBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(eyesBlock, rows-from)
		e.see.Feed(0, func(dst []float32) { x.LookFrom(dst[:n*e.spec.InLen()], from) })
		if err := e.see.Run(); err != nil {
			return err
		}
		e.see.Read(0, block)
		copy(e.seen[from*f:], block[:n*f])
	}
	return nil
}

// now is what was seen at an agent step [F].
func (e *eyes) now(row int) []float32 {
	if e.see == nil {
		return e.x.ObsRow(row)
	}
	f := nn.SeenLen(e.spec)
	return e.seen[row*f : (row+1)*f]
}

// next is what was seen after an agent step. Of cells it is of no use where an episode ends, and then the beginning of the next.
func (e *eyes) next(row int) []float32 {
	if e.see == nil {
		return e.x.NextRow(row)
	}
	return e.now(row + e.x.E*e.x.N)
}
