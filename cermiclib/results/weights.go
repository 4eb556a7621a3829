// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"cermic/cermiclib/results/safetensors"
)

// Weights are the tensors of a checkpoint below this name; those of optimisers have another part in their names.
const (
	weightsMark   = "weights/"
	optimiserPart = "/adam/"
	weightsSuffix = ".safetensors"
)

// Weights returns what the run called id has learned, to play with: its checkpoint or, where there is none, the weights that its packed record
// brings along in weights/<ID>.safetensors beside it. These must be the ones that the record names by their hash. The error wraps
// fs.ErrNotExist if there are none.
func (s *Store) Weights(id string) (Checkpoint, error) {
	c, err := s.Checkpoint(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	head := s.committedHead(id)
	if head == nil || head.Weights == "" {
		return c, err
	}
	name := path.Join(weightsMark, id+weightsSuffix)
	data, err := fs.ReadFile(s.base[id].fsys, name)
	if err != nil {
		return c, err
	}
	if digest(data) != head.Weights {
		return c, fmt.Errorf("%s is not what its record names: %w", name, ErrDamaged)
	}
	tensors, _, err := safetensors.Read(data)
	if err != nil {
		return c, fmt.Errorf("%s: %w: %w", name, err, ErrDamaged)
	}
	for i := range tensors {
		tensors[i].Name = weightsMark + tensors[i].Name
	}
	return Checkpoint{Frames: head.Frames, Tensors: tensors, Bare: true}, nil
}

// EncodeWeights is a safetensors file of the weights of c, which run r was last saved with, without what optimisers and environments
// remember. Names of variables are paths: "actor/layer_0/weights".
func EncodeWeights(r *Record, c Checkpoint) ([]byte, error) {
	var weights []safetensors.Tensor
	for _, t := range c.Tensors {
		if name, ok := strings.CutPrefix(t.Name, weightsMark); ok && !Optimiser(t.Name) {
			t.Name = name
			weights = append(weights, t)
		}
	}
	var b bytes.Buffer
	meta := map[string]string{"run": r.ID, "task": r.Task, "method": r.Method, "seed": strconv.FormatUint(r.Seed, 10), "frames": strconv.Itoa(c.Frames)}
	err := safetensors.Write(&b, weights, meta)
	return b.Bytes(), err
}

// Optimiser reports whether a variable is one of an optimiser, by its path.
func Optimiser(path string) bool { return strings.Contains(path, optimiserPart) }

// PackWeights writes the weights of c beside the packed record of r, weights/<ID>.safetensors below folder dir, and returns the record with their hash.
func PackWeights(dir string, r *Record, c Checkpoint) (*Record, error) {
	data, err := EncodeWeights(r, c)
	if err != nil {
		return nil, err
	}
	with := *r
	with.Weights = digest(data)
	return &with, CreateFile(filepath.Join(dir, weightsMark, r.ID+weightsSuffix), data)
}
