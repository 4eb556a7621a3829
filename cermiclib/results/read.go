// SPDX-License-Identifier: Apache-2.0

package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// The files of a run's folder. The first three make up the result: they are the same, byte for byte, however often the
// run was interrupted.
const (
	experimentFile = "experiment.json"
	evalsFile      = "evals.jsonl"
	scalarsFile    = "scalars.jsonl"
	hostFile       = "host.json"
	checkpointFile = "checkpoint.safetensors"
	previousFile   = "checkpoint.prev.safetensors"
	doneFile       = "done"
)

var resultFiles = []string{experimentFile, evalsFile, scalarsFile}

// header is the content of experiment.json.
type header struct {
	ID         string          `json:"id"`
	Task       string          `json:"task"`
	Method     string          `json:"method"`
	Budget     string          `json:"budget"`
	Seed       uint64          `json:"seed"`
	Experiment json.RawMessage `json:"experiment"`
}

// scalarLine is one line of scalars.jsonl.
type scalarLine struct {
	Frames int                `json:"frames"`
	Values map[string]float64 `json:"values"`
}

// done is the content of the file that makes a run complete.
type done struct {
	Frames int               `json:"frames"`
	SHA256 map[string]string `json:"sha256"` // of each of resultFiles
}

// readHeader reads who a run is, without what it found.
func readHeader(dir string) (*Record, error) {
	data, err := ReadFile(filepath.Join(dir, experimentFile), maxFile)
	if err != nil {
		return nil, err
	}
	return parseHeader(data, filepath.Base(dir))
}

// readHead is readRun without what the run found, the files of which are only compared with what was written.
func readHead(dir string) (*Record, error) {
	r, err := readBrief(dir)
	if err != nil {
		return nil, err
	}
	return r.head(), nil
}

// readBrief is readHead with the frames and the scores of a complete run's last evaluation.
func readBrief(dir string) (*Record, error) {
	r, err := readHeader(dir)
	if err != nil {
		return nil, err
	}
	end, isDone, err := readDone(dir)
	if err != nil || !isDone {
		return r, err
	}
	files, err := readResultFiles(dir)
	if err != nil {
		return nil, err
	}
	if name := end.firstMismatch(files); name != "" {
		return nil, notWritten(dir, name)
	}
	r.Complete, r.Frames = true, end.Frames
	_ = readHost(dir, &r.Host) // a run without it is still whole
	if l := readLines(files[evalsFile]); len(l.bodies) > 0 {
		if err := r.add(evalsFile, l.bodies[len(l.bodies)-1:]); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", filepath.Join(dir, evalsFile), err, ErrDamaged)
		}
		r.Frames = end.Frames
	}
	return r.brief(), nil
}

// brief is r with the frames and the scores of its last evaluation as all that it found.
func (r *Record) brief() *Record {
	short := r.head()
	if n := len(r.Evals); n > 0 {
		short.Evals = []Eval{{Frames: r.Evals[n-1].Frames, Scores: r.Evals[n-1].Scores}}
	}
	return short
}

// head is r without what it found.
func (r *Record) head() *Record {
	short := *r
	short.Evals, short.Scalars = nil, map[string][]Point{}
	return &short
}

// notWritten is the error for a file of a complete run that has changed.
func notWritten(dir, name string) error {
	return fmt.Errorf("%s is not what was written; train the run again to repair it: %w", filepath.Join(dir, name), ErrDamaged)
}

func parseHeader(data []byte, id string) (*Record, error) {
	var h header
	if err := readSealed(data, &h); err != nil {
		return nil, fmt.Errorf("%s of run %s: %w: %w", experimentFile, id, err, ErrDamaged)
	}
	if h.ID != id {
		return nil, fmt.Errorf("%s of run %s belongs to run %s: %w", experimentFile, id, h.ID, ErrDamaged)
	}
	r := &Record{
		ID: h.ID, Task: h.Task, Method: h.Method, Budget: h.Budget, Seed: h.Seed, Experiment: h.Experiment,
		Scalars: map[string][]Point{},
	}
	if err := r.checkNames(); err != nil {
		return nil, fmt.Errorf("%s of run %s: %w: %w", experimentFile, id, err, ErrDamaged)
	}
	return r, nil
}

// readRun reads a run's folder without holding its lock. Of a partial run, which may be growing, it takes the lines that
// are whole; a complete run must be exactly what was written. Notes tell what was left out.
func readRun(dir string) (r *Record, notes []string, err error) {
	end, isDone, err := readDone(dir)
	if err != nil {
		return nil, nil, err
	}
	files, err := readResultFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	if isDone {
		if name := end.firstMismatch(files); name != "" {
			return nil, nil, notWritten(dir, name)
		}
	}
	if r, err = parseHeader(files[experimentFile], filepath.Base(dir)); err != nil {
		return nil, nil, err
	}
	for _, name := range resultFiles[1:] {
		l := readLines(files[name])
		if l.bad {
			notes = append(notes, fmt.Sprintf("%s is damaged after line %d, the rest is left out", filepath.Join(dir, name), len(l.bodies)))
		}
		if err := r.add(name, l.bodies); err != nil {
			return nil, notes, fmt.Errorf("%s: %w: %w", filepath.Join(dir, name), err, ErrDamaged)
		}
	}
	if isDone {
		r.Complete, r.Frames = true, end.Frames
	}
	if err := readHost(dir, &r.Host); err != nil {
		notes = append(notes, err.Error())
	}
	return r, notes, nil
}

// readResultFiles reads the files of the result; evals and scalars may not exist yet.
func readResultFiles(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range resultFiles {
		data, err := ReadFile(filepath.Join(dir, name), maxFile)
		if err != nil && (name == experimentFile || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// readDone reads the file that a complete run has.
func readDone(dir string) (end done, isDone bool, err error) {
	path := filepath.Join(dir, doneFile)
	data, err := ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return done{}, false, nil
	}
	if err != nil {
		return done{}, false, err
	}
	if err := readSealed(data, &end); err != nil {
		return done{}, false, fmt.Errorf("%s: %w; train the run again to repair it: %w", path, err, ErrDamaged)
	}
	return end, true, nil
}

// firstMismatch names a file that is not what it was when the run finished, "" if all are.
func (d done) firstMismatch(files map[string][]byte) string {
	for _, name := range resultFiles {
		if d.SHA256[name] != digest(files[name]) {
			return name
		}
	}
	return ""
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readHost reads where the run was trained; it is not part of the result, so a run without it is still whole.
func readHost(dir string, h *Host) error {
	path := filepath.Join(dir, hostFile)
	data, err := ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = readSealed(data, h)
	}
	if err != nil {
		*h = Host{}
		return fmt.Errorf("%s is left out: %w", path, err)
	}
	return nil
}

// add appends the lines of one file of the result to the record.
func (r *Record) add(name string, bodies []json.RawMessage) error {
	for _, body := range bodies {
		if name == evalsFile {
			var e Eval
			if err := json.Unmarshal(body, &e); err != nil {
				return err
			}
			r.addEval(e)
			continue
		}
		var s scalarLine
		if err := json.Unmarshal(body, &s); err != nil {
			return err
		}
		r.addScalars(s)
	}
	return nil
}

func (r *Record) addEval(e Eval) {
	r.Evals = append(r.Evals, e)
	r.Frames = max(r.Frames, e.Frames)
}

func (r *Record) addScalars(s scalarLine) {
	for name, value := range s.Values {
		r.Scalars[name] = append(r.Scalars[name], Point{s.Frames, value})
	}
	r.Frames = max(r.Frames, s.Frames)
}
