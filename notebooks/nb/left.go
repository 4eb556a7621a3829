// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// A cell whose page is gone leaves its training to a process that outlives it: a copy of the cell's own program, which goes on where the
// cell has saved. Its folder in the store says what it trains; the file with its process id is written anew every second
// and is gone when it ends.
const (
	leftFolder   = ".left"
	leftFile     = "training.json"
	aliveFile    = "alive"
	logFile      = "log"
	leftVariable = "NB_LEFT" // names the folder to the process
)

// left is a training that a cell has left to a process.
type left struct {
	folder     string
	Notebook   string            `json:"notebook"` // its name
	Cell       string            `json:"cell"`
	Settings   map[string]string `json:"settings"`   // positions of controls
	Experiment json.RawMessage   `json:"experiment"` // being trained
	Method     string            `json:"method"`     // label
	Run        string            `json:"run"`        // ID
}

// leftHere is the folder of what this cell has left, whether it has or not. After a restart of the kernel and from another page it is the same.
func leftHere(st *results.Store) *left {
	var now cell
	readNote(cellNote, &now)
	notebook := os.Getenv("JPY_SESSION_NAME") // Jupyter tells its kernels so
	sum := sha256.Sum256([]byte(notebook + "\n" + now.Name))
	return &left{folder: filepath.Join(st.Dir(), leftFolder, hex.EncodeToString(sum[:6])), Notebook: filepath.Base(notebook), Cell: now.Name}
}

// isLeft is what this process is to go on with; nil if it is a cell.
func isLeft() *left {
	folder := os.Getenv(leftVariable)
	if folder == "" {
		return nil
	}
	l := &left{folder: folder}
	if l.read() != nil {
		return nil
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

// experiment is the one that is trained, with its label.
func (l *left) experiment() (e experiment.Config, err error) {
	err = conf.Unmarshal(l.Experiment, &e)
	e.Method = l.Method
	return e, err
}

// lost is the age of a sign of life at which its process is taken for gone, though there is one with its number: it may be another's by now. A busy
// machine delays signs by seconds.
const lost = 30 * time.Second

// process is the process that trains; nil if it has ended.
func (l *left) process() *os.Process {
	info, err := os.Stat(l.path(aliveFile))
	if err != nil || time.Since(info.ModTime()) > lost {
		return nil
	}
	var pid int
	text, err := os.ReadFile(l.path(aliveFile))
	if err != nil {
		return nil
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return nil
	}
	return p
}

// stop asks the process to save and end, and waits for it as long as that should take.
func (l *left) stop() {
	p := l.process()
	if p == nil || p.Signal(os.Interrupt) != nil {
		return
	}
	for end := time.Now().Add(5 * time.Second); l.process() != nil && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// note writes down what is trained.
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
	if err := os.MkdirAll(l.folder, 0o777); err != nil {
		return err
	}
	return results.WriteFile(l.path(leftFile), text)
}

// trains reports whether the process says that it trains the run with this ID.
func (l *left) trains(id string) bool {
	now := left{folder: l.folder}
	return now.read() == nil && now.Run == id
}

// start begins the process with a copy of this program.
func (l *left) start(e experiment.Config, settings map[string]string) (err error) {
	l.Settings = settings
	if err := l.note(e); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	err = copyFile(program, l.path("cell"), 0o777) // the next cell's program will have its name
	if err := errors.Join(err, os.Chtimes(l.path("cell"), time.Time{}, experiment.Built())); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(os.Getenv("GONB_TMP_DIR"), "main.go"), l.path("main.go"), 0o666); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log, err := os.Create(l.path(logFile))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(l.path("cell"), os.Args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, leftEnvironment(l.folder)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := l.live(cmd.Process.Pid); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// leftEnvironment is that of the process: not of a kernel, and of the code that its cell had.
func leftEnvironment(folder string) (env []string) {
	store, err := filepath.Abs(storeFolder())
	if err != nil {
		store = storeFolder()
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GONB_") && name != "NB_KERNEL" && name != "NB_STORE" {
			env = append(env, v)
		}
	}
	return append(env, leftVariable+"="+folder, "GONB_TMP_DIR="+folder, "NB_STORE="+store, "NB_HEADLESS=1")
}

// live writes the sign of life of a process, which is never seen half written.
func (l *left) live(pid int) error {
	draft := l.path(aliveFile + ".new")
	if err := os.WriteFile(draft, []byte(fmt.Sprintln(pid)), 0o666); err != nil {
		return err
	}
	return os.Rename(draft, l.path(aliveFile))
}

// keepAlive shows that this process, which has been left a training, goes on; ended takes the sign away.
func (l *left) keepAlive() (ended func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(beat):
				_ = l.live(os.Getpid()) // without it a page believes that the training has stopped, and goes on with it once it has
			}
		}
	}()
	return func() {
		close(done)
		_ = os.Remove(l.path(aliveFile))
		_ = os.Remove(l.path("cell"))
	}
}

// copyFile replaces to, also if it is a program that runs.
func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	draft := to + ".new"
	out, err := os.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(draft, to)
}
