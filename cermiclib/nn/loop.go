// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Loop is a Program that takes gradient steps. Where Backend.Updates is above 1, as on a GPU, one launch runs that
// many: it uploads their minibatches together, and the host waits once. On XLA's CPU backend the variables are equal
// in every bit to those after single steps, and the scalars to within rounding.
type Loop struct {
	*Program
	uploaded []bool // [inputs] whether the table of each input is on the device; nil for single steps
	launches int    // runs of the program so far
}

// loopBytes is the most memory that the minibatches of one launch take.
const loopBytes = 64 << 20

// gpuUpdates is Backend.Updates on a GPU: the 450 updates of MAPPO's iteration at the paper's settings are 4 launches,
// and a stop waits for one of them, which takes well under a second.
const gpuUpdates = 128

// NewLoop compiles fn as NewProgram does. Its only output are the scalars [S] of a gradient step.
func NewLoop(b *Build, name string, inputs []Input, fn graphFunc) (*Loop, error) {
	s := step{inputs: inputs, fn: fn}
	k := s.updates(b.Backend)
	if k < 2 {
		p, err := NewProgram(b, name, inputs, fn)
		return &Loop{Program: p}, err
	}
	if err := s.trace(b, name); err != nil {
		return nil, err
	}
	var fed []Input
	for _, in := range s.fed() {
		if in.Rows > 0 {
			in.Dims = slices.Concat([]int{in.Rows}, in.Dims[1:])
		} else {
			in.Dims = slices.Concat([]int{k}, in.Dims)
		}
		fed = append(fed, in)
	}
	p, err := NewProgram(b, name, append(fed, I32("done"), I32("updates")), s.loop(k))
	if err != nil {
		return nil, err
	}
	p.inputs, p.slots = s.fed(), k
	return &Loop{Program: p, uploaded: make([]bool, len(inputs))}, nil
}

// step is the gradient step that a loop repeats.
type step struct {
	inputs  []Input
	fn      graphFunc
	vars    []*model.Variable // variables that it reads, in alphabetical order
	changed []bool            // [vars] whether it sets each of them
	scalars int               // S
}

// fed returns the step's inputs and, behind them, the row numbers of its minibatch in the tables.
func (s *step) fed() []Input {
	rows := 1
	for _, in := range s.inputs {
		if in.Rows > 0 {
			rows = max(rows, in.Dims[0])
		}
	}
	return append(slices.Clone(s.inputs), I32("index", rows))
}

// updates returns the number of steps in one launch, K.
func (s *step) updates(b Backend) int {
	const each = 4 // bytes of a number
	size := 0
	for _, in := range s.fed() {
		if in.Rows == 0 {
			size += each * in.shape().Size()
		}
	}
	return min(b.Updates, loopBytes/size)
}

// trace builds the step once on the pure Go backend, which makes its variables, and lists them: a loop declares them
// before its body. Nothing runs.
func (s *step) trace(b *Build, name string) error {
	pure, err := OpenPure()
	if err != nil {
		return err
	}
	err = catch(func() error {
		exec, err := compile(pure.Backend, b.Store, name, s.inputs, func(sc *model.Scope, in []*Node) []*Node {
			out := s.fn(sc, in)
			for v := range b.Store.IterVariables() {
				if v.InUseByGraph(in[0].Graph()) {
					s.vars = append(s.vars, v)
				}
			}
			slices.SortFunc(s.vars, func(a, b *model.Variable) int { return strings.Compare(a.Path(), b.Path()) })
			for _, v := range s.vars {
				s.changed = append(s.changed, v.ChangedInGraph(in[0].Graph()))
			}
			s.scalars = out[0].Shape().Size()
			return out
		})
		if err == nil {
			exec.Finalize()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("nn: graph %s: %w", name, err)
	}
	return nil
}

// Positions in the state of a loop: steps done, steps to do, the scalars [K,S]. The current minibatch, all fed arrays
// and the variables follow.
const (
	loopDone = iota
	loopUpdates
	loopScalars
	loopMinibatch
)

// loop returns the graph of k steps. Everything enters the loop as its state, since closures of the XLA backend
// cannot capture nodes. The main function makes no scalar constant either: GoMLX caches them per graph and would use
// its node in the body.
func (s *step) loop(k int) graphFunc {
	return func(_ *model.Scope, in []*Node) []*Node {
		g, n := in[0].Graph(), len(in)-2
		scalars := ConstTensor(g, tensors.FromShape(shapes.Make(dtypes.Float32, k, s.scalars)))
		first := s.minibatch(in[:n], func(x *Node) *Node { return Squeeze(Slice(x, AxisElem(0)), 0) })
		state := slices.Concat([]*Node{in[n], in[n+1], scalars}, first, in[:n])
		for _, v := range s.vars {
			state = append(state, v.NodeValue(g))
		}
		declare := func(g *Graph) []*Node {
			params := make([]*Node, len(state))
			for i, x := range state {
				params[i] = Parameter(g, fmt.Sprintf("state_%d", i), x.Shape())
			}
			return params
		}
		more := NewClosure(g, func(g *Graph) []*Node {
			at := declare(g)
			return []*Node{LessThan(at[loopDone], at[loopUpdates])}
		})
		update := NewClosure(g, func(g *Graph) []*Node { return s.update(declare(g)) })
		after := While(more, update, state...)
		for i, v := range s.vars {
			at := len(state) - len(s.vars) + i
			if v.SetNodeValue(state[at]); s.changed[i] {
				v.SetNodeValue(after[at])
			}
		}
		return after[loopScalars : loopScalars+1]
	}
}

// update is the body of the loop: it maps a state to the next. It reads the minibatch from the state and puts the
// next one there. Read from the fed arrays, it would be fused with the step, which would then add in another order
// than a single step.
func (s *step) update(state []*Node) []*Node {
	fed, vars := loopMinibatch+len(s.inputs), len(state)-len(s.vars)
	next, done := slices.Clone(state), state[loopDone]
	for i, v := range s.vars {
		v.SetNodeValue(state[vars+i])
	}
	out := Reshape(s.fn(model.GetStore(done).RootScope(), state[loopMinibatch:fed])[0], 1, s.scalars)
	next[loopDone] = AddScalar(done, 1)
	next[loopScalars] = DynamicUpdateSlice(state[loopScalars], out, row(done, 2))
	copy(next[loopMinibatch:], s.minibatch(state[fed:vars], func(x *Node) *Node {
		one := slices.Concat([]int{1}, x.Shape().Dimensions[1:])
		return Squeeze(DynamicSlice(x, row(next[loopDone], x.Rank()), one), 0)
	}))
	for i, v := range s.vars {
		next[vars+i] = v.NodeValue(done)
	}
	return next
}

// minibatch returns the inputs of a step; slot selects the step's part of a stacked array [K,...].
func (s *step) minibatch(fed []*Node, slot func(*Node) *Node) (in []*Node) {
	index := InsertAxes(slot(fed[len(fed)-1]), -1)
	for i, declared := range s.inputs {
		if declared.Rows > 0 {
			in = append(in, Gather(fed[i], Slice(index, AxisRange(0, declared.Dims[0]))))
		} else {
			in = append(in, slot(fed[i]))
		}
	}
	return in
}

// row returns the start indices of row i, for an array with that rank.
func row(i *Node, rank int) []*Node {
	at := slices.Repeat([]*Node{ScalarZero(i.Graph(), i.DType())}, rank)
	at[0] = i
	return at
}

// Each takes one gradient step for every element of feeds, which writes the step's inputs before it yields. It yields
// the scalars of the steps in order; on a GPU some steps later. It ends with the first error, which may come from
// feeds, ctx or the graph, or be a NaN or infinite scalar.
func (l *Loop) Each(ctx context.Context, names []string, feeds iter.Seq[error]) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		defer func() { l.slot = 0 }()
		clear(l.uploaded)
		updates := 0
		for err := range feeds {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if l.slot++; l.slot == l.slots && !l.flush(names, &updates, yield) {
				return
			}
		}
		if l.slot > 0 {
			l.flush(names, &updates, yield)
		}
	}
}

