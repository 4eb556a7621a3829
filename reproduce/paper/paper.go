// SPDX-License-Identifier: Apache-2.0

// Package paper is the CERMIC paper as data: its tasks, methods, tables, figures and hyper-parameters, the numbers that
// it prints, and where its sources disagree.
//
// "Wonder Wins Ways: Curiosity-Driven Exploration through Multi-Agent Contextual Calibration", Pan, Liu and Wang,
// NeurIPS 2025.
//
// Published numbers are kept as printed and are never used to fill a gap in results of our own. Nothing here needs
// GoMLX, so a notebook cell that only shows a table compiles quickly.
package paper

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"cermic/envs/conf"
)

//go:embed tables.json
var embedded []byte

// file is what this package reads of tables.json.
type file struct {
	Sota struct {
		Methods map[string]struct {
			Values map[string]float64
			Bold   []string
		}
	} `json:"table1_performance"`
	Agents struct {
		Task    string
		NAgents []int `json:"n_agents"`
		Methods map[string]map[string]float64
		Bold    map[string][]string
	} `json:"table2_per_agent_contribution"`
	Ablation struct {
		BaseMethod string `json:"base_method"`
		Columns    []string
		Groups     map[string]map[string]map[string]struct{ Mean, PM float64 }
	} `json:"table3_ablations"`
	Density struct {
		Methods map[string]map[string]map[string]float64
		Bold    map[string]map[string][]string
	} `json:"table4_generalization"`
	Memory struct {
		Modules json.RawMessage
	} `json:"table5_memory_architectures"`
	Hyper json.RawMessage `json:"table6_hyperparameters"`
}

var data = func() (out file) {
	must(0, json.Unmarshal(embedded, &out))
	return out
}()

// must is a value of this package's own. An error is found by its first test.
func must[T any](v T, err error) T {
	if err != nil {
		panic("paper: " + err.Error())
	}
	return v
}

// find returns the first of all that is meant. The error names near ones by their IDs.
func find[T any](what, name string, all []T, id func(T) string, is func(T) bool) (found T, err error) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], nil
	}
	var known []string
	for _, v := range all {
		known = append(known, id(v))
	}
	return found, fmt.Errorf("unknown %s %q%s", what, name, conf.Near(name, known))
}
