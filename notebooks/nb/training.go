// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// Train is experiment.Run for a cell. Once no page shows the notebook, a detached process continues the training until
// the cell runs again. The stop button and the end of the kernel save the run and end it.
func Train(
	ctx context.Context, e experiment.Config, st *results.Store, watch ...func(results.Event),
) (*results.Record, error) {
	l := takeOver(st)
	if !l.detached {
		l.forget()
	} else if err := l.note(e); err != nil {
		return nil, err
	}
	r, err := experiment.Run(ctx, e, st, watch...)
	l.leave(ctx, e, nil)
	return r, err
}

// Compile compiles an experiment's graphs in the background while a page is open, so that a control that chooses it
// answers sooner. It trains one rollout batch in a folder that it removes.
func Compile(ctx context.Context, e experiment.Config) {
	if Headless() {
		return
	}
	go func() {
		folder, err := os.MkdirTemp(os.Getenv("GONB_TMP_DIR"), "compile") // which GoNB removes if the cell ends before
		if err != nil {
			return // the graphs are compiled when they are needed
		}
		defer os.RemoveAll(folder)
		if st, err := results.Open(folder); err == nil {
			e.Budget.Frames, e.Budget.EvalEpisodes = 1, 1
			_, _ = experiment.Run(ctx, e, st) // a failure comes again, and is shown, when the run itself starts
		}
	}()
}

// Train trains the experiment that ask builds from the controls, and calls ask again when one is moved. The next run
// forks the present one where plan.Turn can. The stop button ends it. Without a page it continues as the function
// Train does.
func (c *Controls) Train(
	ctx context.Context, st *results.Store, ask func() experiment.Config, watch ...func(results.Event),
) {
	l := takeOver(st)
	var now experiment.Config
	if l.read() == nil { // it goes on where the page before has left it
		c.set(l.Settings)
		now = Must(l.experiment())
		if !l.detached {
			l.forget()
		}
	} else {
		now = ask()
	}
	c.show()
	first := true
	notice := func(e results.Event) {
		if e.FromStore {
			if v, err := experiment.Visits(now, st); err == nil {
				e.Visits = v
			}
		}
		for _, w := range watch {
			w(e)
		}
	}
	c.rounds(ctx, func() bool { return c.connected(ctx) }, func(round context.Context) {
		switch {
		case first:
		case c.anew:
			now = ask()
		default:
			now = Must(plan.Turn(st, now, ask()))
		}
		first = false
		warnings.begin()
		if _, err := experiment.Run(round, now, st, notice); ctx.Err() == nil {
			Check(err)
		}
	})
	c.end()
	l.leave(ctx, now, c.positions())
	if l.detached {
		l.forget()
	}
}

// A cell whose page is gone leaves its training to a detached process. This is a copy of the cell's own program that
// continues from the last checkpoint. The cell, run again, stops the process and continues the training itself.
const (
	leftFolder   = ".left"         // in the store, with a folder for each cell
	leftFile     = "training.json" // what is trained
	processFile  = "process"       // its ID; locked as long as the process lives
	leftVariable = "NB_LEFT"       // names the folder to the process
)

// left is a training that a cell has left to a detached process.
type left struct {
	folder     string
	detached   bool              // this is the process
	Notebook   string            `json:"notebook"` // file name
	Settings   map[string]string `json:"settings"` // positions of controls
	Experiment json.RawMessage   `json:"experiment"`
	Method     string            `json:"method"` // label
	Run        string            `json:"run"`    // ID
}

// leftHere is the training that this cell has left, if any, also after a restart or on another page.
func leftHere(st *results.Store) *left {
	notebook := os.Getenv("JPY_SESSION_NAME") // which Jupyter sets
	sum := sha256.Sum256([]byte(notebook + "\n" + thisCell().Name))
	folder := filepath.Join(st.Dir(), leftFolder, hex.EncodeToString(sum[:6]))
	return &left{folder: folder, Notebook: filepath.Base(notebook)}
}

// takeOver is the training of this process if a cell left it one, else what this cell has left, once it has stopped.
func takeOver(st *results.Store) *left {
	l := &left{folder: os.Getenv(leftVariable), detached: true}
	if l.folder == "" || l.read() != nil {
		l = leftHere(st)
		l.stop()
	}
	return l
}

func (l *left) path(name string) string { return filepath.Join(l.folder, name) }

func (l *left) read() error {
	text, err := os.ReadFile(l.path(leftFile))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, l)
}

func (l *left) experiment() (experiment.Config, error) {
	return experiment.Of(&results.Record{Method: l.Method, Experiment: l.Experiment})
}

func (l *left) note(e experiment.Config) (err error) {
	if l.Experiment, err = conf.Marshal(e); err != nil {
		return err
	}
	if l.Run, err = e.ID(); err != nil {
		return err
	}
	l.Method = e.Label()
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return results.WriteFile(l.path(leftFile), text)
}

// forget removes the note of a training that is done or taken over.
func (l *left) forget() { _ = os.Remove(l.path(leftFile)) }

// lives reports whether the process trains, and reads what.
func (l *left) lives() bool { return locked(l.path(processFile)) && l.read() == nil }

// stop asks the process, if it lives, to save and end, and waits for that for five seconds.
func (l *left) stop() {
	var pid int
	text, err := os.ReadFile(l.path(processFile))
	if _, bad := fmt.Sscan(string(text), &pid); err != nil || bad != nil || !locked(l.path(processFile)) {
		return
	}
	if p, err := os.FindProcess(pid); err != nil || p.Signal(os.Interrupt) != nil {
		return
	}
	for end := time.Now().Add(5 * time.Second); locked(l.path(processFile)) && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// start begins the process with a copy of this program, as the next cell's program will have its name.
func (l *left) start() error {
	if err := experiment.CopyProgram(l.path("program")); err != nil {
		return err
	}
	source := filepath.Join(os.Getenv("GONB_TMP_DIR"), "main.go")
	for from, to := range map[string]string{source: "main.go", notePath(cellNote): cellNote} {
		data, err := os.ReadFile(from)
		if err == nil {
			err = results.WriteFile(l.path(to), data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	log, err := os.Create(l.path("log"))
	if err != nil {
		return err
	}
	defer log.Close()
	lock, err := os.Create(l.path(processFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	cmd := exec.Command(l.path("program"), os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), protocol.GONB_PIPE_ENV+"=", // it is no cell, but has the source of one
		protocol.GONB_TMP_DIR_ENV+"="+l.folder, "NB_KERNEL="+l.folder, leftVariable+"="+l.folder, "NB_HEADLESS=1")
	if err := detach(cmd, lock); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(lock, cmd.Process.Pid)
	return errors.Join(err, cmd.Process.Release())
}

// leave ends a cell whose page has left it, and a detached process that was stopped. If the page is gone, a process
// continues the training. If another page shows the cell, that page continues it.
func (l *left) leave(ctx context.Context, e experiment.Config, settings map[string]string) {
	why := context.Cause(ctx)
	if l.detached && why != nil {
		os.Exit(0) // it is saved
	}
	if !errors.Is(why, errGone) && !errors.Is(why, errAsked) {
		return
	}
	l.Settings = settings
	err := l.note(e)
	if err == nil && errors.Is(why, errGone) {
		err = l.start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "The training is saved, but does not go on without its page:", err)
	}
	_ = os.WriteFile(notePath(goneNote), nil, 0o666) // the relay ends this page's requests behind this cell
	fmt.Printf("This cell has ended, as %v; its training goes on. Run the cell again to see it.\n", why)
	gonbui.Sync()
	os.Exit(0)
}
