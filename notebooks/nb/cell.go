// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/viz"
)

// Notes in the folder NB_KERNEL, which the cells of a kernel share with its relay, reproduce/jupyter/kernels/relay.py.
const (
	cellNote        = "cell"        // the cell that runs
	usesNote        = "uses"        // the cell uses this package
	failedNote      = "failed"      // the last cell that uses this package and failed; gone once it works
	interruptedNote = "interrupted" // the last training that was stopped
	controlsNote    = "controls"    // positions of sliders and menus on the page
	askedNote       = "asked"       // another page asks for the cell that runs
	goneNote        = "gone"        // no page is connected to the kernel, or the cell has ended for the other page
)

// cell is a cell of a kernel, as its relay names it.
type cell struct {
	Number int    `json:"number"` // as in [5]
	Name   string `json:"name"`   // stays the same when the cell is run again
	Train  string `json:"train"`  // the button that ran the cell: "train", "again" or none
}

// stop is a training that was interrupted.
type stop struct {
	Cell   cell   `json:"cell"`
	Run    string `json:"run"`
	Label  string `json:"label"`
	Frames int    `json:"frames"`
	GoesOn bool   `json:"goes_on"` // in a process of its own
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

// ready runs once, where a cell begins to use this package. It ends a cell that would build on one that failed, and
// says where a cell builds on a training that was interrupted.
var ready = sync.OnceFunc(func() {
	path := notePath(usesNote)
	if path == "" || os.WriteFile(path, nil, 0o666) != nil {
		return // without the relay, or with one that is just ending
	}
	now := thisCell()
	var failed cell
	if readNote(failedNote, &failed) && failed.Name != now.Name {
		fmt.Fprintf(os.Stderr, "Cell [%d] failed: run it again first.\n", failed.Number)
		os.Exit(1)
	}
	if line := unfinished(now); line != "" && gonbui.IsNotebook {
		gonbui.SendData(&protocol.DisplayData{Data: content{protocol.MIMETextMarkdown: "*" + line + "*", protocol.MIMETextPlain: line}})
		gonbui.Sync()
	}
})

// unfinished is a sentence about the training that was interrupted last; empty if it is complete by now or this cell
// goes on with it.
func unfinished(now cell) string {
	var s stop
	if !readNote(interruptedNote, &s) || s.Cell.Name == now.Name {
		return ""
	}
	if st, err := results.Open(storeFolder()); err == nil && s.Run != "" {
		if r, err := st.Head(s.Run); err == nil && r.Complete || errors.Is(err, fs.ErrNotExist) {
			return ""
		}
	}
	switch {
	case s.GoesOn:
		return fmt.Sprintf("The training in cell [%d] goes on without its page (run %s, %s): run that cell again to see it.",
			s.Cell.Number, s.Run, s.Label)
	case s.Run == "":
		return fmt.Sprintf("The training in cell [%d] was interrupted; this cell uses what it has saved.", s.Cell.Number)
	}
	return fmt.Sprintf("The training in cell [%d] was interrupted at %s frames (run %s, %s); this cell uses no more of it.",
		s.Cell.Number, viz.Short(float64(s.Frames)), s.Run, s.Label)
}

// interrupted notes for later cells that the training of r was stopped, or goes on in a process of its own; r is nil if
// it is not known.
func interrupted(r *results.Record, goesOn bool) {
	s := stop{Cell: thisCell(), GoesOn: goesOn}
	if r != nil {
		s.Run, s.Label, s.Frames = r.ID, r.Method+" on "+r.Task, r.Frames
	}
	if text, err := json.Marshal(s); err == nil && s.Cell.Name != "" {
		_ = os.WriteFile(notePath(interruptedNote), text, 0o666) // without the note a later cell only says less
	}
}
