// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/envs/conf"
	"cermic/reproduce/bench"
	"cermic/reproduce/paper"
	"cermic/reproduce/peers"
)

// peersFolder is where bench -peers installs what it measures beside this program.
const peersFolder = ".peers"

// peerRounds is how often each side of a pair is measured unless told otherwise.
const peerRounds = 5

// peerGroups are measured in this order; learningGroup only where it is asked for.
var peerGroups = []string{"update", "train", "env", "python", "meltingpot", "collect"}

// beside is a pair in its group, and which environments of Python it takes.
type beside struct {
	group string
	peers.Pair
	wheel, lab bool // our package in Python, Melting Pot
}

// installed are the environments of Python, made when a pair needs them.
type installed struct{ benchMARL, lab peers.Python }

// of measures in BenchMARL's environment, which is only known when it is measured.
func (in *installed) of(args ...string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) { return in.benchMARL.Measure(ctx, args...) }
}

// pairs are what bench -peers measures.
func (in *installed) pairs() []beside {
	return slices.Concat(in.trainingPairs(), in.steppingPairs(), in.labPairs(), []beside{
		{"collect", peers.Pair{Name: "BenchMARL's collection on Balance", Unit: "frames/s", Peer: "VMAS", Ours: in.of("collect", "cermic"), Theirs: in.of("collect", "vmas")}, true, false},
	})
}

// steppingPairs are VMAS's tasks, from Go and from Python.
func (in *installed) steppingPairs() (out []beside) {
	for _, group := range []string{"env", "python"} {
		for _, r := range bench.Recorded {
			for _, copies := range []int{60, 1024} {
				name := fmt.Sprintf("%s, %d copies", strings.TrimPrefix(r.Task, "vmas/"), copies)
				ours := bench.Stepping(r.Task, copies)
				if group == "python" {
					name, ours = "Python: "+name, in.of("python", r.Task, fmt.Sprint(copies))
				}
				out = append(out, beside{group, peers.Pair{Name: name, Unit: "frames/s", Peer: "VMAS", Ours: ours,
					Theirs: in.of("steps", strings.TrimPrefix(r.Task, "vmas/"), fmt.Sprint(copies))}, group == "python", false})
			}
		}
	}
	return out
}

// labPairs are Melting Pot's substrates from Python: ours as cells and as images, theirs always as images, of one environment at a time.
func (in *installed) labPairs() (out []beside) {
	for _, r := range bench.RecordedSubstrates {
		substrate := strings.TrimPrefix(r.Task, "meltingpot/")
		for _, view := range []string{"cells", "pixels"} {
			out = append(out, beside{"meltingpot", peers.Pair{Name: strings.TrimSuffix(substrate, "_in_the_matrix__repeated") + ", 60 copies, " + view, Unit: "frames/s", Peer: "Melting Pot",
				Ours: in.of("python", r.Task, "60", view), Theirs: func(ctx context.Context) (float64, error) { return in.lab.Measure(ctx, "substrate", substrate) }}, true, true})
		}
	}
	return out
}

// trainingPairs are one update beside torch's and training beside BenchMARL's.
func (in *installed) trainingPairs() []beside {
	h := paper.Hyper
	onPolicy := []string{fmt.Sprint("on_policy_collected_frames_per_batch=", h.OnPolicy.Frames), fmt.Sprint("on_policy_n_envs_per_worker=", h.OnPolicy.NumEnvs),
		fmt.Sprint("on_policy_n_minibatch_iters=", h.OnPolicy.Epochs), fmt.Sprint("on_policy_minibatch_size=", h.OnPolicy.Minibatch), fmt.Sprint("lr=", h.General.LearningRate)}
	offPolicy := []string{"off_policy_collected_frames_per_batch=6000", "off_policy_n_envs_per_worker=60", "off_policy_n_optimizer_steps=100",
		"off_policy_train_batch_size=1024", "off_policy_memory_size=600000", "lr=3e-4"}
	qmix := func(ctx context.Context) (float64, error) {
		s, err := bench.Iterations(ctx, "qmix", "vmas/balance")
		return s.FPS, err
	}
	return []beside{
		{"update", peers.Pair{Name: "MAPPO update of 2400 frames", Unit: "ms", Peer: "torch", Smaller: true, Ours: bench.Updating, Theirs: in.of("update", "2400", "10")}, false, false},
		{"train", peers.Pair{Name: "MAPPO, the paper's settings", Unit: "frames/s", Peer: "BenchMARL", Ours: bench.Training("mappo"),
			Theirs: in.of(append([]string{"train", "mappo", "2"}, onPolicy...)...)}, false, false},
		{"train", peers.Pair{Name: "QMIX, settings of short", Unit: "frames/s", Peer: "BenchMARL", Ours: qmix,
			Theirs: in.of(append([]string{"train", "qmix", "3"}, offPolicy...)...)}, false, false},
	}
}

