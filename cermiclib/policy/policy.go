// SPDX-License-Identifier: Apache-2.0

// Package policy holds the networks that map what an agent sees to its action distribution or utilities.
package policy

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/nn"
)

// Policy is graph code, shared by all agents of a team: row (b, i) of its output may depend on row (b, i) of its inputs only,
// so execution is decentralised. It panics on misuse, as GoMLX does.
type Policy interface {
	// CarryLen is C, the length of the recurrent state of one agent; 0 for feed-forward networks.
	CarryLen() int
	// Net maps obs [B,N,O] and carry [B,N,C] (nil if C is 0) to y [B,N,out] and the next carry.
	Net(sc *model.Scope, obs, carry *graph.Node, out int) (y, next *graph.Node)
}

// Config is a policy model with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	// Validate returns one sentence about the first impossible setting.
	Validate() error
	Build(b *nn.Build) (Policy, error)
}

// Register makes a policy model known by its Kind.
func Register(proto Config) { conf.Register(proto) }
