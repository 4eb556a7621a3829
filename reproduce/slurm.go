// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// slurm is how a campaign is handed to the Slurm scheduler: one job array over the runs that the store lacks.
type slurm struct {
	account, partition, gpus, time string // passed through to sbatch; empty: the cluster's own default
	bundle                         int    // runs that one task of the array trains, one after the other
	dry                            bool   // print the script instead of submitting it
	work                           string // flags of the verb work that say how a task trains, for a shell
}

// flags declares them.
func (s *slurm) flags(f *flag.FlagSet) {
	f.StringVar(&s.account, "account", "", "with -on slurm: the `account` to charge")
	f.StringVar(&s.partition, "partition", "", "with -on slurm: the `partition`")
	f.StringVar(&s.gpus, "gpus", "", "with -on slurm: GPUs of each task, `n` or type:n")
	f.StringVar(&s.time, "time", "", "with -on slurm: limit of each task, for example `4:00:00`; a run that does not finish is queued again and goes on")
	f.IntVar(&s.bundle, "bundle", 1, "with -on slurm: `runs` that one task trains, one after the other")
	f.BoolVar(&s.dry, "dry-run", false, "with -on slurm: print the script and submit nothing")
}

// maxBundle is more than any node trains within a cluster's limits.
const maxBundle = 1000

// check returns one sentence about what cannot stand in a script.
func (s slurm) check(store string) error {
	for _, v := range []struct{ flag, value string }{
		{"store", store}, {"account", s.account}, {"partition", s.partition}, {"gpus", s.gpus}, {"time", s.time},
	} {
		if strings.ContainsFunc(v.value, unicode.IsControl) {
			return usagef("-%s is %.80q: it has control characters, which would become lines of the job's script", v.flag, v.value)
		}
	}
	if s.bundle < 1 || s.bundle > maxBundle {
		return usagef("-bundle is %d, want 1 to %d runs", s.bundle, maxBundle)
	}
	return nil
}

// manifestLine is one run of a campaign's manifest.
type manifestLine struct {
	Method     string          `json:"method"`
	Experiment json.RawMessage `json:"experiment"`
}

// submit writes manifest, program and script below the store and hands the script to sbatch. The store must be on a file
// system that all nodes share.
func (s slurm) submit(ctx context.Context, out io.Writer, es []run.Experiment, st *results.Store) error {
	missing, err := plan.Missing(es, st)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		fmt.Fprintln(out, "Nothing is missing.")
		return nil
	}
	manifest, err := writeManifest(missing)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(manifest)
	store, err := filepath.Abs(st.Dir())
	if err != nil {
		return err
	}
	folder := filepath.Join(store, "campaigns", hex.EncodeToString(sum[:6]))
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	script := s.script(here, store, folder, (len(missing)+s.bundle-1)/s.bundle)
	if s.dry {
		_, err := io.WriteString(out, script)
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, data := range map[string]func() ([]byte, error){
		"manifest.jsonl": func() ([]byte, error) { return manifest, nil },
		"job.sh":         func() ([]byte, error) { return []byte(script), nil },
		"reproduce":      func() ([]byte, error) { return os.ReadFile(program) }, // `go run` deletes its own
	} {
		content, err := data()
		if err != nil {
			return err
		}
		// A new file under the old name: nodes may be running the old one.
		temporary := filepath.Join(folder, name+".new")
		if err := os.WriteFile(temporary, content, 0o755); err != nil {
			return err
		}
		if err := os.Rename(temporary, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	sbatch := exec.CommandContext(ctx, "sbatch", filepath.Join(folder, "job.sh"))
	said, err := sbatch.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("there is no sbatch here: submit from a machine of the cluster, or look at the script with -dry-run")
	}
	if err != nil {
		return fmt.Errorf("sbatch: %s", strings.Join(strings.Fields(string(said)), " "))
	}
	fmt.Fprintf(out, "%s: %s in %s\nScript, manifest and logs are in %s. To follow: go run ./reproduce status\n",
		strings.TrimSpace(string(said)), plural(len(missing), "run"), plural((len(missing)+s.bundle-1)/s.bundle, "task"), folder)
	return nil
}

// writeManifest is one line an experiment.
func writeManifest(es []run.Experiment) ([]byte, error) {
	var b bytes.Buffer
	for _, e := range es {
		text, err := conf.Marshal(e)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(manifestLine{e.Label(), text})
		if err != nil {
			return nil, err
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

// fileManifest leaves the manifest of what st lacks in a file, for another scheduler.
func fileManifest(out io.Writer, path string, es []run.Experiment, st *results.Store) error {
	missing, err := plan.Missing(es, st)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		_, err := fmt.Fprintln(out, "Nothing is missing.")
		return err
	}
	manifest, err := writeManifest(missing)
	if err != nil {
		return err
	}
	if err := results.WriteFile(path, manifest); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s in %s. The n-th, from 0: go run ./reproduce work -index n -store %s %s\n", plural(len(missing), "run"), path, st.Dir(), path)
	return err
}

// readManifest reads it back.
func readManifest(path string) ([]run.Experiment, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty, want a manifest as campaign -manifest writes it", path)
	}
	var es []run.Experiment
	for i, text := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var line manifestLine
		var e run.Experiment
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("%s, line %d: this is no run of a manifest, write it anew with campaign -manifest: %w", path, i+1, err)
		}
		if err := conf.Unmarshal(line.Experiment, &e); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
		e.Method = line.Method
		es = append(es, e)
	}
	return es, nil
}

