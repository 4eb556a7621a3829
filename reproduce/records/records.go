// SPDX-License-Identifier: Apache-2.0

// Package records holds the committed runs, packed, one file per run. A fresh clone thus shows every table before it
// has trained anything. They are the read-only layer below the folder of the user's own runs.
package records

import (
	"embed"
	"slices"
	"sync"

	"cermic/cermiclib/results"
)

// FS holds the packed runs at its top.
//
//go:embed *
var FS embed.FS

// Layer is the layer of FS that the stores of a program share.
var Layer = sync.OnceValue(func() *results.Layer { return results.NewLayer(FS) })

// lost are commits that are not in the history, though records of an unchanged tree name them.
var lost = []string{
	"47d0a00b884dc48140ba16acd85b9247fb0f22cb", "7ac3a7eca6f65b5b4e59e30dbe8523cc8f7b700e",
	"7d39cc1b0b56ade4bfa14e969c2d89b8ae9f9d46", "8fd537372bb3ec88f7821eb5d55f4597aba84951",
}

// Rebuildable reports whether a commit has the sources of a run that was trained there.
func Rebuildable(h results.Host) bool {
	return h.Commit != "" && !h.Dirty && !slices.Contains(lost, h.Commit)
}
