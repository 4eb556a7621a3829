// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"cermic/envs/envtest"
)

func FuzzSettings(f *testing.F) { envtest.FuzzSettings(f) }

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
