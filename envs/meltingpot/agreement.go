// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	_ "embed"

	"cermic/envs"
)

// measured holds the errors found by TestStepsFollowRecordings: go test ./envs/meltingpot -run
// TestStepsFollowRecordings -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }
