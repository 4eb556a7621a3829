// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Near completes an "unknown X" message: "; did you mean a or b?" with the names closest to the one given, or, if none
// is close, "; known: …" with all of them.
func Near(given string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	near := closest(given, known)
	if len(near) == 0 {
		return "; known: " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
}

// closest returns up to three of the known names that could have been meant, the likeliest first.
func closest(given string, known []string) []string {
	type candidate struct {
		name string
		d    int
	}
	var near []candidate
	for _, name := range known {
		d := distance(strings.ToLower(given), strings.ToLower(name))
		if strings.Contains(name, given) && given != "" {
			d = min(d, 1)
		}
		if d <= max(2, len(given)/3) && d < max(len(given), len(name)) { // a name of all other letters is not near
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.d, b.d) })
	names := make([]string, 0, 3)
	for _, c := range near[:min(3, len(near))] {
		names = append(names, c.name)
	}
	return names
}

// distance is the Levenshtein distance between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
