// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/envs/conf"
)

// Initial weights of a memory (pretrain).
const (
	PretrainNone     = "none"     // of the graph: random weights; the detector learns with the module
	PretrainDetector = "detector" // of the graph: a pre-trained detector, frozen with the encoder below; the rest random
	PretrainFull     = "full"     // also pre-trained node and edge encoders, which still learn; of others: all of it
)

// graphParts and mlpParts are the scopes of a memory that pre-training fills, below the memory's.
var (
	graphParts = []string{"encoder", "detector", "node", "edge"}
	mlpParts   = []string{"encoder", "feature"}
)

// Start is the choice of initial weights for a memory without a detector: pre-trained weights, which the module trains
// on, or random ones.
type Start struct {
	Pretrain string `json:"pretrain,omitzero" oneof:",full" help:"parts with pre-trained weights; empty: none, full: the whole memory"`
	Weights  string `json:"pretrained,omitzero" help:"name of the pre-trained weights, as printed by pretrain"`
}

// validate returns one sentence about the first impossible setting of c, such as weights without their use.
func validate(c Config, pretrain, weights string) error {
	if err := conf.Check(c); err != nil {
		return fmt.Errorf("memory %s: %w", c.Kind(), err)
	}
	if (pretrain == "" || pretrain == PretrainNone) != (weights == "") {
		return fmt.Errorf("memory %s: pretrain is %q and pretrained is %q, want a name exactly if something is "+
			"pre-trained; go run ./reproduce pretrain -memory %[1]s makes one", c.Kind(), pretrain, weights)
	}
	return nil
}

// Pretrained are weights from pre-training, known by the hash of their bytes.
type Pretrained struct {
	ID      string // 16 hexadecimal digits
	data    []byte // as on disk
	tensors safetensors.Tensors
}

// collectWeights takes the pre-trained parts out of a store.
func collectWeights(store *model.Store, kind string, parts []string) (*Pretrained, error) {
	list := safetensors.Tensors{}
	for _, part := range parts {
		for _, v := range nn.Variables(store, preScope+"/"+part) {
			flat, err := tensors.CopyFlatData[float32](v.MustValue())
			if err != nil {
				return nil, err
			}
			list[strings.TrimPrefix(v.Path(), preScope+"/")] = safetensors.New(flat, v.Shape().Dimensions...)
		}
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, list, map[string]string{"format": "cermic " + kind + " memory 1"}); err != nil {
		return nil, err
	}
	return readPretrained(out.Bytes())
}

func readPretrained(data []byte) (*Pretrained, error) {
	list, _, err := safetensors.Read(data)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(data)
	return &Pretrained{ID: hex.EncodeToString(hash[:8]), data: data, tensors: list}, nil
}

// PretrainedPath is where weights lie in a store's folder.
func PretrainedPath(folder, id string) string {
	return filepath.Join(folder, results.PretrainedFolder, id+".safetensors")
}

// Save writes the weights into a store's folder, from where experiments name them by ID, and returns the path.
func (p *Pretrained) Save(folder string) (string, error) {
	path := PretrainedPath(folder, p.ID)
	return path, results.WriteFile(path, p.data)
}

// loadFor reads weights that Save wrote, for a memory of that kind; nil for an empty id. It refuses a file whose bytes
// do not have the hash id.
func loadFor(kind, folder, id string) (*Pretrained, error) {
	if id == "" {
		return nil, nil
	}
	data, err := os.ReadFile(PretrainedPath(folder, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("memory %s: the pre-trained weights cannot be read: %w", kind, err)
	}
	if err != nil {
		return nil, fmt.Errorf("memory %s: no pre-trained weights %q in %s; make them with: "+
			"go run ./reproduce pretrain -memory %s", kind, id, folder, kind)
	}
	p, err := readPretrained(data)
	if err == nil && p.ID != id {
		err = fmt.Errorf("its bytes have the hash %s", p.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("memory %s: the pre-trained weights %s are damaged: %w", kind, id, err)
	}
	return p, nil
}

// fill copies the given parts into the variables of a memory at sc if these are fresh; p may be nil. It panics on
// errors, as graph code does.
func (p *Pretrained) fill(sc *model.Scope, fresh bool, parts []string) {
	if p == nil || !fresh {
		return
	}
	for _, part := range parts {
		for _, v := range nn.Variables(sc.Store(), sc.Scope()+"/"+part) {
			name := strings.TrimPrefix(v.Path(), sc.Scope()+"/")
			t, want := p.tensors[name], v.Shape().Dimensions
			if !slices.Equal(t.Shape, want) {
				panic(fmt.Errorf("the pre-trained weights %s have %s of shape %v, this memory and task want %v",
					p.ID, name, t.Shape, want))
			}
			flat, err := safetensors.Values[float32](p.tensors, name)
			if err == nil {
				err = v.SetValue(tensors.FromFlatDataAndDimensions(flat, want...))
			}
			if err != nil {
				panic(err)
			}
		}
	}
}
