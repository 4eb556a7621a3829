// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Input declares one input of a Program.
type Input struct {
	Name  string
	DType dtypes.DType
	Dims  []int
	Rows  int // rows of the table that FeedFrom gathers from; 0: no table
}

// F32 declares a float32 input.
func F32(name string, dims ...int) Input { return Input{Name: name, DType: dtypes.Float32, Dims: dims} }

// I32 declares an int32 input.
func I32(name string, dims ...int) Input { return Input{Name: name, DType: dtypes.Int32, Dims: dims} }

// From declares that FeedFrom gathers the rows of in from a table of that many rows.
func (in Input) From(rows int) Input {
	in.Rows = rows
	return in
}

func (in Input) shape() shapes.Shape { return shapes.Make(in.DType, in.Dims...) }

// Named gives the nodes of a graph's inputs by the names that they were declared with.
func Named(inputs []Input, nodes []*graph.Node) map[string]*graph.Node {
	named := make(map[string]*graph.Node, len(inputs))
	for i, in := range inputs {
		named[in.Name] = nodes[i]
	}
	return named
}

// Program is one compiled computation of fixed shapes over the variables of a store. Its inputs are persistent and
// refilled in place, so that running it neither allocates on the host nor compiles a second time. Not safe for
// concurrent use; a Program that changes variables must not overlap with any other Program of the store.
type Program struct {
	name   string
	inputs []Input
	slots  int // steps in one launch of a Loop, which are stacked in fed; else 1
	slot   int // step whose inputs Feed writes
	fed    []*tensors.Tensor
	args   []any
	exec   *model.Exec
	out    []*tensors.Tensor
}

// graphFunc builds a graph: it maps a scope at the store's root and the inputs to the outputs.
type graphFunc = func(sc *model.Scope, in []*graph.Node) []*graph.Node

// NewProgram compiles fn, which gets a scope at the store's root and the inputs in the declared order and returns the
// outputs. Variables whose value fn sets are updated by every Run. An error names the graph and the cause, shapes
// included.
func NewProgram(b *Build, name string, inputs []Input, fn graphFunc) (*Program, error) {
	g := &Program{name: name, inputs: inputs, slots: 1}
	b.programs = append(b.programs, g) // also if it fails: its inputs are to be released
	for _, in := range inputs {
		t, err := tensors.FromShapeForBackend(b.Backend.Backend, 0, in.shape())
		if err != nil {
			return nil, fmt.Errorf("nn: graph %s, input %s: %w", name, in.Name, firstLine(err))
		}
		g.fed = append(g.fed, t)
		g.args = append(g.args, t)
	}
	err := catch(func() error {
		exec, err := compile(b.Backend.Backend, b.Store, name, inputs, fn)
		g.exec = exec
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("nn: graph %s: %w", name, err)
	}
	return g, nil
}

// compile builds fn for inputs.
func compile(backend compute.Backend, store *model.Store, name string, inputs []Input, fn graphFunc) (
	*model.Exec, error) {
	declared := make([]shapes.Shape, len(inputs))
	for i, in := range inputs {
		declared[i] = in.shape()
	}
	exec, err := model.NewExec(backend, store, fn)
	if err != nil {
		return nil, err
	}
	exec.WithName(name).SetMaxCache(1) // a second shape is a bug: it would compile anew on every call
	if _, err := exec.Compile(declared...); err != nil {
		return nil, err // without exec: GoMLX waits for ever when it closes one whose compilation panicked
	}
	return exec, nil
}

// Close releases what the graph holds on the device; it cannot run any more.
func (g *Program) Close() {
	for _, t := range append(g.out, g.fed...) {
		t.MustFinalizeAll()
	}
	g.out, g.fed, g.args = nil, nil, nil
	if g.exec != nil {
		g.exec.Finalize()
	}
}

// catch turns a panic of GoMLX while a graph is built into an error.
func catch(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = firstLine(fmt.Errorf("%v", r))
		}
	}()
	if err := f(); err != nil {
		return firstLine(err)
	}
	return nil
}

// Feed lets fill write input i, flat in row-major order; positions that it does not write keep their value.
func (g *Program) Feed(i int, fill func(dst []float32)) { feed(g, i, fill) }

