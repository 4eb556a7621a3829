// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"strings"
	"testing"
)

func someDiagram() Diagram {
	return Diagram{
		Title: "Boxes and arrows",
		Nodes: []Node{
			{Name: "a", Title: "o_t", Lines: []string{"[B, 18]"}},
			{Name: "b", Title: "θ", Lines: []string{"s_t [B, 64]", "27 200 parameters"}, Column: 1, Row: 0.5, Kind: Network},
			{Name: "c", Title: "L_explore", Column: 2, Kind: Loss}, {Name: "d", Title: "r^i", Column: 2, Row: 1, Kind: Reward},
		},
		Arrows: []Arrow{{From: "a", To: "b"}, {From: "b", To: "c", Label: "s_t"}, {From: "b", To: "d", Dashed: true}},
	}
}

func TestDiagramShowsBoxesAndArrows(t *testing.T) { checkImage(t, "diagram", someDiagram().Image()) }

func TestAnArrowToNowhereIsNamed(t *testing.T) {
	d := someDiagram()
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	d.Arrows[0].To = "bb"
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), `"bb"`) {
		t.Errorf("got %v", err)
	}
}
