// SPDX-License-Identifier: Apache-2.0

// Command task adds a task, in which agents meet at the origin, and trains MAPPO on it.
package main

import (
	"context"
	"fmt"
	"log"

	"cermic/cermiclib"
	"cermic/envs"
	"cermic/envs/rng"
	"cermic/envs/vmas"
)

// Gather is the task vmas/gather.
type Gather struct {
	envs.Common
	vmas.Settings
	Agents int     `json:"n_agents" range:"1..100" help:"number of agents"`
	Near   float32 `json:"near" range:"0..1" help:"distance from the origin of an agent that has arrived, in world units"`
}

func (Gather) Kind() string                               { return "vmas/gather" }
func (g Gather) WithShared(s envs.Common) envs.Config     { g.Common = s; return g }
func (g Gather) WithDiscrete(d vmas.Discrete) envs.Config { g.Discrete = d; return g }

func (g Gather) Build(seed uint64, workers int) (envs.Env, error) {
	return vmas.New(g.Kind(), g.Common, g.Settings, g, seed, workers)
}

// World has discs of radius 0.05 and observations of 4 numbers.
func (g Gather) World() vmas.WorldSpec {
	w := vmas.DefaultWorld()
	for i := range g.Agents {
		w.Agents = append(w.Agents, vmas.DefaultAgent(fmt.Sprint("agent_", i), 0.05))
	}
	w.Obs = 4
	return w
}

func (g Gather) Reset(w *vmas.World, c int, r *rng.Rand) {
	for i := range g.Agents {
		w.Place(c, i, vmas.Vec{X: r.Uniform(-1, 1), Y: r.Uniform(-1, 1)})
	}
}

func (g Gather) Observe(w *vmas.World, c, agent int, dst []float32) {
	dst[0], dst[1], dst[2], dst[3] = w.Pos(c, agent).X, w.Pos(c, agent).Y, w.Vel(c, agent).X, w.Vel(c, agent).Y
}

// Reward is minus each agent's distance from the origin.
func (g Gather) Reward(w *vmas.World, c int, dst []float32) {
	for i := range dst {
		dst[i] = -w.Pos(c, i).Norm()
	}
}

// Outcome is a success once all have arrived.
func (g Gather) Outcome(w *vmas.World, c int) (success, over bool) {
	far := float32(0)
	for i := range g.Agents {
		far = max(far, w.Pos(c, i).Norm())
	}
	return far < g.Near, far < g.Near
}

func main() {
	envs.Register(Gather{envs.DefaultCommon(), vmas.DefaultSettings(), 3, 0.1})
	run, err := cermiclib.New("gather", "mappo", cermiclib.WithBudget("smoke"), cermiclib.WithReward(envs.Dense))
	if err != nil {
		log.Fatal(err)
	}
	record, err := cermiclib.Train(context.Background(), run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Method, "on", record.Task, record.Frames, "frames, score", record.Score())
}
