// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
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
	text, rest, err := Inflate(data, maxPack)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if rest > 0 {
		return nil, fmt.Errorf("%d bytes follow the record: %w", rest, ErrDamaged)
	}
	return unpacked(decode(text))
}

// unpacked refuses what is no complete record.
func unpacked(r *Record, err error) (*Record, error) {
	if err == nil && !r.Complete {
		err = errors.New("it is not a complete record of a run")
	}
	if err != nil {
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
	return unpacked(decodeUntil(io.LimitReader(z, maxPack), last))
}

// WritePack packs r into folder dir, which is made if need be, and returns the path.
func WritePack(dir string, r *Record) (string, error) {
	data, err := Pack(r)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, r.ID+packSuffix)
	return path, CreateFile(path, data)
}
