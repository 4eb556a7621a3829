// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"strings"
	"testing"
)

func TestAMissingPluginIsNotFetched(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	_, err := OpenConfig("xla:a-plugin-that-nobody-has")
	if err == nil {
		t.Fatal("it was opened")
	}
	for _, sign := range []string{"installing", "fetch", "http"} {
		if strings.Contains(err.Error(), sign) {
			t.Errorf("got %q, want no attempt to %s anything", err, sign)
		}
	}
}

func TestShortNamesOfBackendsStandForTheUsualChoice(t *testing.T) {
	if got := resolve("go"); got != goConfig {
		t.Errorf("go is %q, want %q", got, goConfig)
	}
	want := "xla"
	if found := plugins(); len(found) > 0 {
		want = found[0]
	}
	if got := resolve("xla"); got != want {
		t.Errorf("xla is %q, want %q", got, want)
	}
	if got := resolve("go:ops_sequential"); got != "go:ops_sequential" {
		t.Errorf("a full configuration became %q", got)
	}
}
