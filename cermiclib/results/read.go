// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
)

// The files of a run's folder, beside locks. The record but for its host is the same, byte for byte, however often the run was
// interrupted.
const (
	recordFile     = "record.json"
	checkpointFile = "checkpoint.safetensors"
	previousFile   = "checkpoint.prev.safetensors"
)

// readRun reads a run's folder without holding its lock.
func readRun(dir string) (*Record, error) {
	return readFolder(dir, func(body []byte) (*Record, error) { return decode(body) })
}

// readBrief is readRun without scalars, and with the frames and the scores of the last evaluation alone.
func readBrief(dir string) (*Record, error) {
	r, err := readFolder(dir, func(body []byte) (*Record, error) { return decodeUntil(bytes.NewReader(body), "scalars") })
	if err != nil {
		return nil, err
	}
	return r.brief(), nil
}

// readHead is readRun without what the run found, the bytes of which are only compared with their checksum.
func readHead(dir string) (*Record, error) {
	r, err := readFolder(dir, func(body []byte) (*Record, error) { return decodeUntil(bytes.NewReader(body), "evals") })
	if err != nil {
		return nil, err
	}
	return r.head(), nil
}

// readFolder reads a run's folder, whose record must be exactly what was written.
func readFolder(dir string, decode func(body []byte) (*Record, error)) (*Record, error) {
	path := filepath.Join(dir, recordFile)
	data, err := ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	body, ok := unseal(data)
	if !ok {
		return nil, fmt.Errorf("%s is not what was written; train the run again to repair it: %w", path, ErrDamaged)
	}
	r, err := decode(body)
	if err == nil && r.ID != filepath.Base(dir) {
		err = fmt.Errorf("it belongs to run %s", r.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, err, ErrDamaged)
	}
	return r, nil
}

// decode reads a record's JSON.
func decode(text []byte) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if r.Scalars == nil {
		r.Scalars = map[string]Points{}
	}
	return r, r.check()
}

// decodeUntil is decode up to a field.
func decodeUntil(text io.Reader, last string) (*Record, error) {
	r := &Record{Scalars: map[string]Points{}}
	fields := map[string]any{"id": &r.ID, "task": &r.Task, "method": &r.Method, "budget": &r.Budget, "seed": &r.Seed, "complete": &r.Complete,
		"frames": &r.Frames, "experiment": &r.Experiment, "host": &r.Host, "weights": &r.Weights, "evals": &r.Evals}
	delete(fields, last)
	in := json.NewDecoder(text)
	_, err := in.Token() // the opening brace
	for err == nil {
		var key json.Token
		if key, err = in.Token(); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		field, ok := fields[name]
		if !ok {
			return r, r.check()
		}
		err = in.Decode(field)
	}
	return nil, err
}

// check refuses a record that has no ID, or names that nothing should be called by.
func (r *Record) check() error {
	if err := checkID(r.ID); err != nil {
		return err
	}
	return r.CheckNames()
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
	short.Evals, short.Scalars = nil, map[string]Points{}
	return &short
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// AddEval adds an evaluation behind the others.
func (r *Record) AddEval(e Eval) {
	r.Evals = append(r.Evals, e)
	r.Frames = max(r.Frames, e.Frames)
}

func (r *Record) addScalars(frames int, values map[string]float64) {
	for name, value := range values {
		r.Scalars[name] = append(r.Scalars[name], Point{frames, value})
	}
	r.Frames = max(r.Frames, frames)
}
