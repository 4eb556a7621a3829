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

// The folder that NB_KERNEL names holds notes between the cells of a kernel and its relay, reproduce/jupyter/kernels/relay.py:
//
//	cell         which cell runs
//	uses         it uses this package
//	failed       the last cell that uses this package, failed and was not run again
//	interrupted  what the last training was that was stopped
//	asked        another page asks for the cell that runs
//	left         the page of the cell that runs is gone
const (
	cellNote        = "cell"
	usesNote        = "uses"
	failedNote      = "failed"
	interruptedNote = "interrupted"
	askedNote       = "asked"
	leftNote        = "left"
)

// cell is a cell of a kernel, as its relay names it.
type cell struct {
	Number int    `json:"number"` // as in [5]
	Name   string `json:"name"`   // stays the same when the cell is run again
}

// stop is a training that was interrupted.
type stop struct {
	Cell   cell   `json:"cell"`
	Store  string `json:"store"`
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

func init() {
	// Before another cell replaces it: the source of this program, whose tasks and methods are part of what is trained.
	if folder := os.Getenv("GONB_TMP_DIR"); folder != "" {
		if source, err := os.ReadFile(filepath.Join(folder, "main.go")); err == nil {
			conf.Program(source)
		}
	}
}

// ready is called where a cell begins to use this package: it ends a cell that would build on one that failed, and says so where
// it builds on a training that was interrupted.
var ready = sync.OnceFunc(func() {
	var now, failed cell
	path := notePath(usesNote)
	if path == "" || os.WriteFile(path, nil, 0o666) != nil {
		return // without the relay, or with one that is just ending
	}
	readNote(cellNote, &now)
	if readNote(failedNote, &failed) && failed.Name != now.Name {
		fmt.Fprintf(os.Stderr, "Cell [%d] failed: run it again first.\n", failed.Number)
		os.Exit(1)
	}
	if line := halfDone(now); line != "" && gonbui.IsNotebook {
		gonbui.SendData(&protocol.DisplayData{Data: content{protocol.MIMETextMarkdown: "*" + line + "*", protocol.MIMETextPlain: line}})
		gonbui.Sync()
	}
})

// halfDone is a sentence about the training that was interrupted last, empty if it went on to its end since or this cell goes on with it.
func halfDone(now cell) string {
	var s stop
	if !readNote(interruptedNote, &s) || s.Cell.Name == now.Name {
		return ""
	}
	if st, err := results.Open(s.Store); err == nil {
		if r, err := st.Head(s.Run); err == nil && r.Complete || errors.Is(err, fs.ErrNotExist) && s.Run != "" {
			return ""
		}
	}
	if s.GoesOn {
		return fmt.Sprintf("The training in cell [%d] went on without its page (run %s, %s): run that cell again to see it.", s.Cell.Number, s.Run, s.Label)
	}
	if s.Run == "" {
		return fmt.Sprintf("The training in cell [%d] was interrupted; what follows has what was saved of it.", s.Cell.Number)
	}
	return fmt.Sprintf("The training in cell [%d] was interrupted at %s frames (run %s, %s); what follows has no more of it.",
		s.Cell.Number, viz.Short(float64(s.Frames)), s.Run, s.Label)
}

// interrupted notes that the training of r was stopped, for the cells behind; nil is a training that is not known.
func interrupted(r *results.Record) {
	var s stop
	path := notePath(interruptedNote)
	if path == "" || !readNote(cellNote, &s.Cell) {
		return
	}
	if r != nil {
		s.Run, s.Label, s.Frames = r.ID, r.Method+" on "+r.Task, r.Frames
		s.Store = storeFolder()
		if absolute, err := filepath.Abs(s.Store); err == nil {
			s.Store = absolute
		}
	}
	if text, err := json.Marshal(s); err == nil {
		_ = os.WriteFile(path, text, 0o666) // a note that cannot be left does no harm
	}
}
