// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
)

// Pretraining holds all settings of a memory's pre-training on random play of a task. Its weights follow from these.
type Pretraining struct {
	Task   envs.Config   `json:"task"`
	Memory memory.Config `json:"memory"`
	Frames int           `json:"frames" range:"1..100000000"`  // of random play
	Epochs int           `json:"epochs" range:"1..10000"`      // at most
	Seed   uint64        `json:"seed"`                         //
	Peers  bool          `json:"peer_channels,omitzero"`       // the memory reads channels of peers, as the module does
	Stages int           `json:"stages,omitzero" range:"0..2"` // with an optimiser each; 0: one stage, or weights of an earlier program, which shared one optimiser
}

// Pretrained is the result of a Pretraining: the hash that names the weights, and their quality on held-out play.
type Pretrained struct {
	Weights string
	memory.Quality
}

// File is the name of p's result file in a store.
func (p Pretraining) File() (string, error) {
	id, err := conf.Hash(p)
	return path.Join(results.PretrainedFolder, id+".json"), err
}

// Find returns the result of p from a store or the committed records below it. The error is fs.ErrNotExist if neither
// has it.
func (p Pretraining) Find(st *results.Store) (*Pretrained, error) {
	name, err := p.File()
	if err != nil {
		return nil, err
	}
	data, err := st.File(name)
	if err != nil {
		return nil, err
	}
	made, err := readPretrained(data)
	if err != nil {
		return nil, fmt.Errorf("%s in %s is damaged (%w): remove it to pre-train anew", name, st.Dir(), err)
	}
	return made, nil
}

// readPretrained reads a file of Save, which leaves out numbers that could not be measured.
func readPretrained(data []byte) (*Pretrained, error) {
	r := &Pretrained{Quality: memory.Quality{AUC: math.NaN(), RMSE: math.NaN(), Spread: math.NaN()}}
	return r, json.Unmarshal(data, r)
}

// Here reports whether the weights themselves are in the store; committed records have only their quality.
func (r *Pretrained) Here(st *results.Store) bool {
	_, err := os.Stat(memory.PretrainedPath(st.Dir(), r.Weights))
	return err == nil
}

// Run returns the result of p if its weights are in the store. Otherwise it pre-trains and keeps weights and quality
// there. watch gets every epoch and may be nil.
func (p Pretraining) Run(
	ctx context.Context, st *results.Store, watch func(stage string, epoch int, loss float64),
) (*Pretrained, error) {
	if made, err := p.Find(st); err == nil && made.Here(st) {
		return made, nil
	}
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
	training.Frames, training.Epochs, training.Seed = p.Frames, p.Epochs, p.Seed
	training.Peers, training.Watch = p.Peers, watch
	weights, q, err := training.Run(ctx, p.Memory, env)
	if err != nil {
		return nil, err
	}
	if _, err := weights.Save(st.Dir()); err != nil {
		return nil, err
	}
	made := &Pretrained{weights.ID, q}
	return made, made.Save(p, st)
}

// Save stores r as the result of p.
func (r Pretrained) Save(p Pretraining, st *results.Store) error {
	name, err := p.File()
	if err != nil {
		return err
	}
	values := map[string]any{"weights": r.Weights}
	for key, v := range map[string]float64{"present": r.Present, "auc": r.AUC, "rmse": r.RMSE, "spread": r.Spread} {
		if !math.IsNaN(v) { // which JSON cannot hold
			values[key] = v
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return results.WriteFile(filepath.Join(st.Dir(), filepath.FromSlash(name)), data)
}

// ExportPretrained copies results of Pretraining from a store into a folder of records, for the weights that rs name.
func ExportPretrained(st *results.Store, rs []*results.Record, folder string) error {
	files, err := fs.Glob(os.DirFS(st.Dir()), results.PretrainedFolder+"/*.json")
	if err != nil {
		return err
	}
	for _, name := range files {
		file := filepath.Join(st.Dir(), name)
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		made, err := readPretrained(data)
		if err != nil {
			return fmt.Errorf("%s is damaged: %w", file, err)
		}
		used := slices.ContainsFunc(rs, func(r *results.Record) bool {
			return strings.Contains(string(r.Experiment), `"`+made.Weights+`"`)
		})
		if made.Weights != "" && used {
			if err := results.WriteFile(filepath.Join(folder, name), data); err != nil {
				return err
			}
		}
	}
	return nil
}
