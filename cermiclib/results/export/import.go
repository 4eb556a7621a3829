// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"cermic/cermiclib/results"
)

// Import reads the runs of other programs: a file of marl-eval or BenchMARL, or one of recorded curves as this program's own are,
// either of them gzipped or not. Python writes NaN where an episode has no value: it counts as one that there was not.
func Import(data []byte) ([]*results.Record, error) {
	text, err := unzipped(data)
	if err != nil {
		return nil, err
	}
	var head struct {
		Schema json.RawMessage `json:"schema"`
	}
	if text, err := withoutNaN(text); err == nil && json.Unmarshal(text, &head) == nil && len(head.Schema) > 0 && head.Schema[0] == '"' {
		return readCurves(text)
	}
	return ReadMarlEval(text)
}

// Sizes beyond which no file is what it should be. The largest genuine ones are a benchmark's results of a whole paper.
const (
	maxText     = 256 << 20 // unpacked
	maxImported = 64 << 20  // as it lies on the disk
)

// ImportFile is Import of a file.
func ImportFile(path string) ([]*results.Record, error) {
	data, err := results.ReadFile(path, maxImported)
	if err != nil {
		return nil, err
	}
	return Import(data)
}

// unzipped is data, unpacked if it begins as gzip files do, whatever their names are.
func unzipped(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	text, rest, err := results.Inflate(data, maxText)
	if err == nil && rest > 0 {
		err = fmt.Errorf("%d bytes follow the gzip file's end", rest)
	}
	return text, err
}

// withoutNaN writes null where Python's JSON has NaN, which is none, and refuses its Infinity.
func withoutNaN(text []byte) ([]byte, error) {
	var out []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\' && i+1 < len(text):
			out = append(out, text[i])
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && bytes.HasPrefix(text[i:], []byte("NaN")):
			out = append(out, "null"...)
			i += len("NaN") - 1
			continue
		case !quoted && bytes.HasPrefix(text[i:], []byte("Infinity")):
			return nil, errors.New("a number is infinite, want finite ones, or NaN where there is none")
		}
		out = append(out, text[i])
	}
	return out, nil
}

// present are the values that there are.
func present(all []*float64) []float64 {
	var out []float64
	for _, v := range all {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// presentIn is present for each group; nil for no groups.
func presentIn(groups map[string][]*float64) map[string][]float64 {
	var out map[string][]float64
	for name, all := range groups {
		if values := present(all); len(values) > 0 {
			if out == nil {
				out = map[string][]float64{}
			}
			out[name] = values
		}
	}
	return out
}
