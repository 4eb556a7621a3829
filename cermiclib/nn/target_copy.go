// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"path"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// TargetCopy turns the variables below target into a slowly following copy of those below original: a target network, a
// momentum encoder. The same code must have just made both. No optimiser moves the copies, and they start with the
// values of their originals. Call it wherever such a graph is built; later calls change nothing.
func TargetCopy(original, target *model.Scope) {
	target.SetParam(copyOf, [2]string{original.Scope(), target.Scope()})
	for _, v := range Variables(target.Store(), target.Scope()) {
		if !v.Trainable {
			continue // has been made a target before, and may have moved since
		}
		v.SetTrainable(false)
		value, err := originalOf(v, original, target).MustValue().LocalClone()
		if err == nil {
			err = v.SetValue(value)
		}
		if err != nil {
			panic(err)
		}
	}
}

// copyOf is the parameter of a target's scope that has the paths of the original and of itself.
const copyOf = "twin_of"

// Original returns the path of the variable that the one at a path is a TargetCopy of; empty if it is none.
func Original(store *model.Store, variable string) string {
	value, _ := store.Scope(path.Dir(variable)).GetParam(copyOf)
	pair, ok := value.([2]string)
	if !ok {
		return ""
	}
	return pair[0] + strings.TrimPrefix(variable, pair[1])
}

// Follow moves a TargetCopy towards its originals in graph g: target ← (1 − τ)·target + τ·original. After an optimiser
// in the same graph, it follows the updated originals.
func Follow(g *Graph, original, target *model.Scope, tau float64) {
	for _, v := range Variables(target.Store(), target.Scope()) {
		now := originalOf(v, original, target).NodeValue(g)
		v.SetNodeValue(Add(Times(v.NodeValue(g), target.Scope()+"/stay", 1-tau), Times(now, target.Scope()+"/follow", tau)))
	}
}

// FollowBy is Follow with a share that is an input of the graph, tau [1]. A share of 0 moves nothing.
func FollowBy(original, target *model.Scope, tau *Node) {
	tau = Reshape(tau)
	for _, v := range Variables(target.Store(), target.Scope()) {
		now := originalOf(v, original, target).NodeValue(tau.Graph())
		v.SetNodeValue(Add(Mul(v.NodeValue(tau.Graph()), OneMinus(tau)), Mul(now, tau)))
	}
}

// originalOf returns the variable below original that has the place of v below target.
func originalOf(v *model.Variable, original, target *model.Scope) *model.Variable {
	return original.Store().GetVariable(original.Scope() + strings.TrimPrefix(v.Path(), target.Scope()))
}
