// SPDX-License-Identifier: Apache-2.0

package policy

import (
	. "github.com/gomlx/gomlx/core/graph"

	"cermic/envs"
)

// span is a run of numbers [from, to) of an observation.
type span struct{ from, to int }

// entities says where in an observation the rows of a set network are.
type entities struct {
	own             []span // all of the observer: its own spans, and what is no entity's
	allies, objects []span // one each
}

// splitEntities reads the entities of a task; one that names none is all the agent's own.
func splitEntities(s *envs.Spec) entities {
	var e entities
	own := make([]bool, s.ObsLen())
	for i := range own {
		own[i] = true
	}
	mark := func(x envs.Entity, value bool) {
		for i := x.From; i < x.To; i++ {
			own[i] = value
		}
	}
	for _, x := range s.Entities {
		switch x.Kind {
		case envs.Ally:
			e.allies = append(e.allies, span{x.From, x.To})
			mark(x, false)
		case envs.Object:
			e.objects = append(e.objects, span{x.From, x.To})
			mark(x, false)
		}
	}
	for _, x := range s.Entities {
		if x.Kind == envs.Own {
			mark(x, true) // may hold what also has a row of its own
		}
	}
	for i := 0; i < len(own); i++ {
		if !own[i] {
			continue
		}
		from := i
		for i < len(own) && own[i] {
			i++
		}
		e.own = append(e.own, span{from, i})
	}
	return e
}

// columns gathers spans of obs [R,O] side by side.
func columns(obs *Node, spans []span) *Node {
	parts := make([]*Node, len(spans))
	for k, s := range spans {
		parts[k] = Slice(obs, AxisRange(), AxisRange(s.from, s.to))
	}
	return Concatenate(parts, -1)
}

// stackSpans gathers spans of one length of obs [R,O] as rows [R,J,length].
func stackSpans(obs *Node, spans []span) *Node {
	parts := make([]*Node, len(spans))
	for k, s := range spans {
		parts[k] = Slice(obs, AxisRange(), AxisRange(s.from, s.to))
	}
	return Stack(parts, 1)
}