// script is the job. A task that was stopped, by its limit or by the cluster, has saved its run and asks to be queued again; so
// does one that was killed, a few times. One that the user cancels gets the same signal, but Slurm no longer calls it running:
// queued again, it would come back however often it is cancelled.
func (s slurm) script(here, store, folder string, tasks int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/bash")
	line("#SBATCH --job-name=cermic")
	line("#SBATCH --array=0-%d", tasks-1)
	line("#SBATCH --requeue")
	line("#SBATCH --open-mode=append")
	line("#SBATCH --signal=B:TERM@60")
	line("#SBATCH --output=\"%s/%%A_%%a.log\"", folder) // sbatch knows quotes
	for _, option := range []struct{ name, value string }{
		{"account", s.account}, {"partition", s.partition}, {"gpus-per-task", s.gpus}, {"time", s.time},
	} {
		if option.value != "" {
			line("#SBATCH --%s=%s", option.name, option.value)
		}
	}
	if s.gpus != "" {
		line("#SBATCH --ntasks=1")
	}
	line("cd %s || exit 1", quote(here))
	line("%s work -store %s -index \"$SLURM_ARRAY_TASK_ID\" -bundle %d%s %s &", quote(folder+"/reproduce"), quote(store), s.bundle, s.work, quote(folder+"/manifest.jsonl"))
	line("child=$!")
	line("trap 'kill -TERM \"$child\"' TERM")
	line("wait \"$child\"")
	line("status=$?")
	line("while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; status=$?; done # a signal ends the first wait")
	line("again=%d; [ \"$status\" -eq 130 ] && again=%d # 130: stopped and saved, so that it gets further each time", killedTries, stoppedTries)
	line("if [ \"$status\" -gt 128 ] && [ \"${SLURM_RESTART_COUNT:-0}\" -lt \"$again\" ] && [ \"$(squeue -h -j \"$SLURM_JOB_ID\" -o %%T)\" = RUNNING ]; then")
	line("\tscontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\" && sleep 60 # until the scheduler ends this one")
	line("fi")
	line("exit \"$status\"")
	return b.String()
}

// How often a task is queued again: after it was killed, and after it was stopped at its limit. A run of the paper's budget may
// need many of a short limit; one that never gets anywhere, because its limit is shorter than its start, ends all the same.
const (
	killedTries  = 20
	stoppedTries = 500
)

// quote makes one word of text for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// runWork trains one bundle of a manifest: what a task of a job array does.
func runWork(ctx context.Context, out io.Writer, args []string) error {
	var store string
	var index, bundle int
	names, err := parse("work", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&index, "index", 0, "number of the bundle")
		f.IntVar(&bundle, "bundle", 1, "`runs` of a bundle")
		forceFlag(f, &ctx)
		backendFlag(f)
		portableFlag(f)
	})
	if err != nil {
		return err
	}
	if len(names) == 0 || index < 0 || bundle < 1 {
		return usagef("work needs a manifest, an index of at least 0 and bundles of at least 1")
	}
	es, err := readManifest(names[0])
	if err != nil {
		return err
	}
	if index > (len(es)-1)/bundle {
		return fmt.Errorf("%s has %s, so bundle %d is empty", names[0], plural(len(es), "run"), index)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	es = es[index*bundle:]
	es = es[:min(bundle, len(es))]
	p := newProgress(out, len(es))
	err = run.RunAll(ctx, es, st, 1, p.watch)
	p.done()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "Stopped and saved.")
		return errStopped
	}
	return err
}
