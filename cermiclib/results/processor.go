// SPDX-License-Identifier: Apache-2.0

package results

import (
	"os"
	"strings"

	"golang.org/x/sys/cpu"
)

// ISAFlag caps, in the environment variable XLA_FLAGS, the instruction set that XLA's CPU compiler uses.
const ISAFlag = "--xla_cpu_max_isa="

// instructionSets are the widest first, under the names that XLA's flag has for them.
var instructionSets = []struct {
	name string
	here bool
}{
	{"AVX512", cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW},
	{"AVX2", cpu.X86.HasAVX2 && cpu.X86.HasFMA},
	{"AVX", cpu.X86.HasAVX},
	{"SSE4_2", cpu.X86.HasSSE42},
	{"NEON", cpu.ARM64.HasASIMD},
}

// instructionSet is the widest vector instruction set of this processor that matters to the bits of a result: "AVX512", "AVX2", ...;
// a narrower one if XLA_FLAGS caps it; empty on processors of another kind.
func instructionSet() string {
	capped := ""
	for _, flag := range strings.Fields(os.Getenv("XLA_FLAGS")) {
		if isa, ok := strings.CutPrefix(flag, ISAFlag); ok {
			capped = isa
		}
	}
	for _, set := range instructionSets {
		if capped == set.name {
			capped = ""
		}
		if set.here && capped == "" {
			return set.name
		}
	}
	return ""
}
