// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"testing"

	"cermic/envs/envtest"
)

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
