// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// runNotebooks executes the notebooks from top to bottom, without a browser, through the kernel that a reader gets.
func runNotebooks(ctx context.Context, out io.Writer, args []string) error {
	var budget, only string
	var write, thumbnails bool
	cell := time.Hour
	_, err := parse("notebooks", out, args, 0, func(set *flag.FlagSet) {
		set.StringVar(&budget, "budget", "", "override the `budget` of every notebook ("+budgetNames()+"), with an empty store of runs")
		set.StringVar(&only, "only", "", "execute this notebook alone, for example 00_start")
		set.BoolVar(&write, "write", false, "replace the notebooks by their executed copies")
		set.BoolVar(&thumbnails, "thumbnails", false, "execute nothing, but draw reproduce/jupyter/thumbnails from the pictures that are there")
		set.DurationVar(&cell, "cell", cell, "the longest that one cell may take")
	})
	if err != nil {
		return err
	}
	if cell < time.Second {
		return usagef("-cell is %v, want at least 1s", cell)
	}
	if budget != "" {
		if _, err := plan.FindPreset(budget); err != nil {
			return usageError{err}
		}
	}
	root, err := repository()
	if err != nil {
		return err
	}
	s := setup{ctx: ctx, out: out, root: root, gpu: nn.HasGPU()}
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
	return s.execute(books, budget, cell, write)
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

// execute runs the notebooks one after the other; copies go to notebooks/.executed.
func (s setup) execute(books []string, budget string, cell time.Duration, write bool) error {
	executed := s.path("notebooks", ".executed")
	args := []string{s.path("reproduce", "jupyter", "kernels", "execute.py"), executed, strconv.Itoa(int(cell.Seconds()))}
	cmd := exec.CommandContext(s.ctx, s.python(), append(args, books...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, direct(s.out), direct(s.out)
	// Plain compiler messages, and nobody to move a slider.
	cmd.Env = append(neutral(), s.jupyterPath(), "NB_HEADLESS=1", "GONB_FLAGS=-raw_error=true")
	if budget != "" {
		// A run that is found in the store proves nothing about the notebook.
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
	return replaceBooks(books, executed)
}

// replaceBooks puts the executed copies in the place of notebooks, each at once.
func replaceBooks(books []string, executed string) error {
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
