// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// golden is one recording of the original simulator; testdata/golden/README.md describes every field.
type golden struct {
	key string // file name without extensions, the key of tolerance.json

	Kind, Scenario, Case string
	Kwargs               json.RawMessage
	MaxSteps             int `json:"max_steps"`
	NumEnvs              int `json:"n_envs"`
	T                    int
	ContinuousActions    bool `json:"continuous_actions"`
	World                goldenWorld
	Entities             []goldenEntity
	Joints               []goldenJoint
	PolicyAgents         []int            `json:"policy_agents"`
	DynamicEntities      []int            `json:"dynamic_entities"`
	Initial              [][][6]float32   `json:"initial_state"`
	States               [][][][6]float32 `json:"states"`
	Actions              json.RawMessage  // [T][A][N][2], physics [T][N][2]
	AgentU               [][][][2]float32 `json:"agent_u"`
	AgentForce           [][][][2]float32 `json:"agent_force"`
	Obs                  [][][][]float32  `json:"obs"`
	ObsClean             [][][][]float32  `json:"obs_clean"` // without observation noise; nil if there was none
	Rewards              [][][]float32    `json:"rewards"`
	Dones, Terminated    [][]uint8        //
	Infos                map[string][][][]float32
	Internals            map[string]json.RawMessage
	InternalsStatic      map[string]json.RawMessage `json:"internals_static"`
	Sampled              [][][3]int                 `json:"sampled_new"`
	CullDependent        [][]float64                `json:"cull_dependent"`
	BatchCoupled         [][]float64                `json:"batch_coupled"`

	Force     [][][][3]float32 `json:"last_substep_force"`
	Pairs     [][2]int
	Distances [][][]float32
	Overlaps  [][][]uint8
	Lidar     [][][]float32
}

type goldenWorld struct {
	Dt              float32
	Substeps        int
	Drag            float32
	LinearFriction  float32  `json:"linear_friction"`
	AngularFriction float32  `json:"angular_friction"`
	XSemidim        *float32 `json:"x_semidim"`
	YSemidim        *float32 `json:"y_semidim"`
	CollisionForce  float32  `json:"collision_force"`
	JointForce      float32  `json:"joint_force"`
	TorqueForce     float32  `json:"torque_constraint_force"`
	Gravity         [2]float32
}

type goldenEntity struct {
	Index              int
	Name, Kind         string
	Shape              goldenShape
	Movable, Rotatable bool
	Collide            bool
	Mass               float32
	Inertia            float32 `json:"moment_of_inertia"`
	Bound              float32 `json:"circumscribed_radius"`
	Drag               *float32
	LinearFriction     *float32 `json:"linear_friction"`
	AngularFriction    *float32 `json:"angular_friction"`
	Gravity            *[2]float32
	MaxSpeed           *float32 `json:"max_speed"`
	VRange             *float32 `json:"v_range"`
	CollidesWith       []int    `json:"collides_with"`
	URange             float32  `json:"u_range"`
	UMultiplier        float32  `json:"u_multiplier"`
	MaxF               *float32 `json:"max_f"`
	FRange             *float32 `json:"f_range"`
	Scripted           bool
	Sensors            []goldenLidar
}

type goldenShape struct {
	Type                  string
	Radius, Length, Width float32
	Hollow                bool
}

type goldenLidar struct {
	Angles   []float32
	MaxRange float32 `json:"max_range"`
	Sees     []int
}

type goldenJoint struct {
	A             int        `json:"entity_a"`
	B             int        `json:"entity_b"`
	AnchorA       [2]float32 `json:"delta_a"`
	AnchorB       [2]float32 `json:"delta_b"`
	Dist          float32
	Rotate        bool
	FixedRotation json.RawMessage `json:"fixed_rotation"` // a number, or [N][1]
}

// parsed caches the repository's recordings by kind; tests must not change them.
var parsed = map[string][]*golden{}

