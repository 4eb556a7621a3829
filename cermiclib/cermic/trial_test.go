// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Sizes of a trial's minibatch, small because finite differences evaluate it once per direction.
const (
	trialRows  = 7
	trialObs   = 5
	trialAct   = 2
	trialCount = 6 // rows that count; the last one is padding
)

// trialConfig is the default with small networks and without decay: γ is the minibatch's, so repeated runs agree.
func trialConfig() Config {
	c := Default()
	c.Embed, c.Latent, c.Hidden, c.Negatives = 4, 6, 16, 3
	c.ConsistencyDecay = 0
	c.PsiSpread = SpreadLearned // a running mean would change between runs
	c.Memory = memory.MLP{Embed: 4, Hidden: 8, Width: 8}
	return c
}

// trial evaluates the module's losses on one random minibatch in float64, where finite differences are accurate.
type trial struct {
	t     testing.TB
	store *model.Store
	vars  []*model.Variable // trainable
	exec  *model.Exec       // goal, gradients, terms
	goal  *model.Exec       // only goal
	args  []any
	names []string
}

// newTrial builds the losses of c. goal selects the scalar to differentiate.
func newTrial(t testing.TB, c Config, goal func(total *Node, named map[string]*Node) *Node) *trial {
	t.Helper()
	spec := &envs.Spec{Name: "trial", NumEnvs: 1, Agents: 1, Obs: []int{trialObs}}
	b := graphtest.Build(spec, 3)
	mem := must.Value(c.Memory.Build(b))
	tr := &trial{t: t, store: b.Store, args: trialBatch(c)}
	build := func(sc *model.Scope, in []*Node) (value, total *Node, terms []term) {
		total, terms = c.losses(sc.At(scope), mem, newBatch(spec, in))
		named := map[string]*Node{}
		for _, term := range terms {
			named[term.name] = term.value
		}
		return goal(total, named), total, terms
	}
	tr.exec = must.Value(model.NewExec(b.Backend.Backend, tr.store, func(sc *model.Scope, in []*Node) []*Node {
		value, _, terms := build(sc, in)
		tr.vars, tr.names = nil, nil
		var nodes []*Node
		for _, v := range nn.Variables(tr.store, "") {
			if v.Trainable {
				tr.vars, nodes = append(tr.vars, v), append(nodes, v.NodeValue(value.Graph()))
			}
		}
		out := append([]*Node{value}, Gradient(value, nodes...)...)
		for _, term := range terms {
			tr.names, out = append(tr.names, term.name), append(out, term.value)
		}
		return out
	}))
	tr.goal = must.Value(model.NewExec(b.Backend.Backend, tr.store, func(sc *model.Scope, in []*Node) []*Node {
		value, total, _ := build(sc, in)
		return []*Node{value, total} // the Go backend requires that the last node is used
	}))
	tr.run() // creates the variables
	return tr
}

// trialBatch draws a minibatch: the module's inputs, then the MLP memory's.
func trialBatch(c Config) []any {
	r := rng.New(4, "trial")
	args := make([]any, inMemory)
	args[inObs], args[inNext] = table(r, trialRows, trialObs), table(r, trialRows, trialObs)
	args[inAct], args[inNoise] = table(r, trialRows, trialAct), table(r, trialRows, c.Latent)
	args[inWeight] = tensors.FromFlatDataAndDimensions([]float64{1, 1, 1, 1, 1, 1, 0}, trialRows)
	args[inReward] = tensors.FromValue(flat(table(r, trialRows, 1)))
	args[inNegative] = table(r, trialRows, c.Negatives)
	if c.NegKind == NegativesMarginal {
		rows := make([]int32, trialRows*c.Negatives)
		for i := range rows {
			rows[i] = int32((i/c.Negatives + 1 + i%c.Negatives) % trialCount)
		}
		args[inNegative] = tensors.FromFlatDataAndDimensions(rows, trialRows, c.Negatives)
		if c.NegFilter { // each row has its own environment
			spec := &envs.Spec{NumEnvs: trialRows, Agents: 1, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}}
			steps := []int32{0, 1, 2, 3, 4, 5, 6}
			drawn := make([]int32, trialRows*(c.Negatives+drawColumns))
			filteredDraws(drawn, c.Negatives, rl.NewRollout(spec, 1, 0), steps, r)
			args[inNegative] = tensors.FromFlatDataAndDimensions(drawn, trialRows, c.Negatives+drawColumns)
		}
	}
	exists := tensors.FromFlatDataAndDimensions([]float64{1, 0, 1, 1, 1, 0, 1}, trialRows)
	return append(args, table(r, trialRows, trialObs), table(r, trialRows, trialObs), exists)
}

// run returns the goal, its gradient in each variable of tr.vars, and all reported terms.
func (tr *trial) run() (goal float64, grads [][]float64, terms map[string]float64) {
	tr.t.Helper()
	out := must.Get(tr.exec.Call(tr.args...))(tr.t)
	for _, g := range out[1 : 1+len(tr.vars)] {
		grads = append(grads, flat(g))
	}
	terms = map[string]float64{}
	for i, name := range tr.names {
		terms[name] = flat(out[1+len(tr.vars)+i])[0]
	}
	return flat(out[0])[0], grads, terms
}

// change lets f rewrite the value of a variable.
func (tr *trial) change(v *model.Variable, f func(flat []float64)) {
	tensors.MustMutableFlatData(v.MustValue(), f)
}

// stir moves every trainable variable, so that none stays at an initial zero.
func (tr *trial) stir() {
	r := rng.New(5, "stir")
	for _, v := range tr.vars {
		tr.change(v, func(flat []float64) {
			for i := range flat {
				flat[i] += 0.05 * float64(r.Norm())
			}
		})
	}
}

// set assigns a scalar variable of the module.
func (tr *trial) set(path string, value float64) {
	v := tr.store.GetVariable("/" + scope + "/" + path)
	if v == nil {
		tr.t.Fatalf("there is no variable %s", path)
	}
	tr.change(v, func(flat []float64) { flat[0] = value })
}

// checkGradients compares the gradient with central differences along one random direction in each variable that keep
// accepts. It returns the number of variables with a gradient.
func (tr *trial) checkGradients(keep func(path string) bool) (moved int) {
	tr.t.Helper()
	_, grads, _ := tr.run()
	r := rng.New(6, "directions")
	value := func() float64 { return tensors.ToScalar[float64](must.Get(tr.goal.Call(tr.args...))(tr.t)[0]) }
	for i, v := range tr.vars {
		if !keep(v.Path()) {
			continue
		}
		// h balances the error of the difference, h²·|L'''|, against rounding, 1e-16·|L|/h.
		const h = 1e-6
		if nntest.CheckSlope(tr.t, v, grads[i], r, h, 1e-6, value) != 0 {
			moved++
		}
	}
	return moved
}

// total selects the whole loss.
func total(total *Node, _ map[string]*Node) *Node { return total }

// named selects one term.
func named(name string) func(*Node, map[string]*Node) *Node {
	return func(_ *Node, terms map[string]*Node) *Node { return terms[name] }
}
