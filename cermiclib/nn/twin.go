// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"path"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Twin turns the variables below twin, which the code that made those below original has just made a second time, into their
// slowly following copy: a target network, a momentum encoder. No optimiser moves them, and they start with the values of
// their originals. Call it wherever such a graph is built; later calls change nothing.
func Twin(original, twin *model.Scope) {
	twin.SetParam(twinOf, [2]string{original.Scope(), twin.Scope()})
	for _, v := range Variables(twin.Store(), twin.Scope()) {
		if !v.Trainable {
			continue // has been made a twin before, and may have moved since
		}
		v.SetTrainable(false)
		value, err := originalOf(v, original, twin).MustValue().LocalClone()
		if err == nil {
			err = v.SetValue(value)
		}
		if err != nil {
			panic(err)
		}
	}
}

// twinOf is the parameter of a twin's scope that has the paths of the original and of itself.
const twinOf = "twin_of"

// Original returns the path of the variable that the one at a path is a Twin of; empty if it is none.
func Original(store *model.Store, variable string) string {
	value, _ := store.Scope(path.Dir(variable)).GetParam(twinOf)
	pair, ok := value.([2]string)
	if !ok {
		return ""
	}
	return pair[0] + strings.TrimPrefix(variable, pair[1])
}

// Follow moves a Twin towards its originals in graph g: twin ← (1 − τ)·twin + τ·original. After an optimiser in the same
// graph, the originals are those it leaves behind.
func Follow(g *Graph, original, twin *model.Scope, tau float64) {
	for _, v := range Variables(twin.Store(), twin.Scope()) {
		now := originalOf(v, original, twin).NodeValue(g)
		v.SetNodeValue(Add(Times(v.NodeValue(g), twin.Scope()+"/stay", 1-tau), Times(now, twin.Scope()+"/follow", tau)))
	}
}

// FollowBy is Follow with a share that the graph is told when it runs, tau [1]. A share of 0 moves nothing.
func FollowBy(original, twin *model.Scope, tau *Node) {
	tau = Reshape(tau)
	for _, v := range Variables(twin.Store(), twin.Scope()) {
		now := originalOf(v, original, twin).NodeValue(tau.Graph())
		v.SetNodeValue(Add(Mul(v.NodeValue(tau.Graph()), OneMinus(tau)), Mul(now, tau)))
	}
}

// originalOf returns the variable below original that has the place of v below twin.
func originalOf(v *model.Variable, original, twin *model.Scope) *model.Variable {
	return original.Store().GetVariable(original.Scope() + strings.TrimPrefix(v.Path(), twin.Scope()))
}
