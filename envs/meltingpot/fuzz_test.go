// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"cermic/envs/envtest"
)

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