// FeedInt is Feed for an int32 input.
func (g *Program) FeedInt(i int, fill func(dst []int32)) { feed(g, i, fill) }

func feed[T float32 | int32](g *Program, i int, fill func(dst []T)) {
	tensors.MustMutableFlatData(g.fed[i], func(all []T) {
		size := len(all) / g.slots
		fill(all[g.slot*size : (g.slot+1)*size])
	})
}

// FeedRows lets write fill a row of the input of that name for each of rows, and repeats the first in the remaining
// rows. Zeros there can lie outside a loss's domain, such as a scale of 0, and a weight of 0 does not cancel NaN.
func FeedRows[T float32 | int32, R int | int32](g *Program, input string, rows []R, write func(dst []T, row int)) {
	i := g.Input(input)
	feed(g, i, func(dst []T) {
		width := len(dst) / g.inputs[i].Dims[0]
		for k, row := range rows {
			write(dst[k*width:(k+1)*width], int(row))
		}
		for at := len(rows) * width; at < len(dst); at += width {
			copy(dst[at:at+width], dst[:width])
		}
	})
}

// Feeder has inputs to feed: a Program, or a buffer of their rows.
type Feeder interface {
	// Feed lets fill write input i, flat in row-major order.
	Feed(i int, fill func(dst []float32))
}

// FeedEach lets write fill a row of p's input i for each of rows, which must be as many as the input has.
func FeedEach[R int | int32](p Feeder, i int, rows []R, write func(dst []float32, row int)) {
	p.Feed(i, func(dst []float32) {
		width := len(dst) / len(rows)
		for k, row := range rows {
			write(dst[k*width:(k+1)*width], int(row))
		}
	})
}

// Widen writes src into dst.
func Widen[T uint8 | uint16](dst []float32, src []T) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// Input is the place of the input of that name.
func (g *Program) Input(name string) int {
	for i, in := range g.inputs {
		if in.Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("nn: graph %s has no input %s", g.name, name))
}

// Run executes the graph on the current inputs.
func (g *Program) Run() error {
	for _, t := range g.out {
		t.MustFinalizeAll()
	}
	g.out = nil
	return catch(func() error {
		out, err := g.exec.Call(g.args...)
		if err != nil {
			return fmt.Errorf("nn: running graph %s: %w", g.name, err)
		}
		g.out = out
		return nil
	})
}

// Blocks runs the graph on rows, block by block: feed writes the inputs of rows from to to-1, read takes their outputs.
// Inputs of rows beyond the last block stay unchanged.
func (g *Program) Blocks(ctx context.Context, rows, block int, feed, read func(from, to int)) error {
	for from := 0; from < rows; from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+block, rows)
		feed(from, to)
		if err := g.Run(); err != nil {
			return err
		}
		read(from, to)
	}
	return nil
}

// EachRow runs the graph on rows 0 to rows-1, as many at a time as its inputs have. write[i] fills a row of input i.
// read gets a row of each output, valid during the call.
func (g *Program) EachRow(ctx context.Context, rows int, write []func(dst []float32, row int),
	read func(output, row int, values []float32)) error {
	block := g.inputs[0].Dims[0]
	at := make([]int, 0, block)
	return g.Blocks(ctx, rows, block, func(from, to int) {
		at = at[:0]
		for row := from; row < to; row++ {
			at = append(at, row)
		}
		for i, fill := range write {
			FeedRows(g, g.inputs[i].Name, at, fill)
		}
	}, func(from, to int) {
		for i, out := range g.out {
			tensors.MustConstFlatData(out, func(src []float32) {
				width := len(src) / block
				for k := range to - from {
					read(i, from+k, src[k*width:(k+1)*width])
				}
			})
		}
	})
}

// Read copies output i of the last Run into dst.
func (g *Program) Read(i int, dst []float32) {
	tensors.MustConstFlatData(g.out[i], func(src []float32) {
		if len(src) != len(dst) {
			panic(fmt.Sprintf("nn: output %d of graph %s has %d values, the destination %d", i, g.name, len(src), len(dst)))
		}
		copy(dst, src)
	})
}

// Scalar returns output i of the last Run, which must hold one value.
func (g *Program) Scalar(i int) float64 {
	var dst [1]float32
	g.Read(i, dst[:])
	return float64(dst[0])
}
