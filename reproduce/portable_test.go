// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

func TestPortableCapsTheInstructionSetAndIsRecorded(t *testing.T) {
	t.Setenv("XLA_FLAGS", "--xla_of_the_user=1")
	before := results.CollectHost("").ISA
	if _, err := parse("check", io.Discard, []string{"-portable"}, 0, func(f *flag.FlagSet) { portableFlag(f) }); err != nil {
		t.Fatal(err)
	}
	if got, want := os.Getenv("XLA_FLAGS"), "--xla_of_the_user=1 --xla_cpu_max_isa=AVX2"; got != want {
		t.Errorf("XLA_FLAGS is %q, want %q", got, want)
	}
	if after := results.CollectHost("").ISA; strings.HasPrefix(before, "AVX") && after != "AVX2" && after != "AVX" {
		t.Errorf("a record would say %q, before %q", after, before)
	}
}

func TestPortableIsRefusedWhereNothingTrains(t *testing.T) {
	t.Setenv("XLA_FLAGS", "")
	for _, args := range [][]string{{"status", "-portable"}, {"evaluate", "0123abcd", "-portable"}, {"campaign", "-plan", "-portable"}} {
		_, err := command(t, args...)
		if err == nil || !strings.Contains(err.Error(), "portable") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
