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
	"slices"

	"cermic/envs/conf"
)

//go:embed tables.json
var embedded []byte

// file is what this package reads of tables.json.
type file struct {
	Tasks  []Task // with what they are here: ID, digits, description
	Tables []struct {
		Number              int
		Name, Caption, Note string
		Columns             []printedColumn
		Rows                []struct {
			Group, Head, Method string
			Set                 []string
			Values, Spreads     []float64 // one a column; no table but the third prints spreads
			Bold                []int     // columns
		}
	}
	Settings        []PrintedSetting // of CERMIC's module
	Memories, Hyper json.RawMessage
}

// printedColumn is a column of a table: the settings of its trials, and of the trials compared with them.
type printedColumn struct {
	Head       string // empty: the task's abbreviation
	Task       string
	Set        []string
	Agents     int
	Difference bool // from the same without Set
}

var data = func() (out file) {
	noError(0, json.Unmarshal(embedded, &out))
	return out
}()

// noError returns a value of this package's own data. An error is found by its first test.
func noError[T any](v T, err error) T {
	if err != nil {
		panic("paper: " + err.Error())
	}
	return v
}

// find returns the first of all that is meant. The error names near ones by their IDs.
func find[T any](what, name string, all []T, id func(T) string, is func(T) bool) (T, error) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], nil
	}
	return conf.Find(what, name, all, id)
}
