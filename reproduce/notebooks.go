// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/image/draw"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/viz"
)

func notebooksCommand() *cobra.Command {
	var budget, only string
	var write, thumbnails bool
	cmd := &cobra.Command{
		Use:     "notebooks",
		Short:   "Execute the notebooks without a browser",
		Example: "  notebooks -budget smoke\n  notebooks -only 00_start -write",
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
	one, err := conf.Find("notebook", strings.TrimSuffix(only, ".ipynb"), all,
		func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".ipynb") })
	if err != nil {
		return nil, usageError{err}
	}
	return []string{one}, nil
}

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

// thumbnailWidth is in pixels; thumbnails are at most as high.
const thumbnailWidth = 200

// thumbnails draws reproduce/jupyter/thumbnails, which the index of notebooks shows. A thumbnail is the first figure
// of a notebook that is no film, or of its executed copy if the notebook is committed without outputs. Other thumbnails
// do not change.
func (s setup) thumbnails(books []string) error {
	for _, book := range books {
		figure, err := firstFigure(book)
		if err == nil && figure == nil {
			figure, err = firstFigure(s.path("notebooks", ".executed", filepath.Base(book)))
		}
		if os.IsNotExist(err) || err == nil && figure == nil {
			continue
		}
		if err != nil {
			return err
		}
		file := s.path("reproduce", "jupyter", "thumbnails", strings.TrimSuffix(filepath.Base(book), ".ipynb")+".png")
		if err := viz.WritePNG(file, thumbnail(figure)); err != nil {
			return err
		}
		fmt.Fprintln(s.out, file)
	}
	return nil
}

// firstFigure decodes the first PNG among the outputs of a notebook, of a film if there is no other, nil if there is
// none.
func firstFigure(path string) (image.Image, error) {
	outputs, err := outputsOf(path)
	if err != nil {
		return nil, err
	}
	var first []byte
	for _, output := range outputs {
		if isFilm := len(output.HTML) > 0; output.PNG != nil && (first == nil || !isFilm) {
			first = output.PNG
			if !isFilm {
				break
			}
		}
	}
	if first == nil {
		return nil, nil
	}
	figure, err := png.Decode(bytes.NewReader(first))
	if err != nil {
		return nil, fmt.Errorf("%s: a figure cannot be read: %w", path, err)
	}
	return figure, nil
}

// output is an output of a notebook's cell.
type output struct {
	PNG  []byte   `json:"image/png"`
	HTML []string `json:"text/html"` // lines
}

// outputsOf returns the outputs of a notebook in order.
func outputsOf(path string) (all []output, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var book struct {
		Cells []struct {
			Outputs []struct{ Data output }
		}
	}
	if err := json.Unmarshal(text, &book); err != nil {
		return nil, fmt.Errorf("%s is no notebook: %w", path, err)
	}
	for _, cell := range book.Cells {
		for _, out := range cell.Outputs {
			all = append(all, out.Data)
		}
	}
	return all, nil
}

// thumbnail scales down the upper part of a figure, at most as high as wide.
func thumbnail(figure image.Image) image.Image {
	from := figure.Bounds()
	from.Max.Y = min(from.Max.Y, from.Min.Y+from.Dx())
	small := image.NewRGBA(image.Rect(0, 0, thumbnailWidth, max(1, thumbnailWidth*from.Dy()/from.Dx())))
	draw.CatmullRom.Scale(small, small.Bounds(), figure, from, draw.Src, nil)
	return viz.Paletted(small)
}
