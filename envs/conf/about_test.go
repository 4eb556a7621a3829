// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"strings"
	"testing"
)

type inner struct {
	Rate float64 `json:"rate" help:"share"`
}

type explained struct {
	inner
	Mode  string `json:"mode" oneof:"fast,,slow"`
	Depth int    `json:"depth" help:"depth of the tree; 3"`
	Bare  int    `json:"bare" help:"width of the tree; 3"`
}

func (explained) Kind() string { return "explained" }

func TestTheTagHelpExplainsSettings(t *testing.T) {
	want := map[string]string{
		"rate": "share", "mode": "", "depth": "depth of the tree; 3", "bare": "width of the tree; 3",
	}
	for _, k := range Keys(explained{}) {
		if k.About != want[k.Key] {
			t.Errorf("%s is explained as %q, want %q", k.Key, k.About, want[k.Key])
		}
	}
	for given, want := range map[string]string{
		"depth=deep": `depth is "deep", want a whole number (depth of the tree; 3)`,
		"depht=1":    `unknown key "depht"; did you mean depth?`,
	} {
		var e explained
		key, value, _ := strings.Cut(given, "=")
		if err := Set(&e, key, value); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}

func TestChoicesAreListedAndDemanded(t *testing.T) {
	if k := Keys(explained{})[1]; k.Type != `one of fast, "" (empty), slow` || k.Sentence() != k.Type {
		t.Errorf("got %q, %q", k.Type, k.Sentence())
	}
	for mode, want := range map[string]string{"fast": "", "": "", "slo": `mode is "slo"; did you mean slow?`, "zz": `mode is "zz"; known: fast, , slow`} {
		err := CheckChoices(explained{Mode: mode})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: got %v, want %s", mode, err, want)
		}
	}
}

func TestExplainAddsWhatTheRefusedSettingIs(t *testing.T) {
	type two struct {
		A explained `json:"a"`
		B struct {
			Depth int `json:"depth"`
		} `json:"b"`
	}
	for text, want := range map[string]string{
		"depth is 0, want 1 or more":     "depth is 0, want 1 or more (depth of the tree; 3)",
		"a.depth is 0":                   "a.depth is 0 (depth of the tree; 3)",
		"the depth 0 is too small":       "the depth 0 is too small",
		"nothing is known of this":       "nothing is known of this",
		"explained: bare is 1, unlikely": "explained: bare is 1, unlikely (width of the tree; 3)",
	} {
		wrapped := errors.New(text)
		if err := Explain(two{}, wrapped); err.Error() != want || !errors.Is(err, wrapped) {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if Explain(two{}, nil) != nil {
		t.Error("no error has become one")
	}
}
