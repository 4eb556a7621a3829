// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Earlier versions kept a record in several files: who it is, and lines {"crc":…,"v":…} that grew with the run. The last one,
// with the hashes of the first three, made it complete. Such a run is read, and not gone on with.
const (
	earlierHead    = "experiment.json"
	earlierEvals   = "evals.jsonl"
	earlierScalars = "scalars.jsonl"
	earlierHost    = "host.json"
	earlierDone    = "done"
)

// begunEarlier reports whether a run's folder is one of an earlier version.
func begunEarlier(dir string) bool {
	_, now := os.Stat(filepath.Join(dir, recordFile))
	_, then := os.Stat(filepath.Join(dir, earlierHead))
	return now != nil && then == nil
}

// readEarlier reads such a folder: of a partial run the lines that are whole.
func readEarlier(dir string) (*Record, error) {
	r := &Record{Scalars: map[string]Points{}}
	var end struct {
		Frames int               `json:"frames"`
		SHA256 map[string]string `json:"sha256"`
	}
	switch err := readEarlierFile(filepath.Join(dir, earlierDone), &end); {
	case err == nil:
		r.Complete = true
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := readEarlierFile(filepath.Join(dir, earlierHead), r); err != nil {
		return nil, err
	}
	for _, name := range []string{earlierHead, earlierEvals, earlierScalars} {
		data, err := ReadFile(filepath.Join(dir, name), maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if r.Complete && end.SHA256[name] != digest(data) {
			return nil, notAsWritten(filepath.Join(dir, name))
		}
		for line := range bytes.Lines(data) {
			var scalars struct {
				V struct {
					Frames int
					Values map[string]float64
				}
			}
			var eval struct{ V Eval }
			switch {
			case name == earlierEvals && json.Unmarshal(line, &eval) == nil:
				r.AddEval(eval.V)
			case name == earlierScalars && json.Unmarshal(line, &scalars) == nil:
				r.addScalars(scalars.V.Frames, scalars.V.Values)
			}
		}
	}
	r.Frames = max(r.Frames, end.Frames)
	_ = readEarlierFile(filepath.Join(dir, earlierHost), &r.Host) // a run without it is still whole
	if err := r.check(); err != nil || r.ID != filepath.Base(dir) {
		return nil, notAsWritten(filepath.Join(dir, earlierHead))
	}
	return r, nil
}

func readEarlierFile(path string, v any) error {
	data, err := ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if body, ok := unseal(data); !ok || json.Unmarshal(body, v) != nil {
		return notAsWritten(path)
	}
	return nil
}

func notAsWritten(path string) error {
	return fmt.Errorf("%s is not what an earlier version wrote; remove the run's folder to train it anew: %w", path, ErrDamaged)
}
