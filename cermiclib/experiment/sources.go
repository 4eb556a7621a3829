// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"embed"

	"cermic/envs/conf"
)

// sources are this package's files, whose comments explain its settings to users; the patterns leave out those of tests.
//
//go:embed *[^t].go *[^s]t.go
var sources embed.FS

func init() { conf.Document[Config](sources) }
