// SPDX-License-Identifier: Apache-2.0

// Package results is what a run leaves behind: raw scores and scalars, on disk and in memory. It reads without GoMLX, so
// results can be looked at anywhere. Means, intervals and tables are computed on reading, never stored.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Record is one run: one experiment with one seed.
type Record struct {
	ID         string            `json:"id"`                // hash of the canonical experiment
	Task       string            `json:"task"`              // "vmas/balance"
	Method     string            `json:"method"`            // "mappo-cermic"; the label of a curve
	Budget     string            `json:"budget"`            // "smoke", "short", "paper" or "custom"
	Seed       uint64            `json:"seed"`              //
	Complete   bool              `json:"complete"`          // false: partial, resumable
	Frames     int               `json:"frames"`            // trained so far
	Experiment json.RawMessage   `json:"experiment"`        // complete, including every default
	Host       Host              `json:"host"`              //
	Weights    string            `json:"weights,omitempty"` // SHA-256 of the file of weights that a packed record brings along; see Store.Weights
	Evals      []Eval            `json:"evals"`             // in order of Frames
	Scalars    map[string]Points `json:"scalars"`           // losses, consistency, Psi moments, intrinsic reward, …
}

// Host says where and with what a run was trained. It never enters the ID.
type Host struct {
	Commit  string  `json:"commit,omitempty"`
	Dirty   bool    `json:"dirty,omitempty"`   // the sources are not those of Commit; in records without Sources: some tracked file was not
	Sources string  `json:"sources,omitempty"` // hash of what training was compiled from, see experiment.SourcesOf, or SeveralSources; empty if unknown
	Go      string  `json:"go,omitempty"`
	GoMLX   string  `json:"gomlx,omitempty"`
	Backend string  `json:"backend,omitempty"`
	CPU     string  `json:"cpu,omitempty"`
	Model   string  `json:"model,omitempty"` // of the processor, since one name may cover several: "family 25, model 17"; empty where not known or of before it was kept
	ISA     string  `json:"isa,omitempty"`   // instruction set that the backend may use: "AVX512", "AVX2"; empty in records of before it was kept
	GPU     string  `json:"gpu,omitempty"`   // that trained: "NVIDIA H200"; empty where the processor did
	Cores   int     `json:"cores,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // wall time of training, summed over resumes
}

// SeveralSources is Host.Sources of a run that was stopped and resumed by a program with other sources.
const SeveralSources = "several"

// Eval is one evaluation, greedy unless its budget says otherwise: raw score of every episode under the benchmark's own metric.
type Eval struct {
	Frames  int       `json:"frames"`            // trained when evaluated
	Scores  []float64 `json:"scores"`            // one an episode
	Early   []float64 `json:"early,omitempty"`   // score of their first steps, envs.Spec.Early, where the task asks for it
	Sparse  []float64 `json:"sparse,omitempty"`  // sparse return of the same episodes, mean over agents
	Success []float64 `json:"success,omitempty"` // 1 where the success condition was met; none if the task has no such condition
	Lengths []int     `json:"lengths,omitempty"` // steps until the episode ended

	// Groups are returns of the same episodes for each group of agents that is trained apart, by its name: the dense reward, summed over
	// the benchmark's horizon, mean over the group's agents. None where all agents are one group.
	Groups map[string][]float64 `json:"groups,omitempty"`
}

// CollectionPrefix begins the names of scalars that BenchMARL has for each group: "collection/agent/reward/reward_mean".
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

// Score is that of the last evaluation, NaN before the first.
func (r *Record) Score() float64 {
	if len(r.Evals) == 0 {
		return math.NaN()
	}
	return r.Evals[len(r.Evals)-1].Score()
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

// UnmarshalJSON also reads a list of points, which older packed records have.
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

// Event tells a watcher what a run just did. Exactly one of Eval and Scalars is set, or neither for a heartbeat.
type Event struct {
	Record    *Record            // the run so far; read only, valid during the call
	Frames    int                // trained so far
	Total     int                // frames of the whole budget
	FPS       float64            // frames a second of the last iteration, evaluations left out
	ETA       float64            // seconds to the end at that pace
	Metric    string             // what the mean of an evaluation's scores is called: "reward", "win rate"
	Eval      *Eval              // a new evaluation
	Scalars   map[string]float64 // a finished iteration
	Visits    *Visits            // with Scalars: the cells visited so far, nil if the task declares none
	State     string             // "compiling" before the first iteration, "attached" where one begins to follow another process, "stopped" once a run that was stopped is saved; else empty
	Changed   string             // ID of a run with the same settings whose code, of a cell's own task or method, was another
	FromStore bool               // the record was found complete, nothing was trained
	Failed    string             // why the run ended without a result; then only Record's task, method, budget, seed and ID are set
	Note      string             // one line for the user: backend in use, a waiting lock, a damaged file set aside
}
