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

// Loop is a Program of gradient steps. Where the backend says so, as on a GPU, one launch takes many of them: their minibatches are uploaded
// together and the steps follow one another on the device, so that the host waits once. Weights are the same as one at a time; reported sums may
// differ in the last bit, where XLA adds in another order.
type Loop struct {
	*Program
	uploaded []bool // which tables the device has, of each input; nil where steps are taken one at a time
}

// loopBytes bounds the minibatches of one launch.
const loopBytes = 64 << 20

// gpuUpdates is how many updates a launch on a GPU takes: enough for the launch to cost nothing, few enough to stop within a second.
const gpuUpdates = 32

// NewLoop compiles fn, which is as NewProgram's and returns one output, the scalars that a gradient step reports.
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
	return &Loop{p, make([]bool, len(inputs))}, nil
}

// step is a gradient step that a loop repeats.
type step struct {
	inputs  []Input
	fn      graphFunc
	vars    []*model.Variable // that it reads, in alphabetical order
	changed []bool            // whether it sets each of them
	scalars int               // that it reports
}

// fed are the step's inputs and the index of the rows of tables.
func (s *step) fed() []Input {
	rows := 1
	for _, in := range s.inputs {
		if in.Rows > 0 {
			rows = max(rows, in.Dims[0])
		}
	}
	return append(slices.Clone(s.inputs), I32("index", rows))
}

// updates is the number of updates of one launch.
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

// trace makes the step's variables and learns which it uses: a loop has to declare them before its body is built. Nothing runs.
func (s *step) trace(b *Build, name string) error {
	pure, err := OpenPure()
	if err != nil {
		return err
	}
	var declared []shapes.Shape
	for _, in := range s.inputs {
		declared = append(declared, in.shape())
	}
	err = catch(func() error {
		exec, err := compile(b, pure.Backend, name, declared, func(sc *model.Scope, in []*Node) []*Node {
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

// Places in the state of a loop: the counter, its end, the scalars of all updates; then what is fed, then variables.
const (
	loopDone = iota
	loopUpdates
	loopScalars
	loopFed
)

// loop returns the graph of k updates. Everything enters the loop as its state, since XLA's closures see nothing else. For the same reason the main
// function makes no scalar constant: GoMLX would hand the same node to the body.
func (s *step) loop(k int) graphFunc {
	return func(_ *model.Scope, in []*Node) []*Node {
		g, n := in[0].Graph(), len(in)-2
		scalars := ConstTensor(g, tensors.FromShape(shapes.Make(dtypes.Float32, k, s.scalars)))
		state := slices.Concat([]*Node{in[n], in[n+1], scalars}, in[:n])
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
			at := loopFed + n + i
			if v.SetNodeValue(state[at]); s.changed[i] {
				v.SetNodeValue(after[at])
			}
		}
		return after[loopScalars : loopScalars+1]
	}
}

// update is the body of the loop: from one state to the next.
func (s *step) update(state []*Node) []*Node {
	n, next, done := len(s.inputs), slices.Clone(state), state[loopDone]
	fed, vars := state[loopFed:loopFed+n+1], state[loopFed+n+1:]
	for i, v := range s.vars {
		v.SetNodeValue(vars[i])
	}
	slot := func(x *Node) *Node {
		return Squeeze(DynamicSlice(x, row(done, x.Rank()), slices.Concat([]int{1}, x.Shape().Dimensions[1:])), 0)
	}
	var in []*Node
	for i, declared := range s.inputs {
		if declared.Rows > 0 {
			index := Slice(slot(fed[n]), AxisRange(0, declared.Dims[0]))
			in = append(in, Gather(fed[i], InsertAxes(index, -1)))
		} else {
			in = append(in, slot(fed[i]))
		}
	}
	out := Reshape(s.fn(model.GetStore(done).RootScope(), in)[0], 1, s.scalars)
	next[loopDone] = AddScalar(done, 1)
	next[loopScalars] = DynamicUpdateSlice(state[loopScalars], out, row(done, 2))
	for i, v := range s.vars {
		next[loopFed+n+1+i] = v.NodeValue(done)
	}
	return next
}

// row is where row i of an array of so many axes begins.
func row(i *Node, rank int) []*Node {
	at := slices.Repeat([]*Node{ScalarZero(i.Graph(), i.DType())}, rank)
	at[0] = i
	return at
}

// Each takes an update for every element of feeds, which has written its inputs by then, and yields the scalars of the updates in order: on a
// GPU some updates later. It ends with the first error: one that feeds yields, ctx's, the graph's, or a NaN or infinite scalar, given by name.
func (l *Loop) Each(ctx context.Context, names []string, feeds iter.Seq[error]) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		defer func() { l.slot = 0 }()
		clear(l.uploaded)
		updates := 0
		launch := func() bool {
			scalars, err := l.launch()
			if err != nil {
				yield(nil, err)
				return false
			}
			for one := range slices.Chunk(scalars, len(names)) {
				updates++
				if err := finite(names, one, updates); err != nil {
					yield(nil, err)
					return false
				}
				if !yield(one, nil) {
					return false
				}
			}
			return true
		}
		for err := range feeds {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if l.slot++; l.slot == l.slots && !launch() {
				return
			}
		}
		if l.slot > 0 {
			launch()
		}
	}
}

// launch takes the updates whose inputs have been fed, l.slot of them, and returns their scalars.
func (l *Loop) launch() ([]float32, error) {
	count := l.slot
	if l.slot = 0; l.slots > 1 {
		tensors.MustMutableFlatData(l.fed[len(l.fed)-1], func(dst []int32) { dst[0] = int32(count) })
	}
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

// FeedFrom feeds input i, declared with From, with the rows index of its table; fill writes a row of the table. In a Loop of many updates a
// launch it fills the whole table, once in a call of Each, and the device takes the rows. All such inputs have the same index or the
// beginning of it.
func FeedFrom[T float32 | int32](l *Loop, i int, index []int32, fill func(dst []T, row int)) {
	rows := func(dst []T, count int, row func(k int) int) {
		width := len(dst) / count
		for k := range count {
			fill(dst[k*width:(k+1)*width], row(k))
		}
	}
	if l.slots == 1 {
		feed(l.Program, i, func(dst []T) { rows(dst, len(index), func(k int) int { return int(index[k]) }) })
		return
	}
	l.FeedInt(len(l.inputs)-1, func(dst []int32) { copy(dst, index) })
	if !l.uploaded[i] {
		l.uploaded[i] = true
		tensors.MustMutableFlatData(l.fed[i], func(dst []T) { rows(dst, l.inputs[i].Rows, func(k int) int { return k }) })
	}
}

// Means is Each for scalars of which only the means count. It returns the mean of each name over all updates, and their number.
func (l *Loop) Means(ctx context.Context, names []string, feeds iter.Seq[error]) (means map[string]float64, updates int, err error) {
	means = make(map[string]float64, len(names))
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
