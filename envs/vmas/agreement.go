// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	_ "embed"

	"cermic/envs"
)

// measured holds the errors found by TestTasksFollowRecordings: go test ./envs/vmas -run TestTasksFollowRecordings
// -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }
