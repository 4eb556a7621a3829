// SPDX-License-Identifier: Apache-2.0

package policy

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// ID says what a policy network sees of who the agent is, besides its observation. BenchMARL shows nothing: agents that share a
// network then act differently only as far as they see different things.
type ID string

// What is appended to each observation (agent_id).
const (
	NoID     ID = ""       // nothing
	OneHotID ID = "onehot" // 1 at the agent's place among N numbers
)

// append maps obs [...,N,O] to [...,N,O'].
func (id ID) append(obs *Node) *Node {
	if id == NoID {
		return obs
	}
	d := obs.Shape().Clone().Dimensions
	n := d[len(d)-2]
	d[len(d)-1] = n
	who := BroadcastToDims(ExpandLeftToRank(DiagonalWithValue(ScalarOne(obs.Graph(), obs.DType()), n), len(d)), d...)
	return Concatenate([]*Node{obs, who}, -1)
}
