// SPDX-License-Identifier: Apache-2.0

// Package export writes records as TensorBoard event files and imports runs of BenchMARL.
package export

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/results"
)

// recorded holds learning curves of BenchMARL on VMAS; its README describes how they were made.
//
//go:embed testdata/golden/benchmarl
var recorded embed.FS

const (
	recordedDir    = "testdata/golden/benchmarl/"
	recordedSuffix = ".json.gz"
	recordedSchema = "benchmarl-curves/1"
)

// BenchMARL returns the recorded curve of a learner ("mappo", "qmix") on a task ("vmas/balance") as complete records,
// one a seed. BenchMARL trained them with its own defaults on the dense reward, with 60 greedy episodes an evaluation.
// The method of the records is "BenchMARL" and the learner. The error wraps fs.ErrNotExist if there is no such curve.
func BenchMARL(learner, task string) ([]*results.Record, error) {
	data, err := recorded.ReadFile(recordedDir + learner + "-" + strings.TrimPrefix(task, "vmas/") + recordedSuffix)
	if err != nil {
		return nil, err
	}
	return Import(data)
}

// maxText is the largest size of an unpacked file in bytes, far above a benchmark's results of a whole paper.
const maxText = 256 << 20

var textOrNaN = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|NaN`)

// Import reads complete records from a file of BenchMARL in marl-eval's format, or of recorded curves, gzipped or not.
// NaN, as Python writes it, is a missing value.
func Import(data []byte) (rs []*results.Record, err error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) { // as gzip files begin
		if data, err = results.Inflate(data, maxText); err != nil {
			return nil, err
		}
	}
	data = textOrNaN.ReplaceAllFunc(data, func(found []byte) []byte {
		if string(found) == "NaN" {
			return []byte("null")
		}
		return found
	})
	var c curves
	err = json.Unmarshal(data, &c)
	switch {
	case c.Schema == "":
		return readMarlEval(data)
	case c.Schema != recordedSchema:
		return nil, fmt.Errorf("recorded curves: schema is %q, want %q", c.Schema, recordedSchema)
	case err != nil:
		return nil, fmt.Errorf("recorded curves: %w", err)
	}
	return c.records()
}

type curves struct {
	Schema    string `json:"schema"`
	Algorithm string `json:"algorithm"`
	Task      string `json:"task"`
	Reward    string `json:"reward"` // of training
	Runs      []struct {
		Seed  uint64 `json:"seed"`
		Evals []struct {
			Frames  int                   `json:"frames"`
			Returns []*float64            `json:"returns"` // one an episode
			Groups  map[string][]*float64 `json:"groups"`  // returns of each group of several
		} `json:"evals"`
		Seconds float64 `json:"seconds_one_thread"` // wall time of the run
	} `json:"runs"`
}

func (c curves) records() (rs []*results.Record, err error) {
	settings, err := json.Marshal(map[string]string{"learner": c.Algorithm, "reward": c.Reward, "task": c.Task})
	if err != nil {
		return nil, err
	}
	for _, run := range c.Runs {
		r := &results.Record{
			ID:   fmt.Sprintf("benchmarl-%s-%s-%d", c.Algorithm, c.Task, run.Seed),
			Task: "vmas/" + c.Task, Method: "BenchMARL " + c.Algorithm, Budget: "recorded", Seed: run.Seed, Complete: true,
			Experiment: settings, Scalars: map[string]results.Points{},
			Host: results.Host{Backend: "torch", Cores: 1, Seconds: run.Seconds},
		}
		for _, e := range run.Evals {
			eval := results.Eval{Frames: e.Frames, Scores: present(e.Returns)}
			for name, returns := range e.Groups {
				if eval.Groups == nil {
					eval.Groups = map[string][]float64{}
				}
				eval.Groups[name] = present(returns)
			}
			if len(eval.Scores) > 0 {
				r.AddEval(eval)
			}
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// marlEval is the file format of marl-eval (github.com/instadeepai/marl-eval), which BenchMARL writes. See Gorsane et
// al., "Towards a Standardised Performance Evaluation Protocol for Cooperative MARL", NeurIPS 2022. Its levels are
// environment → task → algorithm → "seed_<n>" → "step_<k>" or "absolute_metrics".
type marlEval map[string]map[string]map[string]map[string]marlEvalRun

// marlEvalRun is one run, by step.
type marlEvalRun map[string]struct {
	Frames float64    `json:"step_count"` // some writers give it a point
	Return []*float64 `json:"return"`     // empty in steps of other metrics
}

// record is the run as a record; its evaluations are empty if it has no returns.
func (steps marlEvalRun) record(task, method string, seed uint64) *results.Record {
	r := &results.Record{ID: "imported", Task: task, Method: method, Seed: seed, Budget: "imported",
		Complete: true, Scalars: map[string]results.Points{}}
	for step, e := range steps {
		if scores := present(e.Return); len(scores) > 0 && step != "absolute_metrics" {
			r.AddEval(results.Eval{Frames: int(e.Frames), Scores: scores})
		}
	}
	slices.SortFunc(r.Evals, func(a, b results.Eval) int { return cmp.Compare(a.Frames, b.Frames) })
	return r
}

// readMarlEval reads marl-eval's format as records of budget "imported". The score of an episode is its "return".
func readMarlEval(data []byte) (records []*results.Record, err error) {
	var file marlEval
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not a file of marl-eval, which nests environment, task, algorithm, seed and step: %w", err)
	}
	for _, env := range slices.Sorted(maps.Keys(file)) {
		for _, task := range slices.Sorted(maps.Keys(file[env])) {
			for _, method := range slices.Sorted(maps.Keys(file[env][task])) {
				runs := file[env][task][method]
				for i, name := range slices.Sorted(maps.Keys(runs)) {
					seed, err := strconv.ParseUint(name[strings.LastIndexByte(name, '_')+1:], 10, 64)
					if err != nil {
						seed = uint64(i) // the run's place among the others
					}
					if r := runs[name].record(env+"/"+task, method, seed); len(r.Evals) > 0 {
						records = append(records, r)
					}
				}
			}
		}
	}
	if len(records) == 0 {
		return nil, errors.New("the file of marl-eval holds no returns")
	}
	return records, nil
}

// present returns the values that are not missing.
func present(all []*float64) (out []float64) {
	for _, v := range all {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}
