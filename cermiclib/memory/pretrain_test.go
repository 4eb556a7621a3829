// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/rng"

	"cermic/cermiclib/nn"
)

// scatter places 3 agents anew at every step; each sees where the others are, or nothing but noise, and perceives those
// nearer than a half.
type scatter struct {
	spec  envs.Spec
	blind bool
	rand  *rng.Rand
}

func newScatter(blind bool) *scatter {
	return &scatter{blind: blind, rand: rng.New(1, "scatter"), spec: envs.Spec{
		Name: "scatter", Copies: 10, Agents: 3, Obs: []int{6}, State: 1, Act: envs.ActSpec{Choices: 2}, Horizon: 1 << 30,
	}}
}

func (e *scatter) Spec() *envs.Spec                { return &e.spec }
func (e *scatter) Save(dst []byte) []byte          { return dst }
func (e *scatter) Load([]byte) error               { return nil }
func (e *scatter) Reset(_ []uint8, out *envs.Step) { e.Step(nil, out) }

func (e *scatter) Step(_ *envs.Actions, out *envs.Step) {
	const n = 3
	for c := range e.spec.Copies {
		var at [n][2]float32
		for i := range at {
			at[i] = [2]float32{e.rand.Uniform(-0.5, 0.5), e.rand.Uniform(-0.5, 0.5)}
			out.Alive[c*n+i] = 1
		}
		for i := range at {
			for j := range at {
				k := (c*n+i)*n + j
				dx, dy := at[j][0]-at[i][0], at[j][1]-at[i][1]
				out.RelPos[2*k], out.RelPos[2*k+1], out.Seen[k] = dx, dy, 0
				if i != j && dx*dx+dy*dy < 0.25 {
					out.Seen[k] = 1
				}
				if e.blind {
					dx, dy = e.rand.Norm(), e.rand.Norm()
				}
				out.Obs[(c*n+i)*6+2*j], out.Obs[(c*n+i)*6+2*j+1] = dx, dy
			}
		}
	}
}

func pureGo(t *testing.T) nn.Backend {
	t.Helper()
	b, err := nn.OpenConfig("go:parallelism=-1")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pretrainable is narrow, but its embedding has room for what an agent of scatter sees.
func pretrainable() DynamicGraph {
	c := smallGraph()
	c.Embed = 16
	return c
}

// pretrain is a short pre-training of a narrow memory.
func pretrain(t *testing.T, blind bool, frames, epochs int) (*Pretrained, Quality) {
	t.Helper()
	p := DefaultPretraining(pureGo(t))
	p.Frames, p.Epochs, p.Batch, p.LR = frames, epochs, 60, 3e-3
	w, q, err := p.Run(t.Context(), pretrainable(), newScatter(blind))
	if err != nil {
		t.Fatal(err)
	}
	return w, q
}

func TestPretrainingFindsPeersOnlyWhereObservationsShowThem(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	if _, q := pretrain(t, false, 700, 4); q.AUC < 0.9 || q.RMSE > 0.7*q.Spread {
		t.Errorf("peers in plain sight: AUC %.3f, positions to %.3f of a spread of %.3f; want over 0.9 and under 0.7 of it", q.AUC, q.RMSE, q.Spread)
	}
	// Noise: AUC within five standard errors of a half, which are about 0.05 for some 60 labels of either kind.
	if _, q := pretrain(t, true, 400, 1); math.Abs(q.AUC-0.5) > 0.25 || q.RMSE < 0.9*q.Spread {
		t.Errorf("peers out of sight: AUC %.3f, positions to %.3f of a spread of %.3f; want a half and no better than the spread", q.AUC, q.RMSE, q.Spread)
	}
}

func TestAreaUnderCurveByHand(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		labels []bool
		want   float64
	}{
		{[]float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1},
		{[]float64{1, 2, 3, 4}, []bool{true, false, false, false}, 0},
		{[]float64{1, 2, 2, 3}, []bool{false, true, false, true}, (1 + 0.5 + 1 + 1) / 4.0},
		{[]float64{7, 7, 7}, []bool{true, false, true}, 0.5},
	} {
		if got := areaUnderCurve(c.scores, c.labels); got != c.want {
			t.Errorf("scores %v with labels %v: %g, want %g", c.scores, c.labels, got, c.want)
		}
	}
	if got := areaUnderCurve([]float64{1, 2}, []bool{true, true}); !math.IsNaN(got) {
		t.Errorf("without a negative the area is %g, want NaN", got)
	}
}

func TestErrorsOfPositionsByHand(t *testing.T) {
	var e errorSum
	for _, pair := range [][2][2]float64{{{1, 0}, {1, 2}}, {{-1, 0}, {-1, 0}}} { // wanted, predicted
		for axis := range 2 {
			e.add(axis, pair[0][axis], pair[1][axis])
		}
	}
	if got := e.rmse(); got != math.Sqrt(2) { // distances 2 and 0
		t.Errorf("rmse is %g, want √2", got)
	}
	if got := e.spread(); got != 1 { // both are 1 from their mean
		t.Errorf("spread is %g, want 1", got)
	}
}

func TestMemoryStartsWithThePretrainedWeightsThatItNames(t *testing.T) {
	w, _ := pretrain(t, false, 200, 1)
	again, _ := pretrain(t, false, 200, 1)
	if w.ID != again.ID {
		t.Error("equal pre-trainings have different names")
	}
	dir := t.TempDir()
	path, err := w.Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	spec := newScatter(false).Spec()
	for kind, parts := range map[string][]string{PretrainDetector: {"encoder", "detector"}, PretrainFull: pretrainedParts} {
		c := pretrainable()
		c.Pretrain, c.Weights = kind, w.ID
		b := &nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(5), Files: dir}
		m, err := c.Build(b)
		if err != nil {
			t.Fatal(err)
		}
		if b.Labels {
			t.Errorf("%s: a frozen detector asks for labels", kind)
		}
		if _, err := nn.NewProgram(b, "probe", m.Inputs(2), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{m.Context(sc.At("memory"), in).Now}
		}); err != nil {
			t.Fatal(err)
		}
		for _, part := range pretrainedParts {
			for _, v := range nn.Variables(b.Store, "/memory/"+part) {
				flat, _ := tensors.CopyFlatData[float32](v.MustValue())
				stored := w.tensors[v.Path()[len("/memory/"):]]
				same := slices.Equal(stored.Data, appendFloats(nil, flat))
				if same != slices.Contains(parts, part) {
					t.Errorf("%s: %s holds the pre-trained values: %v", kind, v.Path(), same)
				}
				if frozen := part == "encoder" || part == "detector"; v.Trainable == frozen {
					t.Errorf("%s: %s is trainable: %v", kind, v.Path(), v.Trainable)
				}
			}
		}
	}
	other := pretrainable()
	other.Pretrain, other.Weights, other.Node = PretrainFull, w.ID, 16
	if _, err := other.Build(&nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(5), Files: dir}); err == nil {
		t.Error("weights of another width are accepted")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPretrained(dir, w.ID); err == nil {
		t.Error("a file that was changed is accepted")
	}
	if _, err := LoadPretrained(dir, "0123"); err == nil {
		t.Error("weights that are not there are accepted")
	}
}
