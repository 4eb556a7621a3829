// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// What a graph memory starts with (pretrain).
const (
	PretrainNone     = "none"     // random weights; the detector learns with the module
	PretrainDetector = "detector" // a pre-trained detector, frozen together with the encoder below it; the rest random
	PretrainFull     = "full"     // the same, and pre-trained node and edge encoders, which the module trains on
)

// pretrainedParts are the scopes of a graph memory that pre-training fills, below the memory's.
var pretrainedParts = []string{"encoder", "detector", "node", "edge"}

// Pretrained are weights from pre-training, known by the hash of their bytes.
type Pretrained struct {
	ID      string // 16 hexadecimal digits
	data    []byte // as on disk
	tensors map[string]results.Tensor
}

// ofDetector reports whether a variable's path is one of the parts that a frozen detector consists of.
func ofDetector(path string) bool {
	return strings.Contains(path, "/memory/encoder/") || strings.Contains(path, "/memory/detector/")
}

// collectWeights takes the pre-trained parts out of a store.
func collectWeights(store *model.Store) (*Pretrained, error) {
	var list []results.Tensor
	for _, part := range pretrainedParts {
		for _, v := range nn.Variables(store, preScope+"/"+part) {
			flat, err := tensors.CopyFlatData[float32](v.MustValue())
			if err != nil {
				return nil, err
			}
			list = append(list, results.NewTensor(strings.TrimPrefix(v.Path(), preScope+"/"), flat, v.Shape().Dimensions...))
		}
	}
	var out bytes.Buffer
	if err := results.WriteTensors(&out, list, map[string]string{"format": "cermic graph memory 1"}); err != nil {
		return nil, err
	}
	return readPretrained(out.Bytes())
}

func readPretrained(data []byte) (*Pretrained, error) {
	list, _, err := results.ReadTensors(data)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(data)
	p := &Pretrained{ID: hex.EncodeToString(hash[:8]), data: data, tensors: map[string]results.Tensor{}}
	for _, t := range list {
		p.tensors[t.Name] = t
	}
	return p, nil
}

// PretrainedPath is where weights lie in a store's folder.
func PretrainedPath(folder, id string) string {
	return filepath.Join(folder, "pretrained", id+".safetensors")
}

// Save writes the weights into a store's folder, from where experiments name them by ID, and returns the path.
func (p *Pretrained) Save(folder string) (string, error) {
	path := PretrainedPath(folder, p.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	temp := path + ".tmp"
	if err := os.WriteFile(temp, p.data, 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(temp, path)
}

// LoadPretrained reads weights that Save wrote; it refuses a file whose bytes are not those that id is the hash of.
func LoadPretrained(folder, id string) (*Pretrained, error) {
	data, err := os.ReadFile(PretrainedPath(folder, id))
	if err != nil {
		return nil, fmt.Errorf("memory graph: no pre-trained weights %q in %s; make them with: go run ./reproduce pretrain", id, folder)
	}
	p, err := readPretrained(data)
	if err == nil && p.ID != id {
		err = fmt.Errorf("its bytes have the hash %s", p.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("memory graph: the pre-trained weights %s are damaged: %w", id, err)
	}
	return p, nil
}

// fits returns an error unless the weights are those of a memory of these sizes.
func (p *Pretrained) fits(c DynamicGraph, s *envs.Spec) error {
	agents, shapes := s.Agents, map[string][2]int{"encoder/out/weights": {c.Embed, nn.SeenLen(s)}}
	if layers := encoderLayers(s); layers != nil {
		shapes["encoder/layer_0/weights"] = [2]int{layers[0], nn.SeenLen(s)}
		shapes["encoder/out/weights"] = [2]int{c.Embed, layers[len(layers)-1]}
	}
	maps.Copy(shapes, map[string][2]int{
		"detector/out/weights": {agents, detectorHidden}, "node/subject": {pairHidden, agents}, "node/out/weights": {c.Node, pairHidden},
		"edge/out/weights": {c.Edge, pairHidden},
	})
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		want := shapes[name]
		t, ok := p.tensors[name]
		if !ok || len(t.Shape) != 2 || t.Shape[0] != want[0] || t.Shape[1] != want[1] {
			return fmt.Errorf("memory graph: the pre-trained weights %s have %s of shape %v, this task and these settings want %v", p.ID, name, t.Shape, want)
		}
	}
	return nil
}

// install copies the given parts into the variables of a memory at scope. It panics on errors, as graph code does.
func (p *Pretrained) install(store *model.Store, scope string, parts []string) {
	for _, part := range parts {
		for _, v := range nn.Variables(store, scope+"/"+part) {
			name := strings.TrimPrefix(v.Path(), scope+"/")
			flat, err := results.Values[float32](p.tensors[name])
			if err == nil && len(flat) != v.Shape().Size() {
				err = fmt.Errorf("memory graph: pre-trained %s has %d values, want %d", name, len(flat), v.Shape().Size())
			}
			if err == nil {
				err = v.SetValue(tensors.FromFlatDataAndDimensions(flat, v.Shape().Dimensions...))
			}
			if err != nil {
				panic(err)
			}
		}
	}
}
