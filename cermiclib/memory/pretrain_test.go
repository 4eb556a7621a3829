// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// scatter places 3 agents anew at every step. Each observes the positions of the others, or nothing but noise, and
// perceives agents nearer than a half.
type scatter struct {
	spec  envs.Spec
	blind bool
	late  bool // labels come from the step before
	rand  *rng.Rand
	seen  []uint8   // [E,N,N] labels of this step
	rel   []float32 // [E,N,N,2]
}

func newScatter(blind bool) *scatter {
	return &scatter{blind: blind, rand: rng.New(1, "scatter"), seen: make([]uint8, 90), rel: make([]float32, 180), spec: envs.Spec{
		Name: "scatter", NumEnvs: 10, Agents: 3, Obs: []int{6}, State: 1, Act: envs.ActSpec{Choices: 2}, Horizon: 1 << 30,
	}}
}

func (e *scatter) Spec() *envs.Spec                { return &e.spec }
func (e *scatter) Save(dst []byte) []byte          { return dst }
func (e *scatter) Load([]byte) error               { return nil }
func (e *scatter) Reset(_ []uint8, out *envs.Step) { e.Step(nil, out) }

func (e *scatter) Step(_ *envs.Actions, out *envs.Step) {
	const n = 3
	copy(out.Visible, e.seen)
	copy(out.RelPos, e.rel)
	for c := range e.spec.NumEnvs {
		var at [n][2]float32
		for i := range at {
			at[i] = [2]float32{e.rand.Uniform(-0.5, 0.5), e.rand.Uniform(-0.5, 0.5)}
			out.Alive[c*n+i] = 1
		}
		for i := range at {
			for j := range at {
				k := (c*n+i)*n + j
				dx, dy := at[j][0]-at[i][0], at[j][1]-at[i][1]
				e.rel[2*k], e.rel[2*k+1], e.seen[k] = dx, dy, 0
				if i != j && dx*dx+dy*dy < 0.25 {
					e.seen[k] = 1
				}
				if e.blind {
					dx, dy = e.rand.Norm(), e.rand.Norm()
				}
				out.Obs[(c*n+i)*6+2*j], out.Obs[(c*n+i)*6+2*j+1] = dx, dy
			}
		}
	}
	if !e.late {
		copy(out.Visible, e.seen)
		copy(out.RelPos, e.rel)
	}
}

// fastest is the backend for hundreds of steps: XLA where it is installed.
func fastest(t *testing.T) nn.Backend {
	t.Helper()
	return must.Value(nn.Open())
}

// pretrainable is narrow, but its embedding has room for what an agent of scatter sees.
func pretrainable() DynamicGraph {
	c := smallGraph()
	c.Embed = 16
	return c
}

// pretrain is a short pre-training of a narrow memory.
func pretrain(t *testing.T, c Config, env envs.Env, frames, epochs int) (*Pretrained, Quality) {
	t.Helper()
	p := DefaultPretraining(fastest(t))
	p.Frames, p.Epochs, p.Batch, p.LR = frames, epochs, 60, 3e-3
	w, q, err := p.Run(t.Context(), c, env)
	must.Do(t, err)
	return w, q
}

// withoutDetector are narrow memories of the other kinds.
var withoutDetector = []Config{
	MLP{Embed: 16, Hidden: 16, Width: 24}, GRU{Embed: 16, Layers: 1, Width: 24, Chunk: 5},
}

func TestPretrainingFindsPeersOnlyWhereObservationsShowThem(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	for _, c := range append(slices.Clone(withoutDetector), pretrainable()) {
		_, graph := c.(DynamicGraph)
		if _, q := pretrain(t, c, newScatter(false), 800, 4); graph != (q.AUC >= 0.9) || graph == math.IsNaN(q.AUC) || q.RMSE > 0.7*q.Spread || q.Blind() {
			t.Errorf("%s, peers in plain sight: AUC %.3f, positions to %.3f of a spread of %.3f; want over 0.9 (of a graph) and under 0.7 of it",
				c.Kind(), q.AUC, q.RMSE, q.Spread)
		}
		// Noise: AUC within five standard errors of a half, which are about 0.05 for some 60 labels of either kind.
		if _, q := pretrain(t, c, newScatter(true), 400, 1); graph && !(math.Abs(q.AUC-0.5) <= 0.25) || q.RMSE < 0.9*q.Spread || !q.Blind() {
			t.Errorf("%s, peers out of sight: AUC %.3f, positions to %.3f of a spread of %.3f; want a half and no better than the spread",
				c.Kind(), q.AUC, q.RMSE, q.Spread)
		}
	}
}

