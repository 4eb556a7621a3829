// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

func exported() *results.Record {
	return &results.Record{
		ID: "a1", Task: "vmas/balance", Method: "mappo", Seed: 3, Complete: true,
		Evals: []results.Eval{
			{Frames: 0, Scores: []float64{-1, 1}, Success: []float64{0, 0}},
			{Frames: 6000, Scores: []float64{9, 7}, Early: []float64{0.5, 1.5}, Success: []float64{1, 0}},
			{Frames: 12000, Scores: []float64{2, 4}, Success: []float64{0, 0}},
		},
		Scalars: map[string]results.Points{"loss": {{Frames: 6000, Value: 0.5}, {Frames: 12000, Value: 0.25}}},
	}
}

// BenchMARL's form: steps by their iteration, other metrics beside the return, collections without an evaluation.
// marl-eval's own examples call their runs run_1; another name has a seed by its place.
func TestMarlEvalReadsBenchMARL(t *testing.T) {
	rs, err := Import([]byte(`{"vmas": {"balance": {"mappo": {"run_4": {"absolute_metrics": {"return": [3.0]},
		"step_10": {"step_count": 60000, "agents_return": [3.0, 1.0], "return": [3.0, 1.0]},
		"step_2": {"step_count": 12000, "return": [0.5]}, "step_3": {"step_count": 18000, "other": [1]}},
		"second": {"step_1": {"step_count": 1, "return": [2]}}}}}}`))
	must.Do(t, err)
	e := rs[0].Evals
	if len(e) != 2 || e[0].Frames != 12000 || e[1].Frames != 60000 || e[1].Scores[1] != 1 || rs[0].Seed != 4 ||
		len(rs) != 2 || rs[1].Seed != 1 {
		t.Errorf("got %+v", rs)
	}
}

// numbers reads an event file by its wire format alone: frames, checksums, fields. Keys are tag@frames.
func numbers(t *testing.T, data []byte) map[string]float32 {
	t.Helper()
	got := map[string]float32{}
	crc := func(x []byte) uint32 {
		c := crc32.Checksum(x, crc32.MakeTable(crc32.Castagnoli))
		return ((c >> 15) | (c << 17)) + 0xa282ead8
	}
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		if crc(data[:8]) != binary.LittleEndian.Uint32(data[8:]) ||
			crc(data[12:12+n]) != binary.LittleEndian.Uint32(data[12+n:]) {
			t.Fatal("a checksum is wrong")
		}
		event := fields(t, data[12:12+n])
		if summary, ok := event[5].([]byte); ok {
			value := fields(t, fields(t, summary)[1].([]byte))
			step, _ := event[2].(uint64)
			got[string(value[1].([]byte))+"@"+strconv.FormatUint(step, 10)] = math.Float32frombits(value[2].(uint32))
		} else if string(event[3].([]byte)) != "brain.Event:2" {
			t.Errorf("the file begins with %v", event)
		}
		data = data[16+n:]
	}
	return got
}

func TestTensorBoardFilesHoldEveryNumber(t *testing.T) {
	got := numbers(t, encodeRun(exported()))
	for name, want := range map[string]float32{
		"eval/return@6000": 8, "eval/early_return@6000": 1, "eval/success@6000": 0.5, "eval/return@0": 0, "train/loss@12000": 0.25, "train/loss@6000": 0.5,
	} {
		if x, ok := got[name]; !ok || x != want {
			t.Errorf("%s is %g, want %g", name, x, want)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d numbers, want 3 returns, 1 early return, 3 successes and 2 losses", len(got))
	}
}

// fields decodes one level of a protocol buffer.
func fields(t *testing.T, data []byte) map[protowire.Number]any {
	t.Helper()
	out := map[protowire.Number]any{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		data = data[n:]
		switch kind {
		case protowire.VarintType:
			out[number], n = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			out[number], n = protowire.ConsumeFixed32(data)
		case protowire.Fixed64Type:
			out[number], n = protowire.ConsumeFixed64(data)
		case protowire.BytesType:
			out[number], n = protowire.ConsumeBytes(data)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		data = data[n:]
	}
	return out
}

// twoGroups is a record of a task with two groups.
func twoGroups() *results.Record {
	r := exported()
	r.Evals = []results.Eval{{Frames: 6000, Scores: []float64{1, 2},
		Groups: map[string][]float64{"adversary": {-4, -2}, "agent": {6, 6}}}}
	r.Scalars = map[string]results.Points{"adversary/actor_loss": {{Frames: 6000, Value: 0.5}},
		"collection/agent/reward/reward_mean": {{Frames: 6000, Value: 0.25}}}
	return r
}

func TestTensorBoardNamesGroupsAsBenchMARL(t *testing.T) {
	file := string(encodeRun(twoGroups()))
	for _, tag := range []string{
		"eval/adversary/reward/episode_reward_mean", "eval/agent/reward/episode_reward_mean", "train/adversary/actor_loss",
		"collection/agent/reward/reward_mean",
	} {
		if !strings.Contains(file, tag) {
			t.Errorf("no scalar is called %s", tag)
		}
	}
	if strings.Contains(file, "train/collection") {
		t.Error("a scalar of the collection stands under train/")
	}
}

// The recordings give each group's returns beside the score, which is the mean over groups.
func TestRecordedCurvesHaveTheirGroups(t *testing.T) {
	rs, err := BenchMARL("mappo", "vmas/simple_adversary")
	if err != nil || len(rs) != 3 {
		t.Fatalf("%d runs, %v", len(rs), err)
	}
	for _, e := range rs[0].Evals {
		for i, score := range e.Scores {
			if g := e.Groups; math.Abs((g["adversary"][i]+g["agent"][i])/2-score) > 1e-3 { // four digits are recorded
				t.Errorf("episode %d: %g and %g, but the score is %g", i, g["adversary"][i], g["agent"][i], score)
			}
		}
	}
	// The README's table has these means over seeds of the last evaluation.
	for name, want := range map[string]float64{"adversary": -64.0, "agent": 30.1} {
		mean := 0.0
		for _, r := range rs {
			mean += r.Evals[len(r.Evals)-1].Group(name) / float64(len(rs))
		}
		if math.Abs(mean-want) > 0.051 {
			t.Errorf("%s: mean return %.2f, want %.1f", name, mean, want)
		}
	}
}

// TestALiveFileHoldsWhatTheWholeRecordDoes writes the events of a run one by one after its beginning.
func TestALiveFileHoldsWhatTheWholeRecordDoes(t *testing.T) {
	r := exported()
	begun := *r
	begun.Evals, begun.Scalars = nil, nil
	live := NewLive(t.TempDir())
	live.Watch(results.Event{Record: &begun, State: "compiling"})
	for _, e := range r.Evals {
		live.Watch(results.Event{Record: r, Frames: e.Frames, Eval: &e})
	}
	for name, points := range r.Scalars {
		for _, p := range points {
			live.Watch(results.Event{Record: r, Frames: p.Frames, Scalars: map[string]float64{name: p.Value}})
		}
	}
	must.Do(t, live.Close())
	file := filepath.Join(live.folder, tensorBoardFile(r))
	if got, want := numbers(t, must.Get(os.ReadFile(file))(t)), numbers(t, encodeRun(r)); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