// chosen are the pairs of a group, or of a part of it that is named after a stroke, as env/balance; of all groups if none is named.
func chosen(all []beside, only string) ([]beside, error) {
	group, part, _ := strings.Cut(only, "/")
	if only != "" && !slices.Contains(peerGroups, group) {
		return nil, usagef("-peers measures the groups %s and %s, not %q%s", strings.Join(peerGroups, ", "), learningGroup, only, conf.Near(group, peerGroups))
	}
	var out []beside
	for _, g := range peerGroups {
		for _, p := range all {
			if p.group == g && (only == "" || g == group && strings.Contains(strings.ToLower(p.Name), strings.ToLower(part))) {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return nil, usagef("no pair of the group %s has %q in its name", group, part)
	}
	return out, nil
}

// install makes the environments that pairs take.
func (in *installed) install(ctx context.Context, out io.Writer, wheel, lab bool) (err error) {
	root, err := repository()
	if err != nil {
		return err
	}
	s := setup{ctx: ctx, out: out, root: root}
	say := func(line string) { fmt.Fprintln(out, line) }
	if in.benchMARL, err = peers.Install(ctx, s.path(peersFolder), peers.BenchMARL, say); err != nil {
		return err
	}
	if lab {
		if in.lab, err = peers.Install(ctx, s.path(peersFolder, "meltingpot"), peers.MeltingPot, say); err != nil {
			return err
		}
	}
	if !wheel {
		return nil
	}
	s.out = io.Discard
	file, err := s.wheel()
	if err != nil {
		return err
	}
	if err := in.benchMARL.Add(ctx, file); err != nil {
		return fmt.Errorf("pip could not install %s: %w", file, err)
	}
	return nil
}

// benchPeers measures this program and its peers by turns and prints the ratios of the turns.
func benchPeers(ctx context.Context, out io.Writer, only string, rounds int, lines bool) error {
	var in installed
	if only == learningGroup {
		return in.learn(ctx, out)
	}
	list, err := chosen(in.pairs(), only)
	if err != nil {
		return err
	}
	wheel := slices.ContainsFunc(list, func(p beside) bool { return p.wheel })
	if err := in.install(ctx, out, wheel, slices.ContainsFunc(list, func(p beside) bool { return p.lab })); err != nil {
		return err
	}
	if err := bench.PrintMachine(out, lines); err != nil {
		return err
	}
	for _, p := range list {
		o, err := p.Measure(ctx, rounds)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := printTurns(out, o, lines); err != nil {
			return err
		}
	}
	return nil
}

// printTurns writes one pair: medians, and the median ratio with its extremes.
func printTurns(out io.Writer, o peers.Outcome, lines bool) error {
	r := o.Ratios()
	if lines {
		return json.NewEncoder(out).Encode(struct {
			Name   string    `json:"name"`
			Unit   string    `json:"unit"`
			Peer   string    `json:"peer"`
			Here   []float64 `json:"here"`
			There  []float64 `json:"there"`
			Ratios []float64 `json:"ratios"`
		}{o.Name, o.Unit, o.Peer, o.Here, o.There, r})
	}
	_, err := fmt.Fprintf(out, "%-40s %9s %-8s %s %s: %.3g× (%.3g to %.3g in %s)\n", o.Name, bench.Amount(peers.Median(o.Here)), o.Unit, o.Peer,
		bench.Amount(peers.Median(o.There)), peers.Median(r), r[0], r[len(r)-1], plural(len(r), "turn"))
	return err
}
