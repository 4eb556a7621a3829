// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// errStopped ends a verb that the user stopped; it has said so itself.
var errStopped = errors.New("stopped")

// grace is how long a stopped verb may take to end by itself. Saving a run takes a moment; what looks at no context, such as compiling or
// reading many records, is left where it is: files are replaced at once or not at all, so that a process may end at any time.
const grace = 1700 * time.Millisecond

// graceToRead is that of a verb that changes nothing, most of which look at no context: there is nothing to wait for but a last line of its own.
const graceToRead = 200 * time.Millisecond

// kept says for each verb, by name, what is left of it after a stop and how to go on.
var kept = map[string]string{
	"list":      nothingChanged,
	"tasks":     startsAnew,
	"train":     goesOn,
	"campaign":  goesOn,
	"work":      goesOn,
	"pretrain":  "Stopped: pre-training that was done is kept, and the same command begins the one that was not.",
	"evaluate":  startsAnew,
	"watch":     startsAnew,
	"table":     goesOn,
	"results":   nothingChanged,
	"claims":    nothingChanged,
	"curves":    startsAnew,
	"export":    "Stopped: every file that was written is whole, and the same command writes all of them again.",
	"status":    nothingChanged,
	"delete":    "Stopped: runs that were deleted are gone, the others are whole; the same command names those that are left.",
	"check":     startsAnew,
	"bench":     startsAnew,
	"lab":       "Stopped: notebooks are as they were saved, and the same command opens them again.",
	"setup":     "Stopped: what was installed is kept, and the same command goes on with the rest.",
	"python":    "Stopped: what was installed is kept, and the same command goes on with the rest.",
	"notebooks": "Stopped: executed copies are in notebooks/.executed, and the same command executes all of them again.",
}

const (
	nothingChanged = "Stopped: nothing was changed."
	startsAnew     = "Stopped: nothing of it is kept, and the same command starts anew."
	goesOn         = "Stopped: what was saved is kept, the last ten seconds perhaps not; the same command goes on from there."
)

// console is the standard output of a verb. A verb that is left where it is may be in the middle of a table's row: the last word begins a
// line of its own, and nothing follows it.
type console struct {
	out   io.Writer
	mu    sync.Mutex
	open  bool // a line has begun and not ended
	ended bool // the last word has been said
}

// Write writes p as long as the last word has not been said; after it, it takes p for written.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || len(p) == 0 {
		return len(p), nil
	}
	n, err := c.out.Write(p)
	if n > 0 {
		c.open = p[n-1] != '\n'
	}
	return n, err
}

// last says the last word, on a line of its own.
func (c *console) last(word string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open {
		fmt.Fprintln(c.out)
	}
	fmt.Fprintln(c.out, word)
	c.ended = true
}

// Stat describes the file below, so that progress knows a terminal.
func (c *console) Stat() (os.FileInfo, error) {
	if f, ok := c.out.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// direct is what a program that is started writes to: the terminal or file itself, which it may ask for colours, and which it may leave to
// programs of its own; a pipe would have to be waited for until the last of them ends.
func direct(out io.Writer) io.Writer {
	if c, ok := out.(*console); ok {
		return c.out
	}
	return out
}

// ended waits for a verb that runs, after a stop no longer than a grace, and returns its error; errStopped is one that has been reported.
// lab waits for JupyterLab, which asks its kernels to end.
func ended(ctx context.Context, out *console, verb string, done <-chan error) error {
	select {
	case err := <-done:
		return stopped(ctx, out, verb, err)
	case <-ctx.Done():
	}
	var late <-chan time.Time
	switch {
	case kept[verb] == nothingChanged:
		late = time.After(graceToRead)
	case verb != "lab":
		late = time.After(grace)
	}
	select {
	case err := <-done:
		return stopped(ctx, out, verb, err)
	case <-late:
		return stopped(ctx, out, verb, ctx.Err())
	}
}

// stopped turns the error with which a stop ends a verb, or a program that it has started, into the sentence that says so.
func stopped(ctx context.Context, out *console, verb string, err error) error {
	said := errors.Is(err, errStopped)
	if ctx.Err() == nil || err == nil || !said && !errors.Is(err, ctx.Err()) && !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	if !said {
		out.last(kept[verb])
	}
	return errStopped
}
