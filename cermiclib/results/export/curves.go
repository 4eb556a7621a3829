// SPDX-License-Identifier: Apache-2.0

package export

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// recorded holds learning curves of BenchMARL on VMAS; its README says how they were made.
//
//go:embed testdata/golden/benchmarl
var recorded embed.FS

const (
	recordedDir    = "testdata/golden/benchmarl"
	recordedSuffix = ".json.gz"
	recordedSchema = "benchmarl-curves/1"
)

// BenchMARL returns the recorded curve of a learner ("mappo", "qmix") on a task ("vmas/balance") as complete records, one
// a seed: trained by BenchMARL with its own defaults on the dense reward, 60 greedy episodes an evaluation. Their method
// is "BenchMARL" and the learner, so that a figure shows them beside ours. An unknown curve is an error with near names.
func BenchMARL(learner, task string) ([]*results.Record, error) {
	name := learner + "-" + strings.TrimPrefix(task, "vmas/")
	data, err := recorded.ReadFile(path.Join(recordedDir, name+recordedSuffix))
	if err != nil {
		return nil, fmt.Errorf("no curve of BenchMARL is recorded for %q%s", name, conf.Near(name, BenchMARLCurves()))
	}
	return ReadCurves(data)
}

// BenchMARLCurves lists the recorded curves, "mappo-balance", in alphabetical order.
func BenchMARLCurves() []string {
	entries, err := recorded.ReadDir(recordedDir)
	if err != nil {
		panic("results: " + err.Error()) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), recordedSuffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// curves is the content of a recorded file.
type curves struct {
	Schema    string `json:"schema"`
	Algorithm string `json:"algorithm"`
	Task      string `json:"task"`
	Reward    string `json:"reward"` // that it was trained on
	Runs      []struct {
		Seed  uint64 `json:"seed"`
		Evals []struct {
			Frames  int                   `json:"frames"`
			Returns []*float64            `json:"returns"` // one an episode
			Groups  map[string][]*float64 `json:"groups"`  // returns of each group, where there are several
		} `json:"evals"`
		Seconds float64 `json:"seconds_one_thread"` // wall time of the run
	} `json:"runs"`
}

// ReadCurves reads one file of recorded curves, gzipped or not, as records, one a seed in the order of the file.
func ReadCurves(data []byte) ([]*results.Record, error) {
	text, err := unzipped(data)
	if err != nil {
		return nil, fmt.Errorf("recorded curves: %w", err)
	}
	return readCurves(text)
}

func readCurves(text []byte) ([]*results.Record, error) {
	text, err := withoutNaN(text)
	if err != nil {
		return nil, fmt.Errorf("recorded curves: %w", err)
	}
	var c curves
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("recorded curves: %w", plain(err))
	}
	if c.Schema != recordedSchema {
		return nil, fmt.Errorf("recorded curves: schema is %q, want %q", c.Schema, recordedSchema)
	}
	settings, err := json.Marshal(map[string]string{"learner": c.Algorithm, "reward": c.Reward, "task": c.Task})
	if err != nil {
		return nil, err
	}
	var rs []*results.Record
	for _, run := range c.Runs {
		r := &results.Record{
			ID:   fmt.Sprintf("benchmarl-%s-%s-%d", c.Algorithm, c.Task, run.Seed),
			Task: "vmas/" + c.Task, Method: "BenchMARL " + c.Algorithm, Budget: "recorded", Seed: run.Seed, Complete: true,
			Experiment: settings, Host: results.Host{Backend: "torch", Cores: 1, Seconds: run.Seconds}, Scalars: map[string]results.Points{},
		}
		if err := r.CheckNames(); err != nil {
			return nil, fmt.Errorf("recorded curves: %w", err)
		}
		for _, e := range run.Evals {
			if e.Frames < 0 {
				return nil, fmt.Errorf("recorded curves: an evaluation is at %d frames, want 0 or more", e.Frames)
			}
			if scores := present(e.Returns); len(scores) > 0 {
				r.AddEval(results.Eval{Frames: e.Frames, Scores: scores, Groups: presentIn(e.Groups)})
			}
		}
		rs = append(rs, r)
	}
	return rs, nil
}
