// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// notebooksCommand executes the notebooks from top to bottom, without a browser, on the same kernel as JupyterLab.
func notebooksCommand() *cobra.Command {
	var budget, only string
	var write, thumbnails bool
	cmd := &cobra.Command{
		Use:     "notebooks",
		Short:   "Execute the notebooks without a browser",
		Example: "  notebooks -budget smoke\n  notebooks -only 00_start -write",
		Args:    arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if thumbnails && (write || budget != "") {
				return usagef("notebooks -thumbnails executes nothing: leave out -write and -budget")
			}
			if _, err := cermiclib.FindPreset(cmp.Or(budget, cermiclib.DefaultBudget)); err != nil {
				return usageError{err}
			}
			s, err := newSetup(cmd)
			if err != nil {
				return err
			}
			books, err := s.notebooks(only)
			if err != nil {
				return err
			}
			if thumbnails {
				return s.thumbnails(books)
			}
			if err := s.all(); err != nil {
				return err
			}
			return s.execute(books, budget, write)
		},
	}
	f := cmd.Flags()
	f.StringVar(&budget, "budget", "", "`budget` of every notebook, with an empty store of runs: "+budgetNames())
	f.StringVar(&only, "only", "", "execute this `notebook` alone, for example 00_start")
	f.BoolVar(&write, "write", false, "replace the notebooks by their executed copies")
	f.BoolVar(&thumbnails, "thumbnails", false, "execute nothing and draw reproduce/jupyter/thumbnails")
	return cmd
}

// notebooks lists the notebooks, or the one that only names.
func (s setup) notebooks(only string) ([]string, error) {
	all, err := fs.Glob(os.DirFS(s.root), "notebooks/*.ipynb")
	for i := range all {
		all[i] = s.path(all[i])
	}
	if err != nil || len(all) == 0 {
		return nil, errors.New("there are no notebooks in notebooks/")
	}
	if only == "" {
		return all, nil
	}
	var known []string
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		if name == strings.TrimSuffix(only, ".ipynb") {
			return []string{path}, nil
		}
		known = append(known, name)
	}
	return nil, usagef("unknown notebook %q%s", only, conf.Near(only, known))
}

// cellSeconds is the time limit of a cell.
const cellSeconds = "3600"

// execute runs the notebooks one after the other. Copies go to notebooks/.executed and, with write, replace the books.
func (s setup) execute(books []string, budget string, write bool) error {
	executed := s.path("notebooks", ".executed")
	program := s.path("reproduce", "jupyter", "kernels", "execute.py")
	args := []string{program, executed, cellSeconds}
	cmd := exec.CommandContext(s.ctx, s.python(), append(args, books...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, s.out, s.out
	// Plain compiler messages, and no controls.
	cmd.Env = append(neutral(), s.jupyterPath(), "NB_HEADLESS=1", "GONB_FLAGS=-raw_error=true")
	if budget != "" {
		// A stored run would skip the training that this is to test.
		store := filepath.Join(executed, "runs")
		if err := os.RemoveAll(store); err != nil {
			return err
		}
		cmd.Env = append(cmd.Env, "NB_BUDGET="+budget, "NB_STORE="+store, "NB_TRAIN=first")
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("not every notebook ran to its end; what they did is in notebooks/.executed (%w)", err)
	}
	if !write {
		return nil
	}
	for _, path := range books {
		copied, err := os.ReadFile(filepath.Join(executed, filepath.Base(path)))
		if err != nil {
			return err
		}
		if err := results.WriteFile(path, copied); err != nil {
			return err
		}
	}
	return nil
}
