// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cermic/envs/conf"
	"cermic/reproduce/bench"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Folder is where peers are installed, below the root of the repository.
const Folder = ".peers"

// Groups are measured in this order; LearningGroup only where it is asked for.
var Groups = []string{"update", "train", "env", "python", "meltingpot", "collect"}

// beside is a pair in its group, and which environments of Python it takes.
type beside struct {
	group string
	Pair
	wheel, lab bool // our package in Python, Melting Pot
}

// Machine is where pairs are measured: the root of the repository, and what makes the wheel of the environments. The environments of Python
// are made when a pair needs them.
type Machine struct {
	Root           string
	Wheel          func() (file string, err error)
	benchMARL, lab Python
}

// of measures in BenchMARL's environment, which is only known when it is measured.
func (m *Machine) of(args ...string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) { return m.benchMARL.Measure(ctx, args...) }
}

// pairs are what bench -peers measures.
func (m *Machine) pairs() []beside {
	return slices.Concat(m.trainingPairs(), m.steppingPairs(), m.labPairs(), []beside{
		{"collect", Pair{Name: "BenchMARL's collection on Balance", Unit: "frames/s", Peer: "VMAS", Ours: m.of("collect", "cermic"), Theirs: m.of("collect", "vmas")}, true, false},
	})
}

// steppingPairs are VMAS's tasks, from Go and from Python.
func (m *Machine) steppingPairs() (out []beside) {
	for _, group := range []string{"env", "python"} {
		for _, r := range bench.Recorded {
			for _, copies := range []int{60, 1024} {
				name := fmt.Sprintf("%s, %d environments", strings.TrimPrefix(r.Task, "vmas/"), copies)
				ours := bench.Stepping(r.Task, copies)
				if group == "python" {
					name, ours = "Python: "+name, m.of("python", r.Task, fmt.Sprint(copies))
				}
				out = append(out, beside{group, Pair{Name: name, Unit: "frames/s", Peer: "VMAS", Ours: ours,
					Theirs: m.of("steps", strings.TrimPrefix(r.Task, "vmas/"), fmt.Sprint(copies))}, group == "python", false})
			}
		}
	}
	return out
}

// labPairs are Melting Pot's substrates from Python: ours as cells and as images, theirs always as images, of one environment at a time.
func (m *Machine) labPairs() (out []beside) {
	for _, r := range bench.RecordedSubstrates {
		substrate := strings.TrimPrefix(r.Task, "meltingpot/")
		for _, view := range []string{"cells", "pixels"} {
			out = append(out, beside{"meltingpot", Pair{Name: strings.TrimSuffix(substrate, "_in_the_matrix__repeated") + ", 60 environments, " + view, Unit: "frames/s", Peer: "Melting Pot",
				Ours: m.of("python", r.Task, "60", view), Theirs: func(ctx context.Context) (float64, error) { return m.lab.Measure(ctx, "substrate", substrate) }}, true, true})
		}
	}
	return out
}

// trainingPairs are one update beside torch's and training beside BenchMARL's.
func (m *Machine) trainingPairs() []beside {
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
		{"update", Pair{Name: "MAPPO update of 2400 frames", Unit: "ms", Peer: "torch", Smaller: true, Ours: bench.Updating, Theirs: m.of("update", "2400", "10")}, false, false},
		{"train", Pair{Name: "MAPPO, the paper's settings", Unit: "frames/s", Peer: "BenchMARL", Ours: bench.Training("mappo"),
			Theirs: m.of(append([]string{"train", "mappo", "2"}, onPolicy...)...)}, false, false},
		{"train", Pair{Name: "QMIX, settings of short", Unit: "frames/s", Peer: "BenchMARL", Ours: qmix,
			Theirs: m.of(append([]string{"train", "qmix", "3"}, offPolicy...)...)}, false, false},
	}
}

// Check says what no pair or group is called; the error is one sentence. only is as for Measure.
func Check(only string) error {
	if only == LearningGroup {
		return nil
	}
	_, err := chosen(new(Machine).pairs(), only)
	return err
}

// chosen are the pairs of a group, or of a part of it that is named after a stroke, as env/balance; of all groups if none is named.
func chosen(all []beside, only string) ([]beside, error) {
	group, part, _ := strings.Cut(only, "/")
	if only != "" && !slices.Contains(Groups, group) {
		return nil, fmt.Errorf("-peers measures the groups %s and %s, not %q%s", strings.Join(Groups, ", "), LearningGroup, only, conf.Near(group, Groups))
	}
	var out []beside
	for _, g := range Groups {
		for _, p := range all {
			if p.group == g && (only == "" || g == group && strings.Contains(strings.ToLower(p.Name), strings.ToLower(part))) {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no pair of the group %s has %q in its name", group, part)
	}
	return out, nil
}

// install makes the environments that pairs take.
func (m *Machine) install(ctx context.Context, out io.Writer, wheel, lab bool) (err error) {
	say := func(line string) { fmt.Fprintln(out, line) }
	if m.benchMARL, err = Install(ctx, filepath.Join(m.Root, Folder), BenchMARL, say); err != nil {
		return err
	}
	if lab {
		if m.lab, err = Install(ctx, filepath.Join(m.Root, Folder, "meltingpot"), MeltingPot, say); err != nil {
			return err
		}
	}
	if !wheel {
		return nil
	}
	file, err := m.Wheel()
	if err != nil {
		return err
	}
	if err := m.benchMARL.Add(ctx, file); err != nil {
		return fmt.Errorf("pip could not install %s: %w", file, err)
	}
	return nil
}

// Measure lets this program and its peers take turns and prints the ratios of the turns, as one JSON object a line if lines is set: of all
// groups, of the group that only names, or of a part of it that is named after a stroke, as env/balance.
func (m *Machine) Measure(ctx context.Context, out io.Writer, only string, rounds int, lines bool) error {
	if only == LearningGroup {
		return m.learn(ctx, out)
	}
	list, err := chosen(m.pairs(), only)
	if err != nil {
		return err
	}
	wheel := slices.ContainsFunc(list, func(p beside) bool { return p.wheel })
	if err := m.install(ctx, out, wheel, slices.ContainsFunc(list, func(p beside) bool { return p.lab })); err != nil {
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
func printTurns(out io.Writer, o Outcome, lines bool) error {
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
	_, err := fmt.Fprintf(out, "%-40s %9s %-8s %s %s: %.3g× (%.3g to %.3g in %s)\n", o.Name, bench.Amount(Median(o.Here)), o.Unit, o.Peer,
		bench.Amount(Median(o.There)), Median(r), r[0], r[len(r)-1], viz.Count(len(r), "turn"))
	return err
}
