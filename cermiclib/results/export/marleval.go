// SPDX-License-Identifier: Apache-2.0

// Package export writes records in the formats of other programs, marl-eval and TensorBoard, and reads the runs of theirs: marl-eval, BenchMARL
// and recorded curves.
package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/results"
)

// marlEval is the file format of marl-eval (Gorsane et al., "Towards a Standardised Performance Evaluation Protocol for
// Cooperative MARL", NeurIPS 2022; github.com/instadeepai/marl-eval), which BenchMARL writes too: environment → task →
// algorithm → "seed_<n>" → "step_<k>" or "absolute_metrics".
type marlEval map[string]map[string]map[string]map[string]map[string]json.RawMessage

const (
	absoluteMetrics = "absolute_metrics"
	stepCount       = "step_count"
	returnMetric    = "return"
	earlyMetric     = "early_return"
	groupSuffix     = "_return" // behind a group's name, as BenchMARL writes it: "adversary_return"
)

// MarlEval writes records in the format of marl-eval. Every evaluation becomes a step with the scores of its episodes as
// "return" and, where the task has them, with "early_return", "success" and the returns of groups, "adversary_return". The absolute metrics are those of the evaluation with the best
// mean score. Two records of one task, method and seed are an error that names them: their budgets or settings differ.
func MarlEval(records []*results.Record) ([]byte, error) {
	file := marlEval{}
	for _, r := range records {
		env, task := path.Split(r.Task)
		env, seed := cmp.Or(strings.TrimSuffix(env, "/"), "env"), fmt.Sprintf("seed_%d", r.Seed)
		if file[env] == nil {
			file[env] = map[string]map[string]map[string]map[string]json.RawMessage{}
		}
		if file[env][task] == nil {
			file[env][task] = map[string]map[string]map[string]json.RawMessage{}
		}
		if file[env][task][r.Method] == nil {
			file[env][task][r.Method] = map[string]map[string]json.RawMessage{}
		}
		runs := file[env][task][r.Method]
		if runs[seed] != nil {
			return nil, fmt.Errorf("two runs of %s, %s, seed %d, one of them %s: the format has one place for them, so choose a budget or settings", r.Task, r.Method, r.Seed, r.ID)
		}
		steps, err := marlEvalSteps(r)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		runs[seed] = steps
	}
	return json.MarshalIndent(file, "", "  ")
}

// marlEvalSteps are the evaluations of one run.
func marlEvalSteps(r *results.Record) (map[string]json.RawMessage, error) {
	if len(r.Evals) == 0 {
		return nil, errors.New("it has no evaluation yet")
	}
	metrics := func(e *results.Eval) map[string]any {
		m := map[string]any{returnMetric: e.Scores}
		if len(e.Early) > 0 {
			m[earlyMetric] = e.Early
		}
		for name, returns := range e.Groups {
			m[name+groupSuffix] = returns
		}
		if len(e.Success) > 0 {
			m["success"] = e.Success
		}
		return m
	}
	steps, best, top := map[string]json.RawMessage{}, 0, math.Inf(-1)
	for i := range r.Evals {
		m := metrics(&r.Evals[i])
		if score := r.Evals[i].Score(); score > top {
			best, top = i, score
		}
		m[stepCount] = r.Evals[i].Frames
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		steps[fmt.Sprintf("step_%d", i)] = text
	}
	text, err := json.Marshal(metrics(&r.Evals[best]))
	steps[absoluteMetrics] = text
	return steps, err
}

// ReadMarlEval reads a file in the format of marl-eval, of BenchMARL for example, as complete records of budget
// "imported", so that they can be drawn and compared with ours. The score of an episode is its "return".
func ReadMarlEval(data []byte) ([]*results.Record, error) {
	data, err := withoutNaN(data)
	if err != nil {
		return nil, err
	}
	var file marlEval
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not a file of marl-eval, which nests environment, task, algorithm, seed and step: %w", plain(err))
	}
	var records []*results.Record
	for _, env := range slices.Sorted(maps.Keys(file)) {
		for _, task := range slices.Sorted(maps.Keys(file[env])) {
			for _, method := range slices.Sorted(maps.Keys(file[env][task])) {
				for i, seed := range slices.Sorted(maps.Keys(file[env][task][method])) {
					r := &results.Record{ID: "imported", Task: env + "/" + task, Method: method, Seed: seedOf(seed, i), Budget: "imported", Complete: true}
					if err := cmp.Or(r.CheckNames(), results.Printable("run", seed)); err != nil {
						return nil, fmt.Errorf("%.80q, %.80q: %w", r.Task, method, err)
					}
					if err := importSteps(r, file[env][task][method][seed]); err != nil {
						return nil, fmt.Errorf("%s, %s, %s: %w", r.Task, method, seed, err)
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
	n, err := strconv.ParseUint(name[strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })+1:], 10, 64)
	if err != nil {
		return uint64(place)
	}
	return n
}

// importSteps reads the steps of one run in order of their frames.
func importSteps(r *results.Record, steps map[string]json.RawMessage) error {
	r.Scalars = map[string]results.Points{}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		if name == absoluteMetrics {
			continue
		}
		if err := results.Printable("step", name); err != nil {
			return err
		}
		var step struct {
			Frames *float64   `json:"step_count"` // some writers give it a point
			Return []*float64 `json:"return"`
		}
		if err := json.Unmarshal(steps[name], &step); err != nil {
			return fmt.Errorf("%s: %w", name, plain(err))
		}
		scores := present(step.Return)
		if step.Frames == nil || len(scores) == 0 {
			continue // a step that logged something else
		}
		frames := *step.Frames
		if frames < 0 || frames > 1<<53 || frames != math.Trunc(frames) {
			return fmt.Errorf("%s: %s is %v, want a whole number, 0 or more", name, stepCount, frames)
		}
		groups, err := groupsOf(steps[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.AddEval(results.Eval{Frames: int(frames), Scores: scores, Groups: groups})
	}
	if len(r.Evals) == 0 {
		return fmt.Errorf("no step has a %q and a %q", stepCount, returnMetric)
	}
	slices.SortStableFunc(r.Evals, func(a, b results.Eval) int { return cmp.Compare(a.Frames, b.Frames) })
	return nil
}

// groupsOf are the returns of groups in a step. BenchMARL writes that of a task's only group, too, which is the return: it is left out.
func groupsOf(step json.RawMessage) (map[string][]float64, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(step, &all); err != nil {
		return nil, plain(err)
	}
	groups := map[string][]*float64{}
	for key, text := range all {
		name, ok := strings.CutSuffix(key, groupSuffix)
		if !ok || key == earlyMetric {
			continue
		}
		var returns []*float64
		if err := json.Unmarshal(text, &returns); err != nil {
			return nil, fmt.Errorf("%s: %w", key, plain(err))
		}
		groups[name] = returns
	}
	if len(groups) < 2 {
		return nil, nil
	}
	return presentIn(groups), nil
}

// plain says without Go's types what of a file's JSON has the wrong one.
func plain(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a text", reflect.Slice: "a list", reflect.Map: "an object"}[wrong.Type.Kind()]
	return fmt.Errorf("%s is %s, want %s", cmp.Or(wrong.Field, "all of it"), wrong.Value, want)
}
