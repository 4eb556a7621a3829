// SPDX-License-Identifier: Apache-2.0

package smac

import (
	_ "embed"

	"cermic/envs"
)

// measured holds the errors found by TestInterfaceIsThatOfTheOriginal: go test ./envs/smac -run
// TestInterfaceIsThatOfTheOriginal -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }
