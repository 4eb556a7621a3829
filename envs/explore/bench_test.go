// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"testing"

	"cermic/envs/envtest"
)

// BenchmarkStep reports frames per second of every task.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }
