// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"cermic/cermiclib/results/safetensors"
)

func TestWeightsComeWithARecordAndAreChecked(t *testing.T) {
	dir := t.TempDir()
	r := &Record{ID: "0123456789abcdef", Task: "vmas/balance", Method: "mappo", Budget: "short", Seed: 1, Complete: true, Frames: 600}
	c := Checkpoint{Frames: 600, Tensors: []safetensors.Tensor{
		safetensors.New("weights/actor/out/bias", []float32{1, 2}), safetensors.New("weights/actor/adam/out/bias/mean", []float32{3, 4}), safetensors.New("state/fresh", []uint8{1}),
	}}
	with, err := PackWeights(dir, r, c)
	if err != nil || with.Weights == "" || r.Weights != "" {
		t.Fatalf("hash %q, of the record that was given %q, %v", with.Weights, r.Weights, err)
	}
	if _, err := WritePack(dir, with); err != nil {
		t.Fatal(err)
	}
	open := func() *Store {
		s, err := Open(t.TempDir())
		if err == nil {
			err = s.Base(os.DirFS(dir))
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	got, err := open().Weights(r.ID)
	if err != nil || !got.Bare || got.Frames != 600 || len(got.Tensors) != 1 || got.Tensors[0].Name != "weights/actor/out/bias" {
		t.Fatalf("%+v, %v, want the one variable that is no optimiser's", got, err)
	}
	if _, err := open().Checkpoint(r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint to go on from: %v", err)
	}
	file := filepath.Join(dir, "weights", r.ID+".safetensors")
	other, err := EncodeWeights(r, Checkpoint{Frames: 600, Tensors: []safetensors.Tensor{safetensors.New("weights/actor/out/bias", []float32{1, 3})}})
	if err != nil || os.WriteFile(file, other, 0o666) != nil {
		t.Fatal(err)
	}
	if _, err := open().Weights(r.ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("weights of another hash: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Weights(r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}
