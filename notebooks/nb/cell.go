// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"cermic/envs/conf"
)

// Notes in the folder NB_KERNEL, which the cells of a kernel share with its relay, reproduce/jupyter/kernels/relay.py.
const (
	cellNote     = "cell"     // the cell that runs
	usesNote     = "uses"     // the cell uses this package
	failedNote   = "failed"   // the last cell that uses this package and failed; gone once it works
	controlsNote = "controls" // positions of sliders and menus on the page
	askedNote    = "asked"    // another page asks for the cell that runs
	goneNote     = "gone"     // no page is connected to the kernel, or the cell has ended for the other page
)

// cell is a cell of a kernel, as its relay names it.
type cell struct {
	Number int    `json:"number"` // as in [5]
	Name   string `json:"name"`   // stays the same when the cell is run again
	Train  string `json:"train"`  // the button that ran the cell: "train", "again" or none
}

// notePath is the path of a note; empty where there is no relay.
func notePath(name string) string {
	folder := os.Getenv("NB_KERNEL")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// readNote reads a note into v and reports whether there is one.
func readNote(name string, v any) bool {
	path := notePath(name)
	if path == "" {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(text, v) == nil
}

// thisCell is the cell that runs; without a relay it has no name.
func thisCell() (c cell) {
	readNote(cellNote, &c)
	return c
}

func init() {
	// The source of this program is part of a run's identity, with the tasks and methods in it. The next cell replaces
	// the file.
	if folder := os.Getenv("GONB_TMP_DIR"); folder != "" {
		if source, err := os.ReadFile(filepath.Join(folder, "main.go")); err == nil {
			conf.Program(source)
		}
	}
}

// ready runs once, where a cell begins to use this package. It ends a cell that would build on one that failed.
var ready = sync.OnceFunc(func() {
	path := notePath(usesNote)
	if path == "" || os.WriteFile(path, nil, 0o666) != nil {
		return // without the relay, or with one that is just ending
	}
	var failed cell
	if readNote(failedNote, &failed) && failed.Name != thisCell().Name {
		fmt.Fprintf(os.Stderr, "Cell [%d] failed: run it again first.\n", failed.Number)
		os.Exit(1)
	}
})