// prepared is a pre-training of a small graph memory, of one epoch a stage.
func prepared(t *testing.T) *pretrainer {
	t.Helper()
	env := newScatter(false)
	b := graphtest.Build(env.Spec(), 1)
	p := DefaultPretraining(b.Backend)
	p.Frames, p.Epochs, p.Batch, p.Seed = 400, 1, 60, b.Seed
	t.Cleanup(b.Close)
	return must.Value(p.prepare(smallGraph(), env, b))
}

// A stage of the graph's pre-training starts with an optimiser of its own, which has taken no steps.
func TestStagesDoNotShareTheOptimisersState(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every stage")
	}
	s := prepared(t)
	want := float32(len(s.training) * s.chunk / s.Batch) // gradient steps of an epoch
	for i, stage := range s.stages {
		must.Do(t, s.train(t.Context(), i))
		steps := s.build.Store.GetVariable(preScope + "/adam/steps").MustValue()
		if got := must.Value(tensors.CopyFlatData[float32](steps)); len(got) != 1 || got[0] != want {
			t.Errorf("after its only epoch the stage %q has taken %v steps by its optimiser's count, want %g", stage.name, got, want)
		}
	}
}

func TestQualityByHand(t *testing.T) {
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
	// Positions (1, 0) and (-1, 0), predicted at distances 2 and 0: both are 1 from their mean.
	rmse, spread := positionErrors([2][]float64{{1, -1}, {0, 0}}, [2][]float64{{1, -1}, {2, 0}})
	if rmse != math.Sqrt2 || spread != 1 {
		t.Errorf("the error of positions is %g and their spread %g, want √2 and 1", rmse, spread)
	}
	if rmse, spread = positionErrors([2][]float64{}, [2][]float64{}); !math.IsNaN(rmse) || !math.IsNaN(spread) {
		t.Errorf("without positions the error is %g and the spread %g, want NaN", rmse, spread)
	}
}

// TestOnlyTheGRURecallsWhatItSaw trains on positions of the step before, about which the present observation has no
// information.
func TestOnlyTheGRURecallsWhatItSaw(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	for _, c := range withoutDetector {
		env := newScatter(false)
		env.late = true
		_, q := pretrain(t, c, env, 1200, 6)
		if recalls := q.RMSE < 0.85*q.Spread; recalls != (c.Kind() == "gru") {
			t.Errorf("%s tells positions of the step before to %.3f of a spread of %.3f", c.Kind(), q.RMSE, q.Spread)
		}
	}
}

func TestSamplesAreWholeChunksAndTheLastAreHeldOut(t *testing.T) {
	spec := &envs.Spec{NumEnvs: 2, Agents: 2, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}}
	x := &play{Rollout: rl.NewRollout(spec, 20, 0)} // 80 agent steps, the last tenth from 72 on
	for i := range x.Alive {
		x.Alive[i] = uint8(min(i%4, 1)) // agent 0 of environment 0 is dead
	}
	x.Alive[5*4] = 1                             // but for step 5
	for chunk, want := range map[int][2][]int32{ // to train on, and held out
		5: {{1, 2, 3, 20, 21, 22, 23, 41, 42, 43}, {61, 62, 63}},
		7: {{0, 1, 2, 3}, {29, 30, 31}}, // the last of which ends before the last tenth begins
	} {
		if train, held := x.split(chunk); !slices.Equal(train, want[0]) || !slices.Equal(held, want[1]) {
			t.Errorf("chunks of %d begin at %v, held out %v; want %v", chunk, train, held, want)
		}
	}
	if train, held := x.split(1); len(train) != 18*3+1 || held[0] != 73 {
		t.Errorf("of single steps %d are to train on and %d is the first held out, want %d and 73", len(train), held[0], 18*3+1)
	}
}