// flush launches the steps that have been fed and yields their scalars. It counts them in updates and reports whether
// Each goes on.
func (l *Loop) flush(names []string, updates *int, yield func([]float32, error) bool) bool {
	scalars, err := l.launch()
	if err != nil {
		yield(nil, err)
		return false
	}
	for one := range slices.Chunk(scalars, len(names)) {
		*updates++
		if err := finite(names, one, *updates); err != nil {
			yield(nil, err)
			return false
		}
		if !yield(one, nil) {
			return false
		}
	}
	return true
}

// launch runs the l.slot steps that have been fed and returns their scalars.
func (l *Loop) launch() ([]float32, error) {
	count := l.slot
	if l.slot = 0; l.slots > 1 {
		tensors.MustMutableFlatData(l.fed[len(l.fed)-1], func(dst []int32) { dst[0] = int32(count) })
	}
	l.launches++
	if err := l.Run(); err != nil {
		return nil, err
	}
	scalars := make([]float32, l.out[0].Size())
	l.Read(0, scalars)
	return scalars[:len(scalars)/l.slots*count], nil
}

// finite names the first of an update's scalars that is NaN or infinite.
func finite(names []string, scalars []float32, update int) error {
	for i, name := range names {
		if v := float64(scalars[i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s became %g in update %d", name, v, update)
		}
	}
	return nil
}

// FeedFrom feeds the input of that name, which From declared, with the rows index of its table; fill writes one row. A
// launch of many steps uploads the whole table, once in a call of Each, and gathers on the device. All inputs of this
// kind share one index, or its beginning.
func FeedFrom[T float32 | int32](l *Loop, input string, index []int32, fill func(dst []T, row int)) {
	i := l.Input(input)
	if l.slots == 1 {
		FeedRows(l.Program, input, index, fill)
		return
	}
	l.FeedInt(len(l.inputs)-1, func(dst []int32) { copy(dst, index) })
	if l.uploaded[i] {
		return
	}
	l.uploaded[i] = true
	tensors.MustMutableFlatData(l.fed[i], func(dst []T) {
		width := len(dst) / l.inputs[i].Rows
		for row := range l.inputs[i].Rows {
			fill(dst[row*width:(row+1)*width], row)
		}
	})
}

// Means returns the mean of each named scalar over all steps, and the number of steps. It takes them as Each does.
func (l *Loop) Means(ctx context.Context, names []string, feeds iter.Seq[error]) (map[string]float64, int, error) {
	means, updates := make(map[string]float64, len(names)), 0
	for scalars, err := range l.Each(ctx, names, feeds) {
		if err != nil {
			return nil, updates, err
		}
		for i, name := range names {
			means[name] += float64(scalars[i])
		}
		updates++
	}
	for name := range means {
		means[name] /= float64(updates)
	}
	return means, updates, nil
}
