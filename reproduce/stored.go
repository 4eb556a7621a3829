// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cermic/reproduce/plan"
)

// located adds to the error about a run of somebody's own task or method in which notebooks its code is.
func located(err error) error {
	var foreign *plan.ForeignError
	if !errors.As(err, &foreign) {
		return err
	}
	where := "the file that it was trained from"
	if root, err := repository(); err == nil {
		if books := notebooksWith(root, foreign.Kind); len(books) > 0 {
			where = strings.Join(books, " or ")
		}
	}
	return fmt.Errorf("%w; its code is in %s: evaluate it there, with experiment.Evaluate", err, where)
}

// notebooksWith are the notebooks of the repository that name a kind in their code.
func notebooksWith(root, kind string) (books []string) {
	all, _ := fs.Glob(os.DirFS(root), "notebooks/*.ipynb")
	for _, path := range all {
		if text, err := os.ReadFile(filepath.Join(root, path)); err == nil && bytes.Contains(text, []byte(`return \"`+kind+`\"`)) {
			books = append(books, path)
		}
	}
	return books
}
