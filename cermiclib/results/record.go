// SPDX-License-Identifier: Apache-2.0

// Package results stores runs: raw scores and scalars, and checkpoints to resume from. Means, intervals and tables are
// computed on reading, never stored. The package needs no GoMLX, so results can be read on any machine.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cermic/envs"
)

// Record is one run: one experiment with one seed.
type Record struct {
	ID         string            `json:"id"`                // hash of the canonical experiment
	Task       string            `json:"task"`              // "vmas/balance"
	Method     string            `json:"method"`            // "mappo-cermic"; the label of a curve
	Budget     string            `json:"budget"`            // "short", "paper", … or "custom"
	Seed       uint64            `json:"seed"`              //
	Complete   bool              `json:"complete"`          // false: partial, resumable
	Frames     int               `json:"frames"`            // trained so far
	Experiment json.RawMessage   `json:"experiment"`        // complete, including every default
	Host       Host              `json:"host"`              //
	Weights    string            `json:"weights,omitempty"` // SHA-256 of the file that Store.Weights reads
	Evals      []Eval            `json:"evals"`             // in order of Frames
	Scalars    map[string]Points `json:"scalars"`           // losses, consistency, Psi moments, intrinsic reward, …
}

// Host describes where and with which sources a run was trained. It never enters the ID. A field is empty if it is
// unknown or newer than the record.
type Host struct {
	Commit  string  `json:"commit,omitempty"`
	Dirty   bool    `json:"dirty,omitempty"`   // the sources differ from Commit; without Sources: a tracked file did
	Sources string  `json:"sources,omitempty"` // hash, see experiment.SourcesOf, or SeveralSources
	Go      string  `json:"go,omitempty"`
	GoMLX   string  `json:"gomlx,omitempty"`
	Backend string  `json:"backend,omitempty"`
	CPU     string  `json:"cpu,omitempty"`
	Model   string  `json:"model,omitempty"` // of the processor, "family 25, model 17": one name may cover several
	ISA     string  `json:"isa,omitempty"`   // widest instruction set that the backend may use: "AVX512", "AVX2"
	GPU     string  `json:"gpu,omitempty"`   // "NVIDIA H200"; empty if the processor trained
	Cores   int     `json:"cores,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // wall time of training, summed over resumes
}

// SeveralSources is Host.Sources of a run that was stopped and resumed by a program with other sources.
const SeveralSources = "several"

// Eval is one evaluation, greedy unless its budget sets sampling. It has the raw score of every episode under the
// benchmark's own metric.
type Eval struct {
	Frames  int       `json:"frames"`            // trained when evaluated
	Scores  []float64 `json:"scores"`            // one an episode
	Early   []float64 `json:"early,omitempty"`   // scores of the first steps, if the task has them (envs.Spec.Early)
	Sparse  []float64 `json:"sparse,omitempty"`  // sparse return of the same episodes, mean over agents
	Success []float64 `json:"success,omitempty"` // 1 where the success condition was met; empty if the task has none
	Lengths []int     `json:"lengths,omitempty"` // steps until the episode ended

	// Groups are returns of the same episodes by group of agents: the dense reward, summed over the benchmark's
	// horizon, mean over the group's agents. It is empty if all agents are one group.
	Groups map[string][]float64 `json:"groups,omitempty"`
}

// CollectionPrefix begins the names of scalars that BenchMARL has for each group:
// "collection/agent/reward/reward_mean".
const CollectionPrefix = "collection/"

// Group is the mean over episodes of a group's return, NaN if the evaluation has none.
func (e Eval) Group(name string) float64 { return meanOf(e.Groups[name]) }

// Score is the mean over episodes.
func (e Eval) Score() float64 { return meanOf(e.Scores) }

func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Last is the last evaluation, an empty one before the first.
func (r *Record) Last() Eval {
	if len(r.Evals) == 0 {
		return Eval{}
	}
	return r.Evals[len(r.Evals)-1]
}

// Score is the score of the last evaluation, NaN before the first.
func (r *Record) Score() float64 { return r.Last().Score() }

// AddEval appends an evaluation.
func (r *Record) AddEval(e Eval) {
	r.Evals = append(r.Evals, e)
	r.Frames = max(r.Frames, e.Frames)
}

// Fork returns the run that r branched off and the frames trained at that point; an empty ID if r began from nothing.
// Curves of a fork begin there: earlier points belong to the parent.
func (r *Record) Fork() (parent string, at int) {
	var e struct {
		Forks []struct {
			Parent string
			At     int
		}
	}
	if json.Unmarshal(r.Experiment, &e) != nil || len(e.Forks) == 0 {
		return "", 0
	}
	last := e.Forks[len(e.Forks)-1]
	return last.Parent, last.At
}

const maxName = 1000

// checkNames refuses names of a task or method that are empty, too long or unprintable, and task names that lead out of
// a folder.
func (r *Record) checkNames() error {
	for _, of := range [][2]string{{"task", r.Task}, {"method", r.Method}} {
		if name := of[1]; name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("the name of its %s is %.80q, want 1 to %d bytes without control characters", of[0], name, maxName)
		}
	}
	if !fs.ValidPath(r.Task) || r.Task == "." || strings.Contains(r.Task, `\`) { // an export makes a path of it
		return fmt.Errorf("the task's name %.80q is a path, want parts joined by single slashes, as in vmas/balance", r.Task)
	}
	return nil
}

// Point is one value of a scalar over training.
type Point struct {
	Frames int     `json:"frames"`
	Value  float64 `json:"value"`
}

// Points are a scalar over training, in order of frames. As JSON they are columns, which take half as much.
type Points []Point

type columns struct {
	Frames []int     `json:"frames"`
	Values []float64 `json:"values"`
}

// MarshalJSON writes {"frames":[…],"values":[…]}.
func (ps Points) MarshalJSON() ([]byte, error) {
	c := columns{make([]int, len(ps)), make([]float64, len(ps))}
	for i, p := range ps {
		c.Frames[i], c.Values[i] = p.Frames, p.Value
	}
	return json.Marshal(c)
}

// UnmarshalJSON also reads the list of points that older packed records have.
func (ps *Points) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]Point)(ps))
	}
	var c columns
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Frames) != len(c.Values) {
		return fmt.Errorf("a scalar has %d values at %d frames", len(c.Values), len(c.Frames))
	}
	*ps = make(Points, len(c.Frames))
	for i, frames := range c.Frames {
		(*ps)[i] = Point{frames, c.Values[i]}
	}
	return nil
}

// Event reports progress of a run to a watcher. At most one of Eval and Scalars is set; neither is in a heartbeat.
type Event struct {
	Record    *Record            // the run so far; read only, valid during the call
	Frames    int                // trained so far
	Total     int                // frames of the whole budget
	FPS       float64            // frames per second of the last iteration, without evaluations
	ETA       float64            // seconds to the end at that pace
	Metric    string             // name of an evaluation's mean score: "reward", "win rate"
	Eval      *Eval              // a new evaluation
	Scenes    []envs.Scene       // with Eval: its first episode, the reset first; nil if the task cannot be drawn
	Scalars   map[string]float64 // a finished iteration
	Visits    *Visits            // with Scalars or "updating": the cells visited so far, nil if the task declares none
	State     string             // "compiling", "updating" after the first rollout, "stopped" and saved, or empty
	FromStore bool               // the record was found complete, nothing was trained
	Failed    string             // reason of an end without result; Record then has no results
	Note      string             // one line for the user: backend, a lock to wait for, a damaged file set aside
}

// Difference describes the first number in which two records differ, with both values; "" means none. It compares
// evaluations in their order, then the scalars that want has, by name and to the digits of packed records.
func Difference(want, got *Record) string {
	if len(want.Evals) != len(got.Evals) {
		return fmt.Sprintf("%d evaluations instead of %d", len(got.Evals), len(want.Evals))
	}
	for i, a := range want.Evals {
		b := got.Evals[i]
		names, pairs := []string{"return", "success"}, [][2][]float64{{a.Scores, b.Scores}, {a.Success, b.Success}}
		for _, group := range slices.Sorted(maps.Keys(a.Groups)) {
			names, pairs = append(names, group+" return"), append(pairs, [2][]float64{a.Groups[group], b.Groups[group]})
		}
		for j, name := range names {
			for k := range max(len(pairs[j][0]), len(pairs[j][1])) {
				if x, y := exact(pairs[j][0], k), exact(pairs[j][1], k); x != y {
					return fmt.Sprintf("the %s of episode %d at %d frames is %s, not %s", name, k+1, a.Frames, y, x)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.Scalars)) {
		a, b := want.Scalars[name], got.Scalars[name]
		if len(a) != len(b) {
			return fmt.Sprintf("the scalar %s has %d values, not %d", name, len(b), len(a))
		}
		for i := range a {
			if !sameScalar(b[i].Value, a[i].Value) {
				return fmt.Sprintf("the scalar %s at %d frames is %.9g, not %.9g", name, a[i].Frames, b[i].Value, a[i].Value)
			}
		}
	}
	return ""
}

// exact is element k of x with all its digits.
func exact(x []float64, k int) string {
	if k >= len(x) {
		return "missing"
	}
	return strconv.FormatFloat(x[k], 'g', -1, 64)
}
