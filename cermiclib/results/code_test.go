// SPDX-License-Identifier: Apache-2.0

package results

import "testing"

func TestOtherCodeIsARunThatDiffersInNothingElse(t *testing.T) {
	st, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	claim := func(id, experiment string) {
		r, err := st.Claim(t.Context(), id, []byte(experiment), Record{Task: "mine/meet", Method: "mappo"}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	claim("0a", `{"seed":12345678901234567890,"task":{"code":"11","kind":"mine/meet","n":4}}`)
	claim("0b", `{"seed":12345678901234567890,"task":{"kind":"vmas/balance","n":4}}`)
	for experiment, want := range map[string]string{
		`{"seed":12345678901234567890,"task":{"code":"22","kind":"mine/meet","n":4}}`: "0a",
		`{"seed":12345678901234567890,"task":{"code":"11","kind":"mine/meet","n":4}}`: "",
		`{"seed":12345678901234567891,"task":{"code":"22","kind":"mine/meet","n":4}}`: "",
		`{"seed":12345678901234567890,"task":{"code":"22","kind":"mine/meet","n":5}}`: "",
		`{"seed":12345678901234567891,"task":{"kind":"vmas/balance","n":4}}`:          "",
	} {
		r, err := st.OtherCode([]byte(experiment))
		if err != nil {
			t.Fatal(err)
		}
		if got := ""; r != nil {
			got = r.ID
			if got != want {
				t.Errorf("%s: got run %q, want %q", experiment, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: got none, want %q", experiment, want)
		}
	}
}
