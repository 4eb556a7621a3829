// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"cermic/cermiclib/results/safetensors"
)

// Checkpoint is everything that a run needs to go on as if it had not stopped.
type Checkpoint struct {
	Frames  int                  // trained so far
	Tensors []safetensors.Tensor // weights, optimiser moments, environment and carry states
	Meta    map[string]string    // anything else; keys that start with "run." are reserved
	Bare    bool                 // Tensors are weights alone, to play with and not to go on from
}

// Metadata keys that the store adds. A checkpoint holds the record that led to it, so that it is all that it takes to go on.
const (
	reserved   = "run."
	metaID     = reserved + "id"
	metaFrames = reserved + "frames"
	metaRecord = reserved + "record" // JSON
)

// write stores c and the record that led to it in a new file at path.
func (c Checkpoint) write(path string, record *Record) error {
	text, err := compact(record)
	if err != nil {
		return err
	}
	meta := map[string]string{metaID: record.ID, metaFrames: strconv.Itoa(c.Frames), metaRecord: string(text)}
	for key, value := range c.Meta {
		if strings.HasPrefix(key, reserved) {
			return fmt.Errorf("the metadata key %q is reserved: keys must not start with %q", key, reserved)
		}
		meta[key] = value
	}
	return writeFile(path, func(w io.Writer) error { return safetensors.Write(w, c.Tensors, meta) })
}

// readCheckpoint reads the checkpoint of run id at path and the JSON of the record that led to it.
func readCheckpoint(path, id string) (c Checkpoint, record string, err error) {
	data, err := ReadFile(path, maxFile)
	if err != nil {
		return c, "", err
	}
	return parseCheckpoint(data, id)
}

func parseCheckpoint(data []byte, id string) (c Checkpoint, record string, err error) {
	var meta map[string]string
	if c.Tensors, meta, err = safetensors.Read(data); err != nil {
		return c, "", err
	}
	if meta[safetensors.ChecksumKey] == "" {
		return c, "", errors.New("the checksum is missing")
	}
	if meta[metaID] != id {
		return c, "", fmt.Errorf("it belongs to run %q", meta[metaID])
	}
	if c.Frames, err = strconv.Atoi(meta[metaFrames]); err != nil || c.Frames < 0 {
		return c, "", fmt.Errorf("%s is %q", metaFrames, meta[metaFrames])
	}
	record, c.Meta = meta[metaRecord], meta
	maps.DeleteFunc(c.Meta, func(key, _ string) bool { return strings.HasPrefix(key, reserved) || key == safetensors.ChecksumKey })
	return c, record, nil
}

// Checkpoint returns what the run called id was last saved with, without claiming the run: to look at, not to go on from.
func (s *Store) Checkpoint(id string) (Checkpoint, error) {
	if err := checkID(id); err != nil {
		return Checkpoint{}, err
	}
	path := filepath.Join(s.dir, id, checkpointFile)
	c, _, err := readCheckpoint(path, id)
	if err == nil {
		return c, nil
	}
	if previous, _, e := readCheckpoint(filepath.Join(s.dir, id, previousFile), id); e == nil {
		return previous, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is damaged: %w; remove its folder to train the run anew", path, err)
	}
	return Checkpoint{}, err
}