func TestPretrainingRefusesWhatItCannotDo(t *testing.T) {
	for name, p := range map[string]Pretraining{
		"batch": {Frames: 400, Epochs: 1, Batch: 4}, "number of frames": {Frames: 200, Epochs: 1, Batch: 512},
	} {
		p.Backend = graphtest.Backend()
		if _, _, err := p.Run(t.Context(), withoutDetector[1], newScatter(false)); err == nil {
			t.Errorf("an impossible %s is accepted", name)
		}
	}
	const name = "0123456789abcdef"
	for _, start := range []Start{{PretrainDetector, name}, {PretrainFull, ""}, {"", name}, {"none", ""}} {
		for _, c := range []Config{MLP{1, 1, 1, start}, GRU{1, 1, 1, 1, start}} {
			must.RefuseAs(t, c.Validate(), "memory "+c.Kind()+": ", "pretrain is")
		}
	}
}

// started is c with pre-trained weights.
func started(c Config, kind, weights string) Config {
	switch c := c.(type) {
	case DynamicGraph:
		c.Pretrain, c.Weights = kind, weights
		return c
	case GRU:
		c.Start = Start{kind, weights}
		return c
	case MLP:
		c.Start = Start{kind, weights}
		return c
	}
	panic("no such memory")
}

// compiled builds c's features on env into a graph, with pre-trained weights from a folder.
func compiled(env envs.Env, folder string, c Config) (Memory, *model.Store, error) {
	b := graphtest.Build(env.Spec(), 5)
	b.Files = folder
	m, err := c.Build(b)
	if err == nil {
		_, err = nn.NewProgram(b, "probe", m.Inputs(10), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			return []*graph.Node{m.Context(sc.At("memory"), in).Now}
		})
	}
	return m, b.Store, err
}

func TestMemoryStartsWithThePretrainedWeightsThatItNames(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		bare   Config
		kind   string
		kept   []string // parts that start pre-trained
		frozen []string // of these
	}{
		{pretrainable(), PretrainDetector, []string{"encoder", "detector"}, []string{"encoder", "detector"}},
		{pretrainable(), PretrainFull, graphParts, []string{"encoder", "detector"}},
		{withoutDetector[0], PretrainFull, mlpParts, nil},
		{withoutDetector[1], PretrainFull, []string{"encoder", "gru_0"}, nil},
	} {
		w, _ := pretrain(t, x.bare, newScatter(false), 200, 1)
		must.Value(w.Save(dir))
		c := started(x.bare, x.kind, w.ID)
		m, store, err := compiled(newScatter(false), dir, c)
		if must.Do(t, err); m.Shape().Labels {
			t.Errorf("%s, %s: it asks for labels", c.Kind(), x.kind)
		}
		must.Do(t, Watch(m, rl.NewRollout(newScatter(false).Spec(), 5, 0))) // which holds none
		for _, v := range nn.Variables(store, "/memory") {
			part := strings.Split(v.Path(), "/")[2]
			flat, _ := tensors.CopyFlatData[float32](v.MustValue())
			stored := w.tensors[v.Path()[len("/memory/"):]]
			if same := slices.Equal(stored.Data, appendFloats(nil, flat)); same != slices.Contains(x.kept, part) {
				t.Errorf("%s, %s: %s holds the pre-trained values: %v", c.Kind(), x.kind, v.Path(), same)
			}
			if frozen := slices.Contains(x.frozen, part); v.Trainable == frozen {
				t.Errorf("%s, %s: %s is trainable: %v", c.Kind(), x.kind, v.Path(), v.Trainable)
			}
		}
	}
}

