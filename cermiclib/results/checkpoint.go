// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"cermic/cermiclib/results/safetensors"
)

// Checkpoint is everything that a run needs to continue as if it had not stopped.
type Checkpoint struct {
	Frames  int                 // trained so far
	Tensors safetensors.Tensors // weights, optimiser moments, environment and recurrent states
	Meta    map[string]string   // anything else; keys that start with "run." are the store's
	Bare    bool                // Tensors are weights alone, to act with and not to resume from
}

// Metadata keys that the store adds. A checkpoint holds the record that led to it, so that it suffices to resume.
const (
	reserved   = "run."
	metaID     = reserved + "id"
	metaFrames = reserved + "frames"
	metaRecord = reserved + "record" // JSON
)

func (c Checkpoint) write(w io.Writer, record *Record) error {
	text, err := compact(record)
	if err != nil {
		return err
	}
	meta := map[string]string{}
	maps.Copy(meta, c.Meta)
	meta[metaID], meta[metaFrames], meta[metaRecord] = record.ID, strconv.Itoa(c.Frames), string(text)
	return safetensors.Write(w, c.Tensors, meta)
}

// readCheckpoint reads the checkpoint of run id at path and the record that led to it.
func readCheckpoint(path, id string) (c Checkpoint, record *Record, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, nil, err
	}
	return parseCheckpoint(data, id)
}

func parseCheckpoint(data []byte, id string) (c Checkpoint, record *Record, err error) {
	if c.Tensors, c.Meta, err = safetensors.Read(data); err != nil {
		return c, nil, err
	}
	switch c.Frames, err = strconv.Atoi(c.Meta[metaFrames]); {
	case c.Meta[safetensors.ChecksumKey] == "":
		return c, nil, errors.New("the checksum is missing")
	case c.Meta[metaID] != id:
		return c, nil, fmt.Errorf("it belongs to run %q", c.Meta[metaID])
	case err != nil || c.Frames < 0:
		return c, nil, fmt.Errorf("%s is %q", metaFrames, c.Meta[metaFrames])
	}
	if record, err = decode(strings.NewReader(c.Meta[metaRecord]), true); err != nil {
		return c, nil, err
	}
	maps.DeleteFunc(c.Meta, func(key, _ string) bool {
		return strings.HasPrefix(key, reserved) || key == safetensors.ChecksumKey
	})
	return c, record, nil
}

// Checkpoint returns the last saved state of the run called id without claiming it: to inspect or to fork, not to
// resume from. It is in the run's folder, or else in checkpoints/<ID>.safetensors.gz of the layer.
func (s *Store) Checkpoint(id string) (Checkpoint, error) {
	if err := checkID(id); err != nil {
		return Checkpoint{}, err
	}
	file := filepath.Join(s.dir, id, checkpointFile)
	c, _, err := readCheckpoint(file, id)
	if errors.Is(err, fs.ErrNotExist) {
		file = path.Join(checkpointsFolder, id+weightsSuffix+".gz")
		var data []byte
		if data, err = s.File(file); err == nil {
			data, err = Inflate(data, maxPack)
		}
		if err == nil {
			c, _, err = parseCheckpoint(data, id)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is damaged: %w; remove its folder to train the run anew", file, err)
	}
	return c, err
}

// Parts of the names of variables in a checkpoint, and of files in the layer.
const (
	checkpointsFolder = "checkpoints"

	weightsMark   = "weights/"     // begins the name of a variable
	optimiserPart = "/adam/"       // within the name of an optimiser's variable
	criticPart    = "critic/"      // begins the path of a policy gradient's value function, which no action depends on
	weightsSuffix = ".safetensors" // ends the name of a file in the folder weights
)

// Weights returns the learned weights of run id: its checkpoint or else weights/<ID>.safetensors beside its packed
// record, which names the file's hash. The error wraps fs.ErrNotExist if there is neither.
func (s *Store) Weights(id string) (Checkpoint, error) {
	c, err := s.Checkpoint(id)
	packed, ok := s.base.records[id]
	if !errors.Is(err, fs.ErrNotExist) || !ok {
		return c, err
	}
	top, failed := packed.head()
	if failed != nil || top.Weights == "" {
		return c, err
	}
	name := path.Join(weightsMark, id+weightsSuffix)
	data, err := fs.ReadFile(s.base.files, name)
	if err != nil {
		return c, err
	}
	if digest(data) != top.Weights {
		return c, fmt.Errorf("%s is not what its record names: %w", name, ErrDamaged)
	}
	tensors, _, err := safetensors.Read(data)
	if err != nil {
		return c, fmt.Errorf("%s: %w: %w", name, err, ErrDamaged)
	}
	c = Checkpoint{Frames: top.Frames, Tensors: safetensors.Tensors{}, Bare: true}
	for name, t := range tensors {
		c.Tensors[weightsMark+name] = t
	}
	return c, nil
}

// EncodeWeights is a safetensors file of the weights in checkpoint c of run r, without the states of optimisers and
// environments. Names of variables are paths: "actor/layer_0/weights".
func EncodeWeights(r *Record, c Checkpoint) ([]byte, error) { return encodeWeights(r, c, isOptimiser) }

// encodeWeights is EncodeWeights without the variables whose paths are left out.
func encodeWeights(r *Record, c Checkpoint, leftOut func(path string) bool) ([]byte, error) {
	weights := safetensors.Tensors{}
	for name, t := range c.Tensors {
		if path, ok := strings.CutPrefix(name, weightsMark); ok && !leftOut(path) {
			weights[path] = t
		}
	}
	var b bytes.Buffer
	meta := map[string]string{"run": r.ID, "task": r.Task, "method": r.Method,
		"seed": strconv.FormatUint(r.Seed, 10), "frames": strconv.Itoa(c.Frames)}
	err := safetensors.Write(&b, weights, meta)
	return b.Bytes(), err
}

func isOptimiser(path string) bool { return strings.Contains(path, optimiserPart) }

// ForTraining reports whether training alone reads the variable at path: an optimiser's, or the learner's critic.
func ForTraining(path string) bool { return isOptimiser(path) || strings.HasPrefix(path, criticPart) }

// PackWeights writes the weights of c that act to weights/<ID>.safetensors below folder dir and returns a copy of r
// with their hash.
func PackWeights(dir string, r *Record, c Checkpoint) (*Record, error) {
	data, err := encodeWeights(r, c, ForTraining)
	if err != nil {
		return nil, err
	}
	with := *r
	with.Weights = digest(data)
	return &with, WriteFile(filepath.Join(dir, weightsMark, r.ID+weightsSuffix), data)
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
