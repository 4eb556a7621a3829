// SPDX-License-Identifier: Apache-2.0

// Package export writes records in the formats of marl-eval and TensorBoard, and imports runs of marl-eval and
// BenchMARL.
package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
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

// MarlEval writes records in the format of marl-eval. Every evaluation becomes a step with the scores of its episodes
// as "return" and, if the task has them, "early_return", "success" and the returns of groups, "adversary_return". The
// absolute metrics are those of the evaluation with the best mean score. Two records of one task, method and seed are
// an error that names them.
func MarlEval(records []*results.Record) ([]byte, error) {
	file := marlEval{}
	for _, r := range records {
		env, task := path.Split(r.Task)
		runs := inner(inner(inner(file, cmp.Or(strings.TrimSuffix(env, "/"), "env")), task), r.Method)
		seed := fmt.Sprintf("seed_%d", r.Seed)
		if runs[seed] != nil {
			return nil, fmt.Errorf("two runs of %s, %s, seed %d, one of them %s: "+
				"the format has one place for them, so choose a budget or settings", r.Task, r.Method, r.Seed, r.ID)
		}
		var err error
		if runs[seed], err = marlEvalSteps(r); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
	}
	return json.MarshalIndent(file, "", "  ")
}

// inner is the map under a key, made if there is none.
func inner[V any](outer map[string]map[string]V, key string) map[string]V {
	if outer[key] == nil {
		outer[key] = map[string]V{}
	}
	return outer[key]
}

// marlEvalSteps encodes the evaluations of one run.
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
