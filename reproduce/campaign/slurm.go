// SPDX-License-Identifier: Apache-2.0

// Package campaign shows the progress of many runs that train here, and hands them to a scheduler. It writes a job
// array for Slurm, or a manifest for another scheduler.
package campaign

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/pflag"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Slurm holds the options of a job array over the runs that a store lacks.
type Slurm struct {
	Account, Partition, GPUs, Time string   // passed to sbatch; empty: the cluster's default
	Bundle                         int      // runs that one task of the array trains in sequence
	Dry                            bool     // print the script instead of submitting it
	Work                           []string // flags of the command work
}

// SlurmFlags are the flags that only -on slurm reads.
var SlurmFlags = []string{"account", "partition", "gpus", "time", "bundle", "dry-run"}

// Flags declares SlurmFlags.
func (s *Slurm) Flags(f *pflag.FlagSet) {
	f.StringVar(&s.Account, "account", "", "with -on slurm: the `account` to charge")
	f.StringVar(&s.Partition, "partition", "", "with -on slurm: the `partition`")
	f.StringVar(&s.GPUs, "gpus", "", "with -on slurm: GPUs of each task, `n` or type:n")
	f.StringVar(&s.Time, "time", "", "with -on slurm: time limit of each task, for example `4:00:00`; "+
		"an unfinished run is queued again and resumes")
	f.IntVar(&s.Bundle, "bundle", 1, "with -on slurm: `runs` that one task trains in sequence")
	f.BoolVar(&s.Dry, "dry-run", false, "with -on slurm: print the script and submit nothing")
}

// Submit writes manifest, program and script below the store and hands the script to sbatch. The store must be on a
// file system that all nodes share.
func (s Slurm) Submit(ctx context.Context, out io.Writer, es []experiment.Config, st *results.Store) error {
	manifest, runs, err := missingManifest(out, es, st)
	if err != nil || runs == 0 {
		return err
	}
	sum := sha256.Sum256(manifest)
	store, err := filepath.Abs(st.Dir())
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	folder := filepath.Join(store, results.CampaignsFolder, hex.EncodeToString(sum[:6]))
	tasks := (runs + s.Bundle - 1) / s.Bundle
	var script bytes.Buffer
	if err := job.Execute(&script, struct {
		Slurm
		Here, Store, Folder string
		Last                int
	}{s, here, store, folder, tasks - 1}); err != nil {
		return err
	}
	if s.Dry {
		_, err := script.WriteTo(out)
		return err
	}
	if err := experiment.CopyProgram(filepath.Join(folder, "reproduce")); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"manifest.jsonl": manifest, "job.sh": script.Bytes()} {
		path := filepath.Join(folder, name)
		if err := results.WriteFile(path, content); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o777); err != nil {
			return err
		}
	}
	said, err := exec.CommandContext(ctx, "sbatch", filepath.Join(folder, "job.sh")).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("sbatch was not found: submit from a machine of the cluster, or print the script with -dry-run")
	}
	if err != nil {
		return fmt.Errorf("sbatch: %s", strings.Join(strings.Fields(string(said)), " "))
	}
	fmt.Fprintf(out, "%s: %s in %s\nScript, manifest and logs are in %s. To follow: go run ./reproduce status\n",
		strings.TrimSpace(string(said)), viz.Count(runs, "run"), viz.Count(tasks, "task"), folder)
	return nil
}

// FileManifest leaves the manifest of the runs that st lacks in a file, for another scheduler.
func FileManifest(out io.Writer, path string, es []experiment.Config, st *results.Store) error {
	manifest, runs, err := missingManifest(out, es, st)
	if err != nil || runs == 0 {
		return err
	}
	if err := results.WriteFile(path, manifest); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s in %s. The n-th, from 0: go run ./reproduce work -index n -store %s %s\n",
		viz.Count(runs, "run"), path, st.Dir(), path)
	return err
}

// missingManifest returns the manifest of the runs that st lacks, and their number. If there are none, it prints a
// sentence.
func missingManifest(out io.Writer, es []experiment.Config, st *results.Store) (manifest []byte, runs int, err error) {
	missing, err := plan.Missing(es, st)
	if err != nil {
		return nil, 0, err
	}
	if len(missing) == 0 {
		_, err := fmt.Fprintln(out, "Nothing is missing.")
		return nil, 0, err
	}
	manifest, err = writeManifest(missing)
	return manifest, len(missing), err
}

type manifestLine struct {
	Method     string          `json:"method"`
	Experiment json.RawMessage `json:"experiment"`
}

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

// ReadManifest reads what FileManifest and Submit write.
func ReadManifest(path string) ([]experiment.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty, want a manifest as campaign -manifest writes it", path)
	}
	var es []experiment.Config
	for i, text := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var line manifestLine
		var e experiment.Config
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("%s, line %d: this is no run of a manifest, write it anew with campaign -manifest: %w",
				path, i+1, err)
		}
		if err := conf.Unmarshal(line.Experiment, &e); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
		e.Method = line.Method
		es = append(es, e)
	}
	return es, nil
}

//go:embed job.sh.tmpl
var jobText string

// job is the script of a task of the array.
var job = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote}).Parse(jobText))

// quote makes one word of text for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
