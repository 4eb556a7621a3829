// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"cermic/reproduce/paper"
	"cermic/reproduce/peers"
)

// peersFolder is where bench -peers installs what it measures beside this program.
const peersFolder = ".peers"

// peerRounds is how often each side of a pair is measured.
const peerRounds = 5

// pairs are what bench -peers measures, in groups as bench's own figures.
func pairs(python peers.Python) map[string][]peers.Pair {
	theirs := func(args ...string) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return python.Measure(ctx, args...) }
	}
	var env []peers.Pair
	for _, r := range recorded {
		scenario := strings.TrimPrefix(r.task, "vmas/")
		for _, copies := range []int{60, 1024} {
			env = append(env, peers.Pair{Name: fmt.Sprintf("%s, %d copies", r.task, copies), Unit: "frames/s", Peer: "VMAS",
				Ours: stepping(r.task, copies), Theirs: theirs("steps", scenario, fmt.Sprint(copies))})
		}
	}
	h := paper.Hyper
	onPolicy := []string{fmt.Sprint("on_policy_collected_frames_per_batch=", h.OnPolicy.Frames), fmt.Sprint("on_policy_n_envs_per_worker=", h.OnPolicy.Copies),
		fmt.Sprint("on_policy_n_minibatch_iters=", h.OnPolicy.Epochs), fmt.Sprint("on_policy_minibatch_size=", h.OnPolicy.Minibatch), fmt.Sprint("lr=", h.General.LearningRate)}
	offPolicy := []string{"off_policy_collected_frames_per_batch=6000", "off_policy_n_envs_per_worker=60", "off_policy_n_optimizer_steps=100",
		"off_policy_train_batch_size=1024", "off_policy_memory_size=600000", "lr=3e-4"}
	return map[string][]peers.Pair{
		"env":    env,
		"update": {{Name: "MAPPO update of 2400 frames", Unit: "ms", Peer: "torch", Smaller: true, Ours: updating, Theirs: theirs("update", "2400", "20")}},
		"train": {
			{Name: "MAPPO, the paper's settings", Unit: "frames/s", Peer: "BenchMARL", Ours: training("mappo"),
				Theirs: theirs(append([]string{"train", "mappo", "2"}, onPolicy...)...)},
			{Name: "QMIX, settings of short", Unit: "frames/s", Peer: "BenchMARL", Ours: func(ctx context.Context) (float64, error) {
				s, err := iterations(ctx, "qmix", "vmas/balance")
				return s.FPS, err
			}, Theirs: theirs(append([]string{"train", "qmix", "3"}, offPolicy...)...)},
		},
	}
}

// benchPeers measures this program and its peers by turns and prints the ratios of the turns.
func benchPeers(ctx context.Context, out io.Writer, only string, lines bool) error {
	root, err := repository()
	if err != nil {
		return err
	}
	python, err := peers.Install(ctx, setup{root: root}.path(peersFolder), func(line string) { fmt.Fprintln(out, line) })
	if err != nil {
		return err
	}
	if err := printMachine(out, lines); err != nil {
		return err
	}
	all := pairs(python)
	if _, ok := all[only]; only != "" && !ok {
		return usagef("-peers measures the groups env, update and train, not %q", only)
	}
	for _, group := range []string{"update", "train", "env"} {
		for _, p := range all[group] {
			if only != "" && only != group {
				continue
			}
			o, err := p.Measure(ctx, peerRounds)
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
	_, err := fmt.Fprintf(out, "%-40s %9s %-8s %s %s: %.3g× (%.3g to %.3g in %s)\n", o.Name, amount(peers.Median(o.Here)), o.Unit, o.Peer,
		amount(peers.Median(o.There)), peers.Median(r), r[0], r[len(r)-1], plural(len(r), "turn"))
	return err
}