func TestWeightsThatDoNotFitAreRefused(t *testing.T) {
	dir := t.TempDir()
	w, _ := pretrain(t, pretrainable(), newScatter(false), 200, 1)
	path := must.Value(w.Save(dir))
	wide := started(pretrainable(), PretrainFull, w.ID).(DynamicGraph)
	wide.Node = 16
	for name, c := range map[string]Config{"another width": wide, "another kind": started(withoutDetector[0], PretrainFull, w.ID),
		"no file": started(withoutDetector[1], PretrainFull, "0123")} {
		if _, _, err := compiled(newScatter(false), dir, c); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("weights of %s: %v, want one sentence", name, err)
		}
	}
	data := must.Value(os.ReadFile(path))
	data[len(data)-1] ^= 1
	must.Do(t, os.WriteFile(path, data, 0o644))
	if _, _, err := compiled(newScatter(false), dir, started(pretrainable(), PretrainFull, w.ID)); err == nil {
		t.Error("a file that was changed is accepted")
	}
}

// A detector with one output for all peers weighs the node encoder's loss by its probability, and by nothing below its
// threshold.
func TestNodesLearnFromDetectedPeersOnly(t *testing.T) {
	s := prepared(t)
	rows := s.samples(nil, s.training[:s.Batch])
	offset, loss := make([]float32, 2*s.play.N*s.Batch), make([]float32, s.Batch)
	nodes := func(probability float64) (sum float64) {
		for _, v := range nn.Variables(s.build.Store, preScope+"/detector/out") {
			value := tensors.FromShape(v.Shape())
			if strings.HasSuffix(v.Path(), "/bias") {
				tensors.MustMutableFlatData(value, func(flat []float32) {
					graphtest.Fill(flat, float32(math.Log(probability/(1-probability))))
				})
			}
			must.Do(t, v.SetValue(value))
		}
		s.feed(s.evaluate, rows)
		must.Do(t, s.evaluate.Run())
		s.evaluate.Read(1, offset)
		s.evaluate.Read(3, loss)
		for k, row := range rows {
			sum += float64(loss[k])
			for j := range s.play.N {
				for axis := range 2 {
					at := int(row)*s.play.N + j
					miss := float64(offset[(axis*s.play.N+j)*s.Batch+k] - s.play.RelPos[2*at+axis])
					sum -= float64(s.play.Visible[at]) * miss * miss // the edges' part of the loss
				}
			}
		}
		return sum
	}
	sure, likely, unlikely := nodes(0.999), nodes(0.75), nodes(0.25)
	if sure < 1 || math.Abs(likely/sure-0.75/0.999) > 1e-4 || math.Abs(unlikely) > 1e-4*sure {
		t.Errorf("the loss is %g of peers of probability 0.999, %g of 0.75 and %g of 0.25", sure, likely, unlikely)
	}
}

func TestQualitySaysWhereObservationsHoldNothingAboutPeers(t *testing.T) {
	const verdict = "little or nothing about where its peers are"
	nan := math.NaN()
	for _, c := range []struct {
		q     Quality
		blind bool
		says  string
	}{
		{Quality{AUC: 0.97, Present: 0.07, RMSE: 0.2, Spread: 0.3}, false, "AUC 0.970"},
		{Quality{AUC: 0.55, Present: 0.07, RMSE: 0.3, Spread: 0.3}, true, "AUC 0.550"},
		{Quality{AUC: nan, RMSE: nan, Spread: nan}, false, "all labels are equal"},
		{Quality{AUC: nan, Present: 0.07, RMSE: 0.2, Spread: 0.3}, false, "RMSE 0.200"}, // no detector
		{Quality{AUC: nan, Present: 0.07, RMSE: 0.3, Spread: 0.3}, true, "RMSE 0.300"},
	} {
		if got := c.q.String(); strings.Contains(got, verdict) != c.blind || !strings.Contains(got, c.says) || strings.Contains(got, "NaN") {
			t.Errorf("%+v is described as:\n%s", c.q, got)
		}
	}
}

// lost is an environment that cannot start an episode.
type lost struct{ envs.Env }

var errLost = errors.New("no game")

func (lost) Err() error       { return errLost }
func (lost) Aborted(int) bool { return false }
func (lost) Close()           {}

// Such an environment shows meaningless values: sampling from a mask that allows no action would never end.
func TestPlayEndsWhereNoEpisodeCanBeStarted(t *testing.T) {
	if _, err := playRandomly(lost{newScatter(false)}, 40, 1); !errors.Is(err, errLost) {
		t.Errorf("error %v, want %v", err, errLost)
	}
}
