// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/envtest/must"
)

// recurrence is a Loop of w ← 3·w + x + first number of a table's row, from w = 0; it reports w and x.
func recurrence(t *testing.T, updates int) (*Loop, *Build) {
	t.Helper()
	backend, err := OpenConfig("xla:cpu")
	if err != nil {
		t.Skip("no XLA plugin is installed")
	}
	backend.Updates = updates
	b := &Build{Backend: backend, Store: NewStore(1)}
	t.Cleanup(b.Close)
	inputs := []Input{F32("x"), F32("row", 1, 2).From(5)}
	l := must.Value(NewLoop(b, "recurrence", inputs, func(sc *model.Scope, in []*Node) []*Node {
		w := Frozen(sc, in[0], "w", AllZero)
		first := Reshape(Slice(in[1], AxisElem(0), AxisElem(0)))
		w.SetNodeValue(Add(MulScalar(w.NodeValue(in[0]), 3), Add(in[0], first)))
		return []*Node{Stack([]*Node{w.NodeValue(in[0]), in[0]}, 0)}
	}))
	return l, b
}

// putW sets w.
func putW(t *testing.T, b *Build, w float32) {
	t.Helper()
	must.Do(t, b.Store.GetVariable("/w").SetValue(tensors.FromValue(w)))
}

// feeding feeds x of each update and, in turn, the rows of a table that begin with first, first+10 and so on.
func (l *Loop) feeding(first float32, xs ...float32) iter.Seq[error] {
	return func(yield func(error) bool) {
		for k, x := range xs {
			l.Feed(0, func(dst []float32) { dst[0] = x })
			FeedFrom(l, "row", []int32{int32(k % 5)}, func(dst []float32, row int) {
				dst[0], dst[1] = first+float32(10*row), -1
			})
			if !yield(nil) {
				return
			}
		}
	}
}

var recurrenceScalars = []string{"w", "x"}

func TestALoopTakesItsUpdatesInOrderHoweverManyALaunchTakes(t *testing.T) {
	for _, updates := range []int{0, 1, 2, 4, 9} {
		l, b := recurrence(t, updates)
		w, next := float32(0), float32(1)
		for call, count := range []int{1, 4, 7, 0, 2} { // calls of Each, each with a table of its own
			first := float32(call)
			var xs, want, got []float32
			for k := range count {
				w = 3*w + next + first + float32(10*(k%5))
				xs, want, next = append(xs, next), append(want, w, next), next+1
			}
			for scalars, err := range l.Each(t.Context(), recurrenceScalars, l.feeding(first, xs...)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, scalars...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d updates in launches of %d report %v, want %v", count, updates, got, want)
			}
			if each := max(1, updates); l.launches != (count+each-1)/each {
				t.Errorf("%d updates in launches of %d took %d", count, updates, l.launches)
			}
			l.launches = 0
			w = float32(int(w) % 10) // stays exact
			putW(t, b, w)
		}
	}
}

func TestALoopEndsWithTheFirstError(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, updates := range []int{0, 2, 8} {
		l, b := recurrence(t, updates)
		_, _, err := l.Means(t.Context(), recurrenceScalars, l.feeding(0, 1, 2, inf, 3, 4))
		if err == nil || err.Error() != "w became +Inf in update 3" {
			t.Errorf("launches of %d: got %v", updates, err)
		}
		stop, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := l.Means(stop, recurrenceScalars, l.feeding(0, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("launches of %d, stopped: got %v", updates, err)
		}
		putW(t, b, 0)
		failing := func(yield func(error) bool) { _ = yield(nil) && yield(errors.New("no minibatch")) }
		if _, _, err := l.Means(t.Context(), recurrenceScalars, failing); err == nil || err.Error() != "no minibatch" {
			t.Errorf("launches of %d: got %v", updates, err)
		}
		putW(t, b, 0)
		// After errors it begins with the first slot again.
		means, count, err := l.Means(t.Context(), recurrenceScalars, l.feeding(0, 1, 4))
		if err != nil || count != 2 || means["w"] != (1+17)/2. || means["x"] != 2.5 {
			t.Errorf("launches of %d: %d updates with means %v (%v)", updates, count, means, err)
		}
	}
}

func TestALoopThatCannotBeBuiltSaysWhy(t *testing.T) {
	_, b := recurrence(t, 3)
	_, err := NewLoop(b, "broken", []Input{F32("x", 2)}, func(*model.Scope, []*Node) []*Node { panic("no such layer") })
	must.Refuse(t, err, "graph broken: no such layer")
}

func TestLargeMinibatchesTakeFewerUpdatesALaunch(t *testing.T) {
	const megabyte = 1 << 18 // numbers
	for size, want := range map[int]int{1: 32, 8: 7, 30: 2, 80: 0} {
		s := step{inputs: []Input{F32("x", size, megabyte), F32("row", 8, megabyte).From(1 << 20)}}
		if got := s.updates(Backend{Updates: 32}); got != want {
			t.Errorf("%d MiB: %d updates, want %d", size, got, want)
		}
	}
}