// goldens reads all recordings of a kind; the repository's own ones only once.
func goldens(t *testing.T, kind string) []*golden {
	t.Helper()
	all := parsed[kind]
	if all != nil && envtest.OwnRecordings() {
		return all
	}
	all = nil
	for _, file := range envtest.Recordings(t, "vmas", "*.json.gz") {
		if envtest.OwnRecordings() && (kind == "physics") != strings.HasPrefix(filepath.Base(file), "physics-") {
			continue // saves parsing; the field Kind decides
		}
		g := &golden{key: strings.TrimSuffix(filepath.Base(file), ".json.gz")}
		envtest.ReadRecording(t, file, g)
		if g.Kind == kind {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no recording of kind %q", kind)
	}
	if envtest.OwnRecordings() {
		parsed[kind] = all
	}
	return all
}

// spec converts the recorded world to a WorldSpec.
func (g *golden) spec() WorldSpec {
	value := func(p *float32) float32 {
		if p == nil {
			return 0
		}
		return *p
	}
	s := DefaultWorld()
	w := &g.World
	s.Dt, s.Substeps, s.Drag = w.Dt, w.Substeps, w.Drag
	s.LinearFriction, s.AngularFriction = w.LinearFriction, w.AngularFriction
	s.Gravity = Vec{w.Gravity[0], w.Gravity[1]}
	s.XLimit, s.YLimit = value(w.XSemidim), value(w.YSemidim)
	s.CollisionForce, s.JointForce, s.TorqueForce = w.CollisionForce, w.JointForce, w.TorqueForce
	for i := range g.Entities {
		e := &g.Entities[i]
		b := Body{
			Name: e.Name, Shape: e.Shape.shape(), Mass: e.Mass,
			Movable: e.Movable, Rotatable: e.Rotatable, Collides: e.Collide,
			Drag: e.Drag, LinearFriction: e.LinearFriction, AngularFriction: e.AngularFriction,
			MaxSpeed: value(e.MaxSpeed), MaxVelocity: value(e.VRange),
		}
		if e.Gravity != nil {
			b.Gravity = Vec{e.Gravity[0], e.Gravity[1]}
		}
		for j := range i {
			if b.Collides && g.Entities[j].Collide && !slices.Contains(e.CollidesWith, j) {
				s.Ignore = append(s.Ignore, [2]int{j, i})
			}
		}
		if e.Kind != "agent" {
			s.Landmarks = append(s.Landmarks, b)
			continue
		}
		a := Agent{
			Body: b, Range: e.URange, Gain: e.UMultiplier, Scripted: e.Scripted,
			MaxForce: value(e.MaxF), MaxForceXY: value(e.FRange),
		}
		if len(e.Sensors) > 0 {
			a.Lidar = Lidar{Angles: e.Sensors[0].Angles, Range: e.Sensors[0].MaxRange, Sees: e.Sensors[0].Sees}
		}
		s.Agents = append(s.Agents, a)
	}
	for _, j := range g.Joints {
		s.Joints = append(s.Joints, Joint{
			A: j.A, B: j.B, Dist: j.Dist, Rotate: j.Rotate,
			AnchorA: Vec{j.AnchorA[0], j.AnchorA[1]}, AnchorB: Vec{j.AnchorB[0], j.AnchorB[1]},
		})
	}
	return s
}

func (s *goldenShape) shape() Shape {
	switch s.Type {
	case "sphere":
		return Sphere(s.Radius)
	case "line":
		return Line(s.Length)
	}
	return Shape{Kind: BoxShape, Length: s.Length, Width: s.Width, Hollow: s.Hollow}
}

// seat sets every environment of w to the recorded state at time t.
func (g *golden) seat(w *World, t int) {
	for c := range g.NumEnvs {
		for b := range g.Entities {
			w.set(c, b, g.Initial[c][b])
		}
		for k, b := range g.dynamic() {
			w.set(c, b, g.States[t][c][k])
		}
		for k, j := range g.Joints {
			w.SetFixedRotation(c, k, j.fixedRotation(c))
		}
		w.orient(c)
	}
}

func (w *World) set(c, b int, s [6]float32) {
	i := w.at(c, b)
	w.pos[i], w.vel[i], w.rot[i], w.spin[i] = Vec{s[0], s[1]}, Vec{s[2], s[3]}, s[4], s[5]
}

// dynamic lists the bodies with a time series; a physics recording has one for every body.
func (g *golden) dynamic() []int {
	if g.DynamicEntities != nil {
		return g.DynamicEntities
	}
	all := make([]int, len(g.Entities))
	for i := range all {
		all[i] = i
	}
	return all
}

func (j *goldenJoint) fixedRotation(c int) float32 {
	var one float32
	if json.Unmarshal(j.FixedRotation, &one) == nil {
		return one
	}
	var each [][1]float32
	if err := json.Unmarshal(j.FixedRotation, &each); err != nil {
		panic(err)
	}
	return each[c][0]
}

// decode unmarshals a raw field.
func decode[V any](t *testing.T, raw json.RawMessage) (v V) {
	t.Helper()
	must.Do(t, json.Unmarshal(raw, &v))
	return v
}

// flat flattens nested lists of numbers of any depth.
func flat(t *testing.T, raw json.RawMessage) []float32 {
	t.Helper()
	var numbers []float32
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case float64:
			numbers = append(numbers, float32(v))
		default:
			panic(fmt.Sprintf("a %T among numbers", v))
		}
	}
	walk(decode[any](t, raw))
	return numbers
}
