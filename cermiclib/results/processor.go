// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"
)

// ProcessorSeconds is the time that all cores together have spent on this process, as Linux counts it.
func ProcessorSeconds() (float64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("processor time is read from Linux's /proc: %w", err)
	}
	_, after, ok := strings.Cut(string(stat), ") ") // what stands before may hold blanks
	fields := strings.Fields(after)
	if !ok || len(fields) < 13 {
		return 0, errors.New("/proc/self/stat has another form")
	}
	user, errUser := strconv.ParseFloat(fields[11], 64)
	system, errSystem := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // a second, on every Linux
	return (user + system) / ticks, errors.Join(errUser, errSystem)
}

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
