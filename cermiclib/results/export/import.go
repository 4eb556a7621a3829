// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/results"
)

// recorded holds learning curves of BenchMARL on VMAS; its README says how they were made.
//
//go:embed testdata/golden/benchmarl
var recorded embed.FS

const (
	recordedDir    = "testdata/golden/benchmarl/"
	recordedSuffix = ".json.gz"
	recordedSchema = "benchmarl-curves/1"
)

// BenchMARL returns the recorded curve of a learner ("mappo", "qmix") on a task ("vmas/balance") as complete records,
// one a seed: trained by BenchMARL with its own defaults on the dense reward, 60 greedy episodes an evaluation. The
// method of the records is "BenchMARL" and the learner. The error wraps fs.ErrNotExist if there is no such curve.
func BenchMARL(learner, task string) ([]*results.Record, error) {
	data, err := recorded.ReadFile(recordedDir + learner + "-" + strings.TrimPrefix(task, "vmas/") + recordedSuffix)
	if err != nil {
		return nil, err
	}
	return Import(data)
}

// maxText is the largest size of an unpacked file in bytes, far above a benchmark's results of a whole paper.
const maxText = 256 << 20

// ImportFile is Import of a file.
func ImportFile(path string) ([]*results.Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Import(data)
}

// Import reads complete records from a file of another program: marl-eval's format, which BenchMARL writes too, or
// recorded curves, gzipped or not. NaN, as Python writes it, is a missing value.
func Import(data []byte) ([]*results.Record, error) {
	var err error
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) { // as gzip files begin
		if data, err = results.Inflate(data, maxText); err != nil {
			return nil, err
		}
	}
	if data, err = withoutNaN(data); err != nil {
		return nil, err
	}
	var c curves
	err = json.Unmarshal(data, &c)
	switch {
	case c.Schema == "":
		return readMarlEval(data)
	case c.Schema != recordedSchema:
		return nil, fmt.Errorf("recorded curves: schema is %q, want %q", c.Schema, recordedSchema)
	case err != nil:
		return nil, fmt.Errorf("recorded curves: %w", plain(err))
	}
	return c.records()
}

var textOrNumber = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|NaN|Infinity`)

// withoutNaN replaces NaN, which is no JSON, by null. It refuses Python's Infinity.
func withoutNaN(text []byte) (out []byte, err error) {
	out = textOrNumber.ReplaceAllFunc(text, func(found []byte) []byte {
		switch string(found) {
		case "NaN":
			return []byte("null")
		case "Infinity":
			err = errors.New("a number is infinite, want finite ones, or NaN where there is none")
		}
		return found
	})
	return out, err
}

// curves is the content of a file of recorded curves.
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

// records returns one record a seed, in the order of the file.
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
		if err := r.CheckNames(); err != nil {
			return nil, err
		}
		for _, e := range run.Evals {
			if e.Frames < 0 {
				return nil, fmt.Errorf("an evaluation is at %d frames, want 0 or more", e.Frames)
			}
			if scores := present(e.Returns); len(scores) > 0 {
				r.AddEval(results.Eval{Frames: e.Frames, Scores: scores, Groups: presentIn(e.Groups)})
			}
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// readMarlEval reads marl-eval's format as records of budget "imported". The score of an episode is its "return".
func readMarlEval(data []byte) (records []*results.Record, err error) {
	var file marlEval
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not a file of marl-eval, which nests environment, task, algorithm, seed and step: %w",
			plain(err))
	}
	for _, env := range slices.Sorted(maps.Keys(file)) {
		for _, task := range slices.Sorted(maps.Keys(file[env])) {
			for _, method := range slices.Sorted(maps.Keys(file[env][task])) {
				runs := file[env][task][method]
				for i, name := range slices.Sorted(maps.Keys(runs)) {
					r := &results.Record{ID: "imported", Task: env + "/" + task, Method: method, Seed: seedOf(name, i),
						Budget: "imported", Complete: true, Scalars: map[string]results.Points{}}
					if err := cmp.Or(r.CheckNames(), importSteps(r, runs[name])); err != nil {
						return nil, fmt.Errorf("%.80q, %.80q, %.80q: %w", r.Task, method, name, err)
					}
					records = append(records, r)
				}
			}
		}
	}
	if len(records) == 0 {
		return nil, errors.New("the file of marl-eval holds no run")
	}
	return records, nil
}

// seedOf is the number at the end of a run's name, "seed_3" or "run_3"; without one, the run's place among the others.
func seedOf(name string, place int) uint64 {
	digits := strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' }) + 1
	n, err := strconv.ParseUint(name[digits:], 10, 64)
	if err != nil {
		return uint64(place)
	}
	return n
}

// importSteps adds the steps of one run to r, in order of their frames.
func importSteps(r *results.Record, steps map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		if name == absoluteMetrics {
			continue
		}
		var step struct {
			Frames *float64   `json:"step_count"` // some writers give it a point
			Return []*float64 `json:"return"`
		}
		groups, err := groupsOf(steps[name])
		if err == nil {
			err = json.Unmarshal(steps[name], &step)
		}
		if err != nil {
			return fmt.Errorf("%.80q: %w", name, plain(err))
		}
		scores := present(step.Return)
		if step.Frames == nil || len(scores) == 0 {
			continue // it has other metrics alone
		}
		frames := *step.Frames
		if frames < 0 || frames > 1<<53 || frames != math.Trunc(frames) {
			return fmt.Errorf("%.80q: %s is %v, want a whole number, 0 or more", name, stepCount, frames)
		}
		r.AddEval(results.Eval{Frames: int(frames), Scores: scores, Groups: groups})
	}
	if len(r.Evals) == 0 {
		return fmt.Errorf("no step has a %q and a %q", stepCount, returnMetric)
	}
	slices.SortStableFunc(r.Evals, func(a, b results.Eval) int { return cmp.Compare(a.Frames, b.Frames) })
	return nil
}

// groupsOf returns the returns of a step's groups. BenchMARL also names a task's only group, whose return is the score:
// it is left out.
func groupsOf(step json.RawMessage) (map[string][]float64, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(step, &all); err != nil {
		return nil, err
	}
	groups := map[string][]*float64{}
	for key, text := range all {
		name, ok := strings.CutSuffix(key, groupSuffix)
		if !ok || key == earlyMetric {
			continue
		}
		var returns []*float64
		if err := json.Unmarshal(text, &returns); err != nil {
			return nil, fmt.Errorf("%.80q: %w", key, plain(err))
		}
		groups[name] = returns
	}
	if len(groups) < 2 {
		return nil, nil
	}
	return presentIn(groups), nil
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

// presentIn is present for each group; nil without groups.
func presentIn(groups map[string][]*float64) map[string][]float64 {
	var out map[string][]float64
	for name, all := range groups {
		if values := present(all); len(values) > 0 {
			if out == nil {
				out = map[string][]float64{}
			}
			out[name] = values
		}
	}
	return out
}

// plain rewrites an error about a JSON type without Go's type names.
func plain(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a text",
		reflect.Slice: "a list", reflect.Map: "an object"}[wrong.Type.Kind()]
	return fmt.Errorf("%s is %s, want %s", cmp.Or(wrong.Field, "all of it"), wrong.Value, want)
}
