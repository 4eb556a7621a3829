// SPDX-License-Identifier: Apache-2.0

// Package nb helps notebook cells: it shows values, follows runs, reads controls and handles the stop button.
//
// Outside GoNB all output is dropped, so that the same code runs in tests and on a command line. Without a browser,
// controls keep their defaults and a cell runs once.
package nb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/records"
	"cermic/viz"
)

// Headless reports whether cells run without a browser; `reproduce notebooks` sets NB_HEADLESS.
func Headless() bool { return os.Getenv("NB_HEADLESS") != "" }

// Budget is the budget that a notebook names, unless NB_BUDGET overrides it: the same cells then run in seconds.
func Budget(name string) string {
	return cmp.Or(os.Getenv("NB_BUDGET"), name)
}

// Why a cell ends before its time.
var (
	errGone  = errors.New("no page shows it any more")
	errAsked = errors.New("another page shows it now")
)

// poll is the interval at which a cell reads the notes of its relay.
const poll = 100 * time.Millisecond

// Interruptible returns a context that ends with the stop button, with the kernel, and when no page or another page
// shows the cell. The cell must return within four seconds, since the kernel kills it after five.
func Interruptible() context.Context {
	ready()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if !gonbui.IsNotebook {
		context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	go func() {
		for ; ctx.Err() == nil; time.Sleep(poll) {
			switch {
			case os.Getppid() != parent: // the kernel was restarted
				cancel(context.Canceled)
			case exists(notePath(goneNote)):
				cancel(errGone)
			case exists(notePath(askedNote)):
				cancel(errAsked)
			}
		}
	}()
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(4 * time.Second)
		fmt.Println("Stopped in the middle of something; running the cell again goes on from what was saved last.")
		os.Exit(0)
	})
	return ctx
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Store opens the runs of this repository: one's own under runs/, and below them the committed ones. NB_STORE names
// another folder.
func Store() *results.Store {
	ready()
	st := Must(results.Open(storeFolder()))
	st.Base(records.Layer())
	return st
}

// storeFolder is taken from a notebook's folder, in which its cells run.
func storeFolder() string { return cmp.Or(os.Getenv("NB_STORE"), filepath.Join("..", "runs")) }

// Check ends the cell with one sentence if err is an error. A stopped run is no error.
func Check(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	ready()
	fmt.Fprintln(os.Stderr, err)
	gonbui.Sync()
	os.Exit(1)
}

// Must is Check for a call that also returns a value. A stopped run ends the cell.
func Must[T any](v T, err error) T {
	if errors.Is(err, context.Canceled) {
		gonbui.Sync()
		os.Exit(0)
	}
	Check(err)
	return v
}

// Known is Must for values that need a run's weights. Without weights it returns false and shows an empty figure
// whose title says so. A notebook without training thus runs to its end.
func Known[T any](v T, err error) (T, bool) {
	if errors.Is(err, fs.ErrNotExist) {
		Show(viz.Curves(viz.Figure{Title: "No such run has its weights here yet: train it above."}))
		return v, false
	}
	return Must(v, err), true
}

// send displays data, or replaces the block of that ID, and waits for the kernel, since the program may end next.
func send(id string, data content) {
	if gonbui.IsNotebook {
		ready()
		gonbui.SendData(&protocol.DisplayData{DisplayID: id, Data: data})
		gonbui.Sync()
	}
}

// Notes in the folder NB_KERNEL, which the cells of a kernel share with its relay, reproduce/jupyter/kernels/relay.py.
const (
	cellNote     = "cell"     // the cell that runs
	usesNote     = "uses"     // the cell uses this package
	failedNote   = "failed"   // the last cell that uses this package and failed; gone once it works
	controlsNote = "controls" // positions of sliders and menus on the page
	askedNote    = "asked"    // another page requests the cell that runs
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
	text, err := os.ReadFile(notePath(name))
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
