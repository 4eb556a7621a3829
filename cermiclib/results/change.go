// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// This file holds the only ways in which a run's folder is changed. Each is safe against a process that is stopped at any place,
// for good or until another one has taken the run over; lock.go says how.

// temp is the name under which this owner, and no other, writes what will be called name.
func (r *Run) temp(name string) string {
	return r.path(name) + "." + strconv.Itoa(r.lock.number) + tempSuffix
}

// write makes the file that rename will give its name, durably.
func (r *Run) write(name string, content func(io.Writer) error) error {
	r.lease.step()
	return writeFile(r.temp(name), content)
}

// rename gives a file the name that it is read by, if the run is still ours. A temporary file made before a takeover is gone after
// it, so that nothing is renamed late.
func (r *Run) rename(from, name string) error {
	r.lease.step()
	if err := r.lock.held(); err != nil {
		return err
	}
	r.lease.step()
	return os.Rename(from, r.path(name))
}

// publish gives what write has written its name, durably.
func (r *Run) publish(name string) error {
	if err := r.rename(r.temp(name), name); err != nil {
		_ = os.Remove(r.temp(name))
		return err
	}
	return syncDir(r.dir)
}

// replaceSealed makes a file hold v as one sealed line: a reader, or a machine that loses power, sees the old file or the new one.
func (r *Run) replaceSealed(name string, v any) error {
	line, _, err := seal(0, v)
	if err != nil {
		return err
	}
	err = r.write(name, func(w io.Writer) error {
		_, err := w.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return r.publish(name)
}

// anew makes a file with that content in place of an old one, open for appending. Another process that still has the old one open
// cannot change the new one.
func (r *Run) anew(name string, content []byte) (*os.File, error) {
	err := r.write(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.temp(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return f, r.publish(name)
}

// aside renames a file that cannot be used to the first free name.damaged-N and returns that.
func (r *Run) aside(path, name string) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.damaged-%d", name, n)
		if _, err := os.Lstat(r.path(aside)); err == nil {
			continue
		}
		return aside, r.rename(path, aside)
	}
}
