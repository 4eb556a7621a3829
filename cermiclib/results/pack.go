// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"
)

// packSuffix ends the name of a packed record, <ID>.json.gz.
const packSuffix = ".json.gz"

// Pack encodes a complete record as one gzipped JSON object, to be kept under version control as <ID>.json.gz and read
// through Store.Base. Scores are exact, scalars have five digits. Equal records give equal bytes.
func Pack(r *Record) ([]byte, error) {
	if !r.Complete {
		return nil, fmt.Errorf("run %s is not complete", r.ID)
	}
	short := *r
	short.Scalars = make(map[string]Points, len(r.Scalars))
	for name, points := range r.Scalars {
		for _, p := range points {
			short.Scalars[name] = append(short.Scalars[name], Point{p.Frames, digits(p.Value, packedDigits)})
		}
	}
	text, err := compact(&short) // encoding/json sorts the names of the scalars
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// WritePack packs r into folder dir, which is made if need be, and returns the path.
func WritePack(dir string, r *Record) (string, error) {
	data, err := Pack(r)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, r.ID+packSuffix)
	return path, WriteFile(path, data)
}

// Digits of scalars in packed records: now, and in older ones.
const packedDigits, packedDigitsOnce = 5, 6

// sameScalar reports whether two scalars are equal as far as packed records keep them.
func sameScalar(a, b float64) bool {
	return digits(a, packedDigits) == digits(b, packedDigits) ||
		digits(a, packedDigitsOnce) == digits(b, packedDigitsOnce)
}

func digits(v float64, n int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// Unpack decodes a packed record. Damage is an error that wraps ErrDamaged.
func Unpack(data []byte) (*Record, error) { return unpack(data, true) }

// unpack decodes a packed record or its head. For a head it stops before the checksum at the end.
func unpack(data []byte, whole bool) (r *Record, err error) {
	var text io.Reader
	if whole {
		data, err = Inflate(data, maxPack)
		text = bytes.NewReader(data)
	} else {
		text, err = gzip.NewReader(bytes.NewReader(data))
	}
	if err == nil {
		r, err = decode(io.LimitReader(text, maxPack), whole)
	}
	if err == nil && !r.Complete {
		err = errors.New("it is not a complete record of a run")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return r, nil
}

// packed is a packed record in a read-only layer. It and its head are decoded at most once.
type packed struct{ all, head func() (*Record, error) }

func newPacked(fsys fs.FS, name string) packed {
	read := func(whole bool) func() (*Record, error) {
		return sync.OnceValues(func() (*Record, error) {
			data, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			r, err := unpack(data, whole)
			if err == nil && r.ID+packSuffix != name {
				err = fmt.Errorf("it belongs to run %s: %w", r.ID, ErrDamaged)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return r, nil
		})
	}
	return packed{read(true), read(false)}
}

// decode reads a record's JSON, or its head: see Store.Head.
func decode(text io.Reader, whole bool) (r *Record, err error) {
	r = &Record{}
	if whole {
		var data []byte
		if data, err = io.ReadAll(text); err == nil {
			err = json.Unmarshal(data, r)
		}
	} else {
		err = decodeHead(json.NewDecoder(text), r)
	}
	if err != nil {
		return nil, err
	}
	if r.Scalars == nil {
		r.Scalars = map[string]Points{}
	}
	if err := checkID(r.ID); err != nil {
		return nil, err
	}
	return r, r.checkNames()
}

// decodeHead decodes the fields in front of the scalars.
func decodeHead(in *json.Decoder, r *Record) error {
	var evals []json.RawMessage // most of them need no decoding
	fields := map[string]any{"id": &r.ID, "task": &r.Task, "method": &r.Method, "budget": &r.Budget, "seed": &r.Seed,
		"complete": &r.Complete, "frames": &r.Frames, "experiment": &r.Experiment, "host": &r.Host, "weights": &r.Weights,
		"evals": &evals}
	_, err := in.Token() // the opening brace
	for err == nil {
		var key json.Token
		if key, err = in.Token(); err != nil {
			break
		}
		name, _ := key.(string)
		field, ok := fields[name]
		if !ok {
			break
		}
		err = in.Decode(field)
	}
	if n := len(evals); err == nil && n > 0 {
		var last Eval
		err = json.Unmarshal(evals[n-1], &last)
		r.Evals = []Eval{{Frames: last.Frames, Scores: last.Scores}}
	}
	return err
}
