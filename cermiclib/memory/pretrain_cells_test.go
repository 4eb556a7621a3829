// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/meltingpot"
)

// pictures is a substrate of two players who see a grid of cells.
func pictures(t *testing.T) envs.Env {
	t.Helper()
	task := meltingpot.DefaultPrisonersDilemma()
	task.NumEnvs = 10
	return must.Value(task.Build(1, 1))
}

// TestADetectorLearnsToSeePlayersInPictures pre-trains on cells, most of which show bare floor, resources and walls.
func TestADetectorLearnsToSeePlayersInPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("convolves for seconds")
	}
	p := DefaultPretraining(fastest(t))
	p.Frames, p.Epochs, p.Batch = 1500, 3, 60
	_, q, err := p.Run(t.Context(), pretrainable(), pictures(t))
	must.Do(t, err)
	// An eighth of some 300 labels is 1, so chance is 0.5 with a standard error of 0.05: the limit is six of them away.
	if !(q.AUC > 0.8) {
		t.Errorf("AUC %.3f with %.0f %% of pairs in sight, want over 0.8", q.AUC, 100*q.Present)
	}
}

func TestGRUAndMLPStartWithWeightsFromPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("convolves for seconds")
	}
	dir := t.TempDir()
	for _, bare := range withoutDetector {
		env := pictures(t)
		w, _ := pretrain(t, bare, env, 200, 1)
		if _, ok := w.tensors["encoder/see/conv_2/weights"]; !ok {
			t.Errorf("%s: the weights hold no convolution", bare.Kind())
		}
		must.Value(w.Save(dir))
		for _, env := range []envs.Env{env, newScatter(false)} {
			_, _, err := compiled(env, dir, started(bare, PretrainFull, w.ID))
			if fits := env.Spec().CellLen() > 0; (err == nil) != fits {
				t.Errorf("%s: weights from pictures on %s: %v", bare.Kind(), env.Spec().Name, err)
			}
		}
	}
}
