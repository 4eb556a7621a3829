// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
)

// Pretraining asks for a graph memory's pre-training on random play of a task: all that its weights follow from.
type Pretraining struct {
	Task   envs.Config         `json:"task"`
	Memory memory.DynamicGraph `json:"memory"`
	Frames int                 `json:"frames"` // of random play
	Epochs int                 `json:"epochs"` // at most
	Seed   uint64              `json:"seed"`
}

// Pretrained is what came of it: the hash that names the weights, and how good they got on held-out play.
type Pretrained struct {
	Weights string
	memory.Quality
}

// pretrainedFile is a Pretrained on disk; what could not be measured is left out, since JSON knows no NaN.
type pretrainedFile struct {
	Weights string   `json:"weights"`
	Present float64  `json:"present"`
	AUC     *float64 `json:"auc,omitempty"`
	RMSE    *float64 `json:"rmse,omitempty"`
	Spread  *float64 `json:"spread,omitempty"`
}

// path is where a store's folder says what came of p.
func (p Pretraining) path(folder string) (string, error) {
	id, err := conf.Hash(p)
	return filepath.Join(folder, "pretrained", id+".json"), err
}

// Find returns what came of p in a store; the error is fs.ErrNotExist if it was not pre-trained there.
func (p Pretraining) Find(st *results.Store) (*Pretrained, error) {
	path, err := p.path(st.Dir())
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f pretrainedFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): remove it to pre-train anew", path, err)
	}
	measured := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return &Pretrained{f.Weights, memory.Quality{AUC: measured(f.AUC), Present: f.Present, RMSE: measured(f.RMSE), Spread: measured(f.Spread)}}, nil
}

// Run pre-trains, keeps weights and quality in the store, and returns them; watch is told of every epoch and may be nil.
func (p Pretraining) Run(ctx context.Context, st *results.Store, watch func(stage string, epoch int, loss float64)) (*Pretrained, error) {
	env, err := p.Task.Build(p.Seed, 0)
	if err != nil {
		return nil, err
	}
	defer envs.Close(env)
	backend, err := nn.Open()
	if err != nil {
		return nil, err
	}
	training := memory.DefaultPretraining(backend)
	training.Frames, training.Epochs, training.Seed, training.Watch = p.Frames, p.Epochs, p.Seed, watch
	weights, q, err := training.Run(ctx, p.Memory, env)
	if err != nil {
		return nil, err
	}
	if _, err := weights.Save(st.Dir()); err != nil {
		return nil, err
	}
	made := &Pretrained{weights.ID, q}
	return made, made.save(p, st)
}

// save says in the store that this came of p.
func (r Pretrained) save(p Pretraining, st *results.Store) error {
	path, err := p.path(st.Dir())
	if err != nil {
		return err
	}
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	data, err := json.Marshal(pretrainedFile{r.Weights, r.Present, known(r.AUC), known(r.RMSE), known(r.Spread)})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", data, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
