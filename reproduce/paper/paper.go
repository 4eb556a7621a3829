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
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed tables.json
var embedded []byte

// file mirrors tables.json.
type file struct {
	Source string
	Note   string
	Tasks  []struct {
		Task          string
		Abbreviation  string
		Suite         string
		SparseAdapted bool `json:"sparse_adapted"`
		Metric        string
	}
	Sota struct {
		Label   string
		Columns []string
		Methods map[string]struct {
			Category string
			Values   map[string]float64
			Bold     []string
		}
	} `json:"table1_performance"`
	Agents struct {
		Label   string
		Task    string
		Unit    string
		NAgents []int `json:"n_agents"`
		Methods map[string]map[string]float64
		Bold    map[string][]string
	} `json:"table2_per_agent_contribution"`
	Ablation struct {
		Label      string
		BaseMethod string `json:"base_method"`
		Columns    []string
		Groups     map[string]map[string]map[string]struct{ Mean, PM float64 }
		Note       string
	} `json:"table3_ablations"`
	Density struct {
		Label       string
		TestSetting string `json:"test_setting"`
		Columns     string
		Methods     map[string]map[string]map[string]float64
		Bold        map[string]map[string][]string
	} `json:"table4_generalization"`
	Memory struct {
		Label   string
		Modules map[string]MemorySize
	} `json:"table5_memory_architectures"`
	Hyper Hyperparameters `json:"table6_hyperparameters"`
	Claim struct {
		Count    string `json:"sota_count_claimed"`
		Columns  int    `json:"columns_in_table1"`
		Hardware string
		Suite    string
	} `json:"claims_in_text"`
}

var data = mustDecode(embedded)

// mustDecode reads the embedded numbers strictly. A failure is an error of this package, found by its first test.
func mustDecode(raw []byte) *file {
	out := new(file)
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(out); err != nil {
		panic(fmt.Sprintf("paper: tables.json: %v", err))
	}
	return out
}
