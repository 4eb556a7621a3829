// SPDX-License-Identifier: Apache-2.0

package xlacache

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Graph is a graph that has been compiled, or loaded from disk, as it was given to XLA.
type Graph struct {
	Name         string
	Instructions int           // of StableHLO, those inside reductions among them
	Products     int           // matrix products
	Sums         int           // reductions
	Flops        float64       // of the products in one run: 2·m·n·k each
	Bytes        float64       // that the products read and write
	Took         time.Duration // compiling or loading
	Loaded       bool
}

// watcher gets every graph.
var watcher atomic.Pointer[func(Graph)]

// Watch lets f know of every graph from now on, one at a time; nil ends it. Only graphs of a plug-in that Install has succeeded for
// are seen.
func Watch(f func(Graph)) {
	if f == nil {
		watcher.Store(nil)
		return
	}
	var lock sync.Mutex
	one := func(g Graph) {
		lock.Lock()
		defer lock.Unlock()
		f(g)
	}
	watcher.Store(&one)
}

// product is a matrix product in StableHLO's text: the axes of the left factor that are summed over, and the shapes.
var product = regexp.MustCompile(`(?s)"stablehlo\.dot_general".*?lhs_contracting_dimensions = \[([^\]]*)\].*?: \(tensor<([^>]*)>, tensor<([^>]*)>\) -> tensor<([^>]*)>`)

// describe reads what it can of a program in StableHLO's text, of which a line is one instruction at most.
func describe(program []byte) (g Graph) {
	if _, rest, ok := bytes.Cut(program, []byte("module @")); ok {
		name, _, _ := bytes.Cut(rest, []byte(" "))
		g.Name = string(name)
	}
	for line := range bytes.Lines(program) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("%")) {
			g.Instructions++
		}
	}
	g.Sums = bytes.Count(program, []byte(`"stablehlo.reduce"`))
	for _, m := range product.FindAllSubmatch(program, -1) {
		left, width := sizes(string(m[2]))
		right, _ := sizes(string(m[3]))
		out, _ := sizes(string(m[4]))
		k := 1.0
		for axis := range strings.SplitSeq(string(m[1]), ",") {
			if i, err := strconv.Atoi(strings.TrimSpace(axis)); err == nil && i < len(left) {
				k *= left[i]
			}
		}
		g.Products++
		g.Flops += 2 * all(out) * k
		g.Bytes += width * (all(left) + all(right) + all(out))
	}
	return g
}

// sizes reads a tensor's type, as 4x100x300xf32: its axes and the bytes of an element.
func sizes(text string) (axes []float64, width float64) {
	parts := strings.Split(text, "x")
	for _, p := range parts[:len(parts)-1] {
		n, _ := strconv.ParseFloat(p, 64)
		axes = append(axes, n)
	}
	bits, _ := strconv.ParseFloat(strings.TrimLeft(parts[len(parts)-1], "abcdefghijklmnopqrstuvwxyz"), 64)
	return axes, bits / 8
}

// all is the number of elements.
func all(axes []float64) float64 {
	n := 1.0
	for _, a := range axes {
		n *= a
	}
	return n
}
