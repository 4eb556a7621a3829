// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/records"
)

func TestGeneratedPagesAreCurrent(t *testing.T) {
	st, done, err := storeOf(records.FS)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for file, c := range map[string]struct {
		page func(*results.Store) (string, error)
		verb string
	}{
		claimsFile: {claimsPage, "claims"}, resultsFile: {resultsPage, "results"},
	} {
		want, err := c.page(st)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the committed records say: go run ./reproduce %s -write", file, c.verb)
		}
	}
}

func TestClaimsPrintsEveryVerdictAndItsReason(t *testing.T) {
	store := t.TempDir()
	all, err := command(t, "claims", "-store", store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range paper.Claims {
		if !strings.Contains(all, " "+c.ID+": "+c.Says) {
			t.Errorf("claims does not print %s", c.ID)
		}
		if _, err := os.Stat(filepath.Join("..", "notebooks", c.Shown+".ipynb")); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	one, err := command(t, "claims", "lifts-mappo", "-store", store)
	if err != nil || !strings.Contains(one, "of its 15 comparisons") && !strings.Contains(one, "of 15 comparisons") {
		t.Errorf("%v: %s", err, one)
	}
}
