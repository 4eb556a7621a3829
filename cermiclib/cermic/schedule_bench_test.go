// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	_ "cermic/envs/explore"
	_ "cermic/envs/vmas"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
)

var scheduleFlag = flag.String("schedules", "", "budget whose schedules are compared (minutes; paper: nearly three hours)")

var memoriesFlag = flag.String("memories", `["mlp","gru","graph"]`, "memories of the modules in BenchmarkSchedules")

var minibatchFlag = flag.Int("minibatch", 128, "agent steps of a gradient step in BenchmarkSchedules")

var sharesFlag = flag.String("shares", "[0.5,1,2,4]", "gradient steps of the modules, as multiples of the learner's")

// BenchmarkSchedules trains modules on several schedules, side by side on the rollouts of one MAPPO learner without a
// bonus. It compares their losses on the last, held-out rollout. progress is the improvement since initialisation, as a
// fraction of the improvement with four times as many steps. It is the smallest over L_explore, InfoNCE and detector
// gain. D38 requires 0.9.
//
//	go test ./cermiclib/cermic -run '^$' -bench Schedules -benchtime 1x -timeout 1h -schedules demo -minibatch 128
func BenchmarkSchedules(b *testing.B) {
	var memories []string
	must.Do(b, json.Unmarshal([]byte(*memoriesFlag), &memories))
	for _, budget := range []struct {
		name, task string
		frames     int
		schedule   rl.Schedule
	}{
		{"explore", "explore/lock", 150_000, rl.Schedule{Rollout: 3000, Epochs: 10, Minibatch: 750, LR: 7e-4, Width: 64}},
		{"demo", "vmas/wheel", 120_000, rl.Schedule{Rollout: 6000, Epochs: 10, Minibatch: 1200, LR: 3e-4}},
		{"short", "vmas/wheel", 600_000, rl.Schedule{Rollout: 6000, Epochs: 10, Minibatch: 1200, LR: 3e-4}},
		{"paper", "vmas/wheel", 3_024_000, rl.Schedule{Rollout: 36_000, Epochs: 30, Minibatch: 2400}},
	} {
		if *scheduleFlag == "" || !strings.Contains(budget.name, *scheduleFlag) {
			continue
		}
		b.Run(budget.name, func(b *testing.B) {
			s := budget.schedule
			s.Sparing, s.Frames, s.Updates = budget.name != "paper", budget.frames, s.Epochs*s.Rollout/s.Minibatch
			compareSchedules(b, budget.task, memories, s)
		})
	}
}

func compareSchedules(b *testing.B, task string, memories []string, s rl.Schedule) {
	p := &panel{last: s.Frames/s.Rollout - 1}
	var shares []float64
	must.Do(b, json.Unmarshal([]byte(*sharesFlag), &shares))
	for _, mem := range memories {
		c := Default()
		must.Do(b, conf.Set(&c, "memory", mem))
		c = rl.OnSchedule[explore.Config](c, s).(Config)
		for _, share := range shares {
			c.Minibatch, c.Steps = *minibatchFlag, int(math.Ceil(share*float64(s.Updates)))
			p.cfgs = append(p.cfgs, c)
		}
	}
	cfg := must.Value(envs.Default(task))
	shared := cfg.Shared()
	shared.Reward, shared.NumEnvs = envs.Sparse, 60
	e := experiment.Config{
		Task: cfg.WithShared(shared), Learner: rl.OnSchedule[learn.Config](learn.DefaultMAPPO(), s),
		Policy: rl.OnSchedule[policy.Config](policy.DefaultMLP(), s), Explore: panelConfig{p}, Seed: 1,
		Budget: experiment.Budget{Name: "custom", Frames: s.Frames, EvalEvery: s.Frames, EvalEpisodes: 1},
	}
	store := must.Value(results.Open(b.TempDir()))
	conf.Register(panelConfig{})
	for b.Loop() {
		must.Value(experiment.Run(b.Context(), e, store))
	}
	b.Logf("memory steps minibatch ms/rollout explore nce_gain detector_gain calib_std gamma_hi progress")
	for i, got := range p.final {
		progress := "-"
		mem := i / len(shares)
		if j := slices.Index(shares, 4*shares[i%len(shares)]); j >= 0 {
			progress = fmt.Sprintf("%.2f", progressOf(p.first[i], got, p.final[mem*len(shares)+j]))
		}
		b.Logf("%6s %5d %9d %10.0f %7.3f %8.3f %13.3f %9.4f %8.2f %8s",
			memories[mem], p.cfgs[i].Steps, p.cfgs[i].Minibatch, float64(p.took[i].Milliseconds())/float64(p.last),
			got["explore"], got["nce_gain"], got["detector_gain"], got["calib_std"], got["gamma_hi"], progress)
	}
}

