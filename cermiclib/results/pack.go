// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// packSuffix ends the name of a packed record; the rest is its ID.
const packSuffix = ".json.gz"

// Pack returns a complete record as one gzipped JSON object, to be kept under version control as <ID>.json.gz and read
// through Store.Base. Scores are kept as they are, scalars to five digits and by columns. Equal records give equal
// bytes.
func Pack(r *Record) ([]byte, error) {
	if !r.Complete {
		return nil, fmt.Errorf("run %s is not complete", r.ID)
	}
	short := packed{*r, make(map[string]columns, len(r.Scalars))}
	for name, points := range r.Scalars {
		var c columns
		for _, p := range points {
			c.Frames, c.Values = append(c.Frames, p.Frames), append(c.Values, digits(p.Value, packedDigits))
		}
		if len(points) > 0 {
			short.Scalars[name] = c
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

// packed is a record as it is packed: with scalars by columns, which take half as much as points.
type packed struct {
	Record
	Scalars map[string]columns `json:"scalars"`
}

// columns are the points of a scalar.
type columns struct {
	Frames []int     `json:"frames"`
	Values []float64 `json:"values"`
}

// UnmarshalJSON also reads a list of points, which older packs have.
func (c *columns) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		type plain columns
		return json.Unmarshal(data, (*plain)(c))
	}
	var points []Point
	err := json.Unmarshal(data, &points)
	for _, p := range points {
		c.Frames, c.Values = append(c.Frames, p.Frames), append(c.Values, p.Value)
	}
	return err
}

// Digits of scalars in packed records: now, and in older ones.
const packedDigits, packedDigitsOnce = 5, 6

// SameScalar reports whether two scalars are the same in packed records, of which one or both may come.
func SameScalar(a, b float64) bool {
	return digits(a, packedDigits) == digits(b, packedDigits) || digits(a, packedDigitsOnce) == digits(b, packedDigitsOnce)
}

// digits rounds v to n significant digits.
func digits(v float64, n int) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// Unpack reads what Pack wrote. Damage is an error that wraps ErrDamaged.
func Unpack(data []byte) (*Record, error) {
	text, rest, err := inflate(data, maxPack)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if rest > 0 {
		return nil, fmt.Errorf("%d bytes follow the record: %w", rest, ErrDamaged)
	}
	var p packed
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	r := &p.Record
	r.Scalars = make(map[string][]Point, len(p.Scalars))
	for name, c := range p.Scalars {
		if len(c.Frames) != len(c.Values) {
			return nil, fmt.Errorf("%s has %d values at %d frames: %w", name, len(c.Values), len(c.Frames), ErrDamaged)
		}
		for i, frames := range c.Frames {
			r.Scalars[name] = append(r.Scalars[name], Point{frames, c.Values[i]})
		}
	}
	if err := checkID(r.ID); err != nil || !r.Complete {
		return nil, fmt.Errorf("it is not a complete record of a run: %w", ErrDamaged)
	}
	if err := r.checkNames(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return r, nil
}

// unpackHead reads a packed record up to its evaluations.
func unpackHead(data []byte) (*Record, error) { return unpackUntil(data, "evals") }

// unpackBrief reads a packed record up to its scalars, and keeps of its evaluations the last.
func unpackBrief(data []byte) (*Record, error) {
	r, err := unpackUntil(data, "scalars")
	if err != nil {
		return nil, err
	}
	return r.brief(), nil
}

// unpackUntil reads a packed record up to a field.
func unpackUntil(data []byte, last string) (*Record, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	r := &Record{Scalars: map[string][]Point{}}
	fields := map[string]any{"id": &r.ID, "task": &r.Task, "method": &r.Method, "budget": &r.Budget, "seed": &r.Seed,
		"complete": &r.Complete, "frames": &r.Frames, "experiment": &r.Experiment, "host": &r.Host, "weights": &r.Weights}
	in := json.NewDecoder(io.LimitReader(z, maxPack))
	_, err = in.Token() // the opening brace
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
	if err == nil && (checkID(r.ID) != nil || !r.Complete) {
		err = errors.New("it is not a complete record of a run")
	}
	if err == nil {
		err = r.checkNames()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return r, nil
}

// WritePack packs r into folder dir, which is made if need be, and returns the path.
func WritePack(dir string, r *Record) (string, error) {
	data, err := Pack(r)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, r.ID+packSuffix)
	return path, WriteFile(path, data)
}
