// SPDX-License-Identifier: Apache-2.0

// Package campaign shows how far many runs are that train here, and hands them to a scheduler: as a job array of Slurm, or as a manifest for
// another one.
package campaign

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
	"time"
	"unicode"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Slurm is how a campaign is handed to the Slurm scheduler: one job array over the runs that the store lacks.
type Slurm struct {
	Account, Partition, GPUs, Time string // passed through to sbatch; empty: the cluster's own default
	Bundle                         int    // runs that one task of the array trains, one after the other
	Dry                            bool   // print the script instead of submitting it

	Work []string // flags of the verb work that say how a task trains
}

// Flags declares them.
func (s *Slurm) Flags(f *flag.FlagSet) {
	f.StringVar(&s.Account, "account", "", "with -on slurm: the `account` to charge")
	f.StringVar(&s.Partition, "partition", "", "with -on slurm: the `partition`")
	f.StringVar(&s.GPUs, "gpus", "", "with -on slurm: GPUs of each task, `n` or type:n")
	f.StringVar(&s.Time, "time", "", "with -on slurm: limit of each task, for example `4:00:00`; a run that does not finish is queued again and goes on")
	f.IntVar(&s.Bundle, "bundle", 1, "with -on slurm: `runs` that one task trains, one after the other")
	f.BoolVar(&s.Dry, "dry-run", false, "with -on slurm: print the script and submit nothing")
}

// maxBundle is more than any node trains within a cluster's limits.
const maxBundle = 1000

// Check returns one sentence about what cannot stand in a script.
func (s Slurm) Check(store string) error {
	for _, v := range []struct{ flag, value string }{
		{"store", store}, {"account", s.Account}, {"partition", s.Partition}, {"gpus", s.GPUs}, {"time", s.Time},
	} {
		if strings.ContainsFunc(v.value, unicode.IsControl) {
			return fmt.Errorf("-%s is %.80q: it has control characters, which would become lines of the job's script", v.flag, v.value)
		}
	}
	if s.Bundle < 1 || s.Bundle > maxBundle {
		return fmt.Errorf("-bundle is %d, want 1 to %d runs", s.Bundle, maxBundle)
	}
	return nil
}

// manifestLine is one run of a campaign's manifest.
type manifestLine struct {
	Method     string          `json:"method"`
	Experiment json.RawMessage `json:"experiment"`
}

// Submit writes manifest, program and script below the store and hands the script to sbatch. The store must be on a file
// system that all nodes share.
func (s Slurm) Submit(ctx context.Context, out io.Writer, es []experiment.Config, st *results.Store) error {
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
	folder := filepath.Join(store, results.CampaignsFolder, hex.EncodeToString(sum[:6]))
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	script := s.script(here, store, folder, (len(missing)+s.Bundle-1)/s.Bundle)
	if s.Dry {
		_, err := io.WriteString(out, script)
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
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
		if err := errors.Join(os.WriteFile(temporary, content, 0o777), os.Chtimes(temporary, time.Time{}, experiment.Built())); err != nil {
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
		strings.TrimSpace(string(said)), viz.Count(len(missing), "run"), viz.Count((len(missing)+s.Bundle-1)/s.Bundle, "task"), folder)
	return nil
}

// writeManifest is one line an experiment.
func writeManifest(es []experiment.Config) ([]byte, error) {
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

// FileManifest leaves the manifest of what st lacks in a file, for another scheduler.
func FileManifest(out io.Writer, path string, es []experiment.Config, st *results.Store) error {
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
	_, err = fmt.Fprintf(out, "%s in %s. The n-th, from 0: go run ./reproduce work -index n -store %s %s\n", viz.Count(len(missing), "run"), path, st.Dir(), path)
	return err
}

// maxManifest is more than the largest manifest has in bytes.
const maxManifest = 1 << 30

// ReadManifest reads what FileManifest and Submit write.
func ReadManifest(path string) ([]experiment.Config, error) {
	data, err := results.ReadFile(path, maxManifest)
	if err != nil {
		return nil, err
	}
	return parseManifest(data, path)
}

// parseManifest reads the content of the manifest at path.
func parseManifest(data []byte, path string) ([]experiment.Config, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty, want a manifest as campaign -manifest writes it", path)
	}
	var es []experiment.Config
	for i, text := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var line manifestLine
		var e experiment.Config
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
func (s Slurm) script(here, store, folder string, tasks int) string {
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
		{"account", s.Account}, {"partition", s.Partition}, {"gpus-per-task", s.GPUs}, {"time", s.Time},
	} {
		if option.value != "" {
			line("#SBATCH --%s=%s", option.name, option.value)
		}
	}
	if s.GPUs != "" {
		line("#SBATCH --ntasks=1")
	}
	line("cd %s || exit 1", quote(here))
	line("%s work -store %s -index \"$SLURM_ARRAY_TASK_ID\" -bundle %d%s %s &", quote(folder+"/reproduce"), quote(store), s.Bundle, s.work(), quote(folder+"/manifest.jsonl"))
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

// work are the flags of the verb work, for a shell.
func (s Slurm) work() (flags string) {
	for _, arg := range s.Work {
		flags += " " + quote(arg)
	}
	return flags
}

// quote makes one word of text for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
