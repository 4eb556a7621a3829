// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// settingsScope holds the values of settings. Its sign keeps them out of the list of Variables, and so out of
// checkpoints: the experiment has them.
const settingsScope = "/#settings"

// Setting is the value of an experiment's setting as a scalar like x, for use in x's graph. In a graph with a store it
// is a variable that nothing changes, so a run with another value compiles no new graph. Elsewhere it is a constant. A
// name has one value in a store.
func Setting(x *Node, name string, value float64) *Node {
	store := model.GetStore(x)
	if store == nil {
		return ConstAs(x, value)
	}
	path := model.JoinPath(settingsScope, name)
	if x.DType() != dtypes.Float32 {
		path = model.JoinPath(path, x.DType().String())
	}
	kept := store.GetVariable(path)
	if kept == nil {
		kept = store.VariableWithValue(path, scalar(x.DType(), value)).SetTrainable(false)
	} else if had := kept.MustValue().Value(); had != scalar(x.DType(), value).Value() {
		panic(fmt.Errorf("nn: setting %s is %v and %g in one store", name, had, value))
	}
	return kept.NodeValue(x)
}

// scalar is a tensor of one value.
func scalar(dtype dtypes.DType, value float64) *tensors.Tensor {
	if dtype == dtypes.Float64 {
		return tensors.FromValue(value)
	}
	return tensors.FromValue(float32(value))
}

// Times is x multiplied by a setting.
func Times(x *Node, name string, value float64) *Node { return Mul(x, Setting(x, name, value)) }

// Plus is x and a setting.
func Plus(x *Node, name string, value float64) *Node { return Add(x, Setting(x, name, value)) }

// Within is x clipped to two settings, name/low and name/high.
func Within(x *Node, name string, low, high float64) *Node {
	return Min(Max(x, Setting(x, name+"/low", low)), Setting(x, name+"/high", high))
}
