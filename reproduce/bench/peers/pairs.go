// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"cermic/reproduce/bench"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// pair is one figure of this program and of a peer. Both sides return a number in unit.
type pair struct {
	group, name, unit, peer string
	ours, theirs            func(context.Context) (float64, error)
}

// peer measures with peers.py in an environment.
func (m *Machine) peer(e environment, args ...string) func(context.Context) (float64, error) {
	return func(context.Context) (float64, error) { return m.measure(e, args...) }
}

// benchmark measures a metric of one of this repository's benchmarks.
func (m *Machine) benchmark(pkg, pattern, unit string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (value float64, err error) {
		err = bench.Run(ctx, os.Stderr, m.Root, pkg, pattern, func(metric bench.Metric) {
			if metric.Unit == unit {
				value = metric.Value
			}
		})
		return value, err
	}
}

// pairs are all pairs: one update, training, VMAS's tasks from Go and from Python, Melting Pot's substrates, and
// BenchMARL's collection on both Balances. The substrates run from Python as cells and as images (which the original
// always paints).
func (m *Machine) pairs() []pair {
	var ofPaper []string // of a rollout batch: frames, environments, passes over it, frames of a minibatch
	for _, k := range []string{"collected_frames_per_batch", "envs_per_worker", "minibatch_iterations", "minibatch_size"} {
		ofPaper = append(ofPaper, paper.Hyper("on_policy."+k))
	}
	onPolicy := []string{"train", "mappo", "2",
		"on_policy_collected_frames_per_batch=" + ofPaper[0], "on_policy_n_envs_per_worker=" + ofPaper[1],
		"on_policy_n_minibatch_iters=" + ofPaper[2], "on_policy_minibatch_size=" + ofPaper[3],
		"lr=" + paper.Hyper("general.learning_rate_adam")}
	offPolicy := []string{"train", "qmix", "3", "off_policy_collected_frames_per_batch=6000",
		"off_policy_n_envs_per_worker=60", "off_policy_n_optimizer_steps=100", "off_policy_train_batch_size=1024",
		"off_policy_memory_size=600000", "lr=3e-4"}
	const oneUpdate = "MAPPO update of 2400 frames"
	update := m.benchmark("cermiclib/learn", "MAPPOUpdate", "ms/step")
	jaxMARL := append([]string{"train-jax", "2"}, ofPaper...)
	out := []pair{
		{"update", oneUpdate, "ms", "torch", update, m.peer(benchMARL, "update", "2400", "10")},
		{"update", oneUpdate, "ms", "torch.compile", update, m.peer(benchMARL, "update-compiled", "2400", "10")},
		{"update", oneUpdate, "ms", "jax", update, m.peer(jax, "update-jax", "2400", "10")},
		{"train", "MAPPO, the paper's settings", "frames/s", "BenchMARL",
			m.benchmark("reproduce/bench", "Training/paper/mappo$", "frames/s"), m.peer(benchMARL, onPolicy...)},
		{"train", "QMIX, settings of short", "frames/s", "BenchMARL",
			m.benchmark("reproduce/bench", "Training/short/balance/qmix$", "frames/s"), m.peer(benchMARL, offPolicy...)},
		{"train", "MAPPO on Simple Adversary", "frames/s", "JaxMARL",
			m.benchmark("reproduce/bench", "Training/cross5/simple_adversary/mappo$", "frames/s"), m.peer(jax, jaxMARL...)},
		{"collect", "BenchMARL's collection on Balance", "frames/s", "VMAS",
			m.peer(benchMARL, "collect", "cermic"), m.peer(benchMARL, "collect", "vmas")},
	}
	for _, task := range bench.Tasks {
		for _, environments := range []string{"60", "1024"} {
			name := fmt.Sprintf("%s, %s environments", task, environments)
			step := m.benchmark("envs/vmas", "^BenchmarkStep$/^"+task+"$/="+environments+"$/workers=2", "frames/s")
			python := m.peer(benchMARL, "python", "vmas/"+task, environments)
			theirs := m.peer(benchMARL, "steps", task, environments)
			out = append(out, pair{"env", name, "frames/s", "VMAS", step, theirs},
				pair{"python", "Python: " + name, "frames/s", "VMAS", python, theirs})
		}
	}
	for _, substrate := range bench.Substrates {
		for _, view := range []string{"cells", "pixels"} {
			name := fmt.Sprintf("%s, 60 environments, %s", strings.TrimSuffix(substrate, "_in_the_matrix__repeated"), view)
			ours := m.peer(benchMARL, "python", "meltingpot/"+substrate, "60", view)
			theirs := m.peer(meltingPot, "substrate", substrate)
			out = append(out, pair{"meltingpot", name, "frames/s", "Melting Pot", ours, theirs})
		}
	}
	return out
}

// chosen are the pairs of a group, or the pairs whose name or peer contains the part behind a slash, as in
// env/balance or update/jax. "" chooses all.
func chosen(all []pair, only string) ([]pair, error) {
	group, part, _ := strings.Cut(only, "/")
	var out []pair
	for _, g := range Groups {
		for _, p := range all {
			title := strings.ToLower(p.name + ", " + p.peer)
			if p.group == g && (only == "" || g == group && strings.Contains(title, strings.ToLower(part))) {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no pair of the group %s has %q in its name or peer", group, part)
	}
	return out, nil
}

// rounds counts the measurements on each side of a pair.
const rounds = 5

// Measure lets this program and its peers take turns and prints the ratios of the turns. An empty only chooses all
// groups. Otherwise it names a group, or pairs by a part of their name or peer behind a slash, as in env/balance.
func (m *Machine) Measure(ctx context.Context, out io.Writer, only string) error {
	list, err := chosen(m.pairs(), only)
	if err != nil {
		return err
	}
	var groups []string
	for _, p := range list {
		groups = append(groups, p.group)
	}
	if err := m.install(groups); err != nil {
		return err
	}
	if err := bench.PrintMachine(out); err != nil {
		return err
	}
	for _, p := range list {
		here, there, err := p.turns(ctx, rounds)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		r := p.ratios(here, there)
		fmt.Fprintf(out, "%-40s %9s %-8s %s %s: %.3g× (%.3g to %.3g in %s)\n", p.name, bench.Amount(median(here)), p.unit,
			p.peer, bench.Amount(median(there)), median(r), r[0], r[len(r)-1], viz.Count(len(r), "turn"))
	}
	return nil
}

// turns measures both sides rounds times; the side that goes first alternates.
func (p pair) turns(ctx context.Context, rounds int) (here, there []float64, err error) {
	for round := range rounds {
		for turn := range 2 {
			measure, values := p.ours, &here
			if (round+turn)%2 == 1 {
				measure, values = p.theirs, &there
			}
			value, err := measure(ctx)
			if err != nil {
				return nil, nil, err
			}
			*values = append(*values, value)
		}
	}
	return here, there, nil
}

// ratios are how many times better this program was in each round, sorted; fewer milliseconds are better.
func (p pair) ratios(here, there []float64) []float64 {
	out := make([]float64, len(here))
	for i := range out {
		if out[i] = here[i] / there[i]; p.unit == "ms" {
			out[i] = 1 / out[i]
		}
	}
	slices.Sort(out)
	return out
}

// median is the middle of the sorted values, or the mean of the two middle ones.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
