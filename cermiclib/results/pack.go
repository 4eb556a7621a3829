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
// through Store.Base. Scores are kept as they are, scalars to five digits, which halves the size. Equal records give equal
// bytes.
func Pack(r *Record) ([]byte, error) {
	if !r.Complete {
		return nil, fmt.Errorf("run %s is not complete", r.ID)
	}
	short := *r
	short.Scalars = make(map[string][]Point, len(r.Scalars))
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
	in := bytes.NewReader(data)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	z.Multistream(false)
	text, err := io.ReadAll(z) // reads on to gzip's own checksum
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if in.Len() > 0 {
		return nil, fmt.Errorf("%d bytes follow the record: %w", in.Len(), ErrDamaged)
	}
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if err := checkID(r.ID); err != nil || !r.Complete {
		return nil, fmt.Errorf("it is not a complete record of a run: %w", ErrDamaged)
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