func progressOf(first, got, reference rl.Scalars) float64 {
	worst := math.Inf(1)
	for _, name := range []string{"explore", "nce_gain", "detector_gain"} {
		if all := reference[name] - first[name]; all > 0 {
			worst = math.Min(worst, (got[name]-first[name])/all)
		}
	}
	return worst
}

// panelConfig is an explorer that trains several modules and gives no bonus.
type panelConfig struct{ p *panel }

func (panelConfig) Kind() string { return "panel" }

func (panelConfig) Validate() error { return nil }

func (panelConfig) Requires(*nn.Build) (explore.Requirements, error) {
	return explore.Requirements{Labels: true}, nil
}

func (c panelConfig) Build(b *nn.Build) (explore.Module, error) {
	c.p.modules, c.p.final, c.p.first = nil, nil, nil
	for _, cfg := range c.p.cfgs {
		m, err := cfg.Build(&nn.Build{Spec: b.Spec, Backend: b.Backend, Store: nn.NewStore(1), Seed: 1})
		if err != nil {
			return nil, err
		}
		c.p.modules = append(c.p.modules, m.(*module))
	}
	c.p.took = make([]time.Duration, len(c.p.modules))
	return c.p, nil
}

type panel struct {
	cfgs         []Config
	last         int // iteration with the held-out rollout
	modules      []*module
	first, final []rl.Scalars
	took         []time.Duration
}

func (*panel) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

func (*panel) Reward(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }

func (p *panel) Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	for i, m := range p.modules {
		if x.Iteration == 0 || x.Iteration == p.last {
			s, err := m.losses(x)
			if err != nil {
				return nil, err
			}
			if x.Iteration == 0 {
				p.first = append(p.first, s)
			} else {
				p.final = append(p.final, s)
				continue
			}
		}
		start := time.Now()
		if _, err := m.Update(ctx, x); err != nil {
			return nil, err
		}
		p.took[i] += time.Since(start)
	}
	return nil, nil
}

// losses returns the means of the module's scalars over a quarter of the agent steps of x, without training.
func (m *module) losses(x *rl.Rollout) (rl.Scalars, error) {
	x, err := m.read(x, &m.view)
	if err != nil {
		return nil, err
	}
	if err := memory.Watch(m.mem, x); err != nil {
		return nil, err
	}
	c := m.cfg
	var names []string
	m.build.Backend.Updates = 0 // one minibatch at a time
	p, err := m.program(m.build, "cermic.losses", func(sc *model.Scope, in batch) []*graph.Node {
		_, terms := c.losses(sc, m.mem, in)
		values := make([]*graph.Node, len(terms))
		names = names[:0]
		for i, t := range terms {
			names, values[i] = append(names, t.name), t.value
		}
		return []*graph.Node{graph.Stack(values, 0)}
	})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	rows, weight := m.sampler.draw(x, m.minibatch, m.stream("held out", 0, 0))
	rows = rows[:(len(rows)/m.minibatch+3)/4*m.minibatch]
	step := m.step
	m.step = p
	defer func() { m.step = step }()
	out, _, err := p.Means(context.Background(), names, func(yield func(error) bool) {
		for batch := range slices.Chunk(rows, m.minibatch) {
			m.feed(x, batch, weight[:m.minibatch], 0)
			if weight = weight[m.minibatch:]; !yield(nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out["nce_gain"] = math.Log(float64(c.Negatives+1)) - out["loss_nce"]
	return out, nil
}
