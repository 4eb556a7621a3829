// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// scoreBatch is the number of agent steps per call of the scoring graph. Larger batches are not faster: θ and φ take
// 0.34 million multiply-adds per agent step, and XLA runs them at 80 % of the speed of a plain matrix product.
const scoreBatch = 512

// scorer is a compiled graph that maps agent steps, o_t [scoreBatch,I] and actions [scoreBatch,A], to the outputs of a
// form.
type scorer struct {
	cfg  Config
	prog *nn.Program
}

// newScorer compiles fn, whose inputs are the module's scope, o_t followed by further numbers, and the actions.
func (c Config) newScorer(b *nn.Build, name string, further int,
	fn func(sc *model.Scope, in []*graph.Node) []*graph.Node) (*scorer, error) {
	inputs := []nn.Input{
		nn.F32("obs", scoreBatch, b.Spec.InLen()+further), nn.F32("act", scoreBatch, c.actLen(b.Spec)),
	}
	prog, err := nn.NewProgram(b, name, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return fn(sc.At(scope), in)
	})
	return &scorer{c, prog}, err
}

// of returns all agent steps of x.
func (s *scorer) of(x *rl.Rollout) steps {
	return steps{
		obs: x.Gather,
		act: func(to []float32, row int) { s.cfg.action(x, to, row) },
	}
}

// each runs the graph on rows agent steps, batch by batch. read gets the outputs of steps first to last-1; later rows
// are undefined.
func (s *scorer) each(ctx context.Context, rows int, from steps, read func(first, last int) error) error {
	for first := 0; first < rows; first += scoreBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		last := min(first+scoreBatch, rows)
		s.feed(0, first, last, from.obs)
		s.feed(1, first, last, from.act)
		if err := s.prog.Run(); err != nil {
			return err
		}
		if err := read(first, last); err != nil {
			return err
		}
	}
	return nil
}

// feed writes agent steps first to last-1 into an input of the graph.
func (s *scorer) feed(input, first, last int, write func(to []float32, row int)) {
	s.prog.Feed(input, func(flat []float32) {
		width := len(flat) / scoreBatch
		for row := first; row < last; row++ {
			write(flat[(row-first)*width:(row-first+1)*width], row)
		}
	})
}
