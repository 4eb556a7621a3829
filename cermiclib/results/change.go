// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// This file holds the only ways in which a run's folder is changed. Each is safe against a process that is stopped at any place,
// for good or until another one has taken the run over; package lease says how.

// temp is the name under which this owner, and no other, writes what will be called name.
func (r *Run) temp(name string) string {
	return r.path(name) + "." + strconv.Itoa(r.lock.Number) + tempSuffix
}

// write makes the file that rename will give its name, durably.
func (r *Run) write(name string, content func(io.Writer) error) error {
	r.lease.Step()
	return writeFile(r.temp(name), content)
}

// rename gives a file the name that it is read by, if the run is still ours. A temporary file made before a takeover is gone after
// it, so that nothing is renamed late.
func (r *Run) rename(from, name string) error {
	r.lease.Step()
	if err := r.lock.Held(); err != nil {
		return err
	}
	r.lease.Step()
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

// writeRecord makes record.json hold a record: a reader, or a machine that loses power, sees the one before or this one.
func (r *Run) writeRecord(record *Record) error {
	began := time.Now()
	data, err := seal(record)
	if err != nil {
		return err
	}
	err = r.write(recordFile, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err == nil {
		err = r.publish(recordFile)
	}
	r.written = time.Now()
	r.took = r.written.Sub(began)
	return err
}

// setAside renames a file that cannot be used to the first free name.damaged-N and says why.
func (r *Run) setAside(name, why string) error {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.damaged-%d", name, n)
		if _, err := os.Lstat(r.path(aside)); err == nil {
			continue
		}
		err := r.rename(r.path(name), aside)
		if errors.Is(err, fs.ErrNotExist) {
			r.note(why)
			return nil
		}
		if err == nil {
			r.note(fmt.Sprintf("%s; set aside as %s", why, aside))
		}
		return err
	}
}
