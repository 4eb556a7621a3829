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
)

// Checkpoint is everything that a run needs to go on as if it had not stopped.
type Checkpoint struct {
	Frames  int               // trained so far
	Tensors []Tensor          // weights, optimiser moments, environment and carry states
	Meta    map[string]string // anything else; keys that start with "run." are reserved
	Bare    bool              // Tensors are weights alone, to play with and not to go on from
}

// Metadata keys that the store adds. The marks say how long the files of the result were, and with which checksum: a
// checkpoint is used only together with exactly the lines that led to it.
const (
	reserved   = "run."
	metaID     = reserved + "id"
	metaFrames = reserved + "frames"
	metaMark   = reserved + "mark." // + file name
)

// write stores c, which belongs to run id and to these places in its files, in a new file at path.
func (c Checkpoint) write(path, id string, at map[string]mark) error {
	meta := map[string]string{metaID: id, metaFrames: strconv.Itoa(c.Frames)}
	for name, m := range at {
		meta[metaMark+name] = m.String()
	}
	for key, value := range c.Meta {
		if strings.HasPrefix(key, reserved) {
			return fmt.Errorf("the metadata key %q is reserved: keys must not start with %q", key, reserved)
		}
		meta[key] = value
	}
	return writeFile(path, func(w io.Writer) error { return WriteTensors(w, c.Tensors, meta) })
}

// readCheckpoint reads the checkpoint of run id at path and the places, as text, that it belongs to.
func readCheckpoint(path, id string) (c Checkpoint, at map[string]string, err error) {
	data, err := ReadFile(path, maxFile)
	if err != nil {
		return c, nil, err
	}
	return parseCheckpoint(data, id)
}

func parseCheckpoint(data []byte, id string) (c Checkpoint, at map[string]string, err error) {
	var meta map[string]string
	if c.Tensors, meta, err = ReadTensors(data); err != nil {
		return c, nil, err
	}
	if meta[checksumKey] == "" {
		return c, nil, errors.New("the checksum is missing")
	}
	if meta[metaID] != id {
		return c, nil, fmt.Errorf("it belongs to run %q", meta[metaID])
	}
	if c.Frames, err = strconv.Atoi(meta[metaFrames]); err != nil || c.Frames < 0 {
		return c, nil, fmt.Errorf("%s is %q", metaFrames, meta[metaFrames])
	}
	at, c.Meta = map[string]string{}, map[string]string{}
	for key, value := range maps.All(meta) {
		if name, ok := strings.CutPrefix(key, metaMark); ok {
			at[name] = value
		} else if !strings.HasPrefix(key, reserved) && key != checksumKey {
			c.Meta[key] = value
		}
	}
	return c, at, nil
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
