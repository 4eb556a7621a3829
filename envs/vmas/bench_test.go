// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs/envtest"
)

// BenchmarkStep times physics, rewards, observations and labels.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }
