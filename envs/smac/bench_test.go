// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"testing"

	"cermic/envs/envtest"
)

// BenchmarkStep times eight game loops, rewards, observations, states, masks and labels.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }
