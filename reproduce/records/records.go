// SPDX-License-Identifier: Apache-2.0

// Package records holds the committed runs, packed one a file, so that a fresh clone shows every table before it has
// trained anything. They are the read-only layer below the folder of one's own runs.
package records

import "embed"

// FS holds the packed runs at its top; results.Store.Base reads it.
//
//go:embed *
var FS embed.FS
