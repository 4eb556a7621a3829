// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// meeting is a synthetic episode of three agents: the second passes by the first, the third stays away.
func meeting(steps int) *results.Trace {
	in := &results.Trace{Task: "vmas/balance", Method: "mappo-cermic", Frames: 60_000, Steps: steps, Agents: 3}
	for t := range steps + 1 {
		at := [3][2]float64{{-0.2, -0.1}, {-0.9 + 1.8*float64(t)/float64(steps), 0.25}, {0.7, -0.8}}
		s := envs.Scene{MinX: -1.1, MinY: -1.1, MaxX: 1.1, MaxY: 1.1}
		for i, p := range at {
			s.Shapes = append(s.Shapes, envs.Shape{Role: envs.RoleAgent, Agent: i, X: p[0], Y: p[1], Radius: 0.05})
		}
		in.Scenes = append(in.Scenes, s)
		if t == steps {
			break
		}
		near := math.Exp(-4 * math.Pow(at[1][0]-at[0][0], 2))
		for i := range 3 {
			sees := i < 2 && near > 0.5
			in.Visible = append(in.Visible, i == 1 && sees, i == 0 && sees, false)
			in.Bonus = append(in.Bonus, 2+float64(i)/4+near*math.Sin(float64(t)/3)/float64(i+1))
			phase := float64(t)/9 + 2*float64(i)
			in.Embed = append(in.Embed, []float64{5 * float64(i), math.Sin(phase), math.Cos(phase), near})
			in.Predicted = append(in.Predicted, []float64{5*float64(i) + near, math.Sin(phase + 0.4), math.Cos(phase + 0.4), near})
			in.Latent = append(in.Latent, []float64{math.Sin(phase), float64(i), near})
			g := results.Graph{Present: []bool{i == 0, i == 1, i == 2}, Probability: []float64{near, near, 0.02}, Attention: []float64{0, 0, 0}, Advanced: sees}
			g.Probability[i], g.Attention[i] = 0, 1
			if i < 2 && near > 0.3 {
				g.Present[1-i], g.Attention[1-i], g.Attention[i] = true, 0.7*near, 1-0.7*near
			}
			in.Graphs = append(in.Graphs, g)
		}
	}
	return in
}

func TestMemoryLooksAsBefore(t *testing.T) {
	looksAsBefore(t, "memory")(Memory(meeting(60), 0, 4))
}

func TestEncountersLookAsBefore(t *testing.T) {
	looksAsBefore(t, "encounters")(Encounters(meeting(60), 3))
}

func TestCodesLookAsBefore(t *testing.T) {
	p, err := Codes(meeting(60), 1)
	if err != nil {
		t.Fatal(err)
	}
	// The lower panels are left to the tests of t-SNE: rounding differs between processors, and 500 steps amplify it.
	p.Rows = p.Rows[:1]
	checkImage(t, "codes", p.Image())
}

func TestPathsLookAsBefore(t *testing.T) {
	other := meeting(40)
	other.Method = "mappo"
	p, err := Paths(1, meeting(60), other)
	if err != nil {
		t.Fatal(err)
	}
	p.Rows = p.Rows[:1] // t-SNE has tests of its own, see above
	checkImage(t, "paths", p.Image())
}

func TestEndsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "ends")(Ends(meeting(60), 3))
}

func TestWhatIsNotInsideCannotBeDrawn(t *testing.T) {
	in := meeting(5)
	in.Graphs = nil
	if _, err := Memory(in, 0, 2); err == nil || !strings.Contains(err.Error(), "explore.memory=graph") {
		t.Errorf("a memory without graphs: %v", err)
	}
	if _, err := Memory(meeting(5), 3, 2); err == nil {
		t.Error("the memory of an agent that does not exist")
	}
	in.Bonus = in.Bonus[:3]
	if _, err := Encounters(in, 2); err == nil {
		t.Error("too few bonuses")
	}
	if _, err := Codes(&results.Trace{Agents: 3}, 1); err == nil {
		t.Error("no codes")
	}
	blind := meeting(5)
	blind.Predicted = nil
	if _, err := Paths(1, blind); err == nil {
		t.Error("paths without predictions")
	}
	if _, err := Paths(1); err == nil {
		t.Error("no episode")
	}
}
