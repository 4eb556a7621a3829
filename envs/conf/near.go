// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"slices"
	"strings"
)

// Near completes the error for an unknown name. It returns "; did you mean a or b?" with the closest known names, or
// "; known: …" with all names if none is close.
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

// Find returns the value with the given name. what is the kind of value in the error for an unknown name, which lists
// near names.
func Find[T any](what, name string, all []T, nameOf func(T) string) (found T, err error) {
	var known []string
	for _, v := range all {
		if nameOf(v) == name {
			return v, nil
		}
		known = append(known, nameOf(v))
	}
	return found, fmt.Errorf("unknown %s %q%s", what, name, Near(name, known))
}

// closest returns up to six known names that may be meant: names that contain the given one, else the nearest in
// spelling, whole or behind the last dot.
func closest(given string, known []string) (near []string) {
	given = strings.ToLower(given)
	least := max(2, len(given)/3)
	for _, name := range known {
		lower := strings.ToLower(name)
		d := distance(given, lower)
		last := lower[strings.LastIndexByte(lower, '.')+1:]
		if short := distance(given, last); short < d { // alhpa is explore.alpha
			lower, d = last, short
		}
		switch {
		case d >= max(len(given), len(lower)): // no letter in common
			continue
		case strings.Contains(lower, given):
			d = min(d, 1)
		case d > 1 && lower[0] != given[0]: // typing errors rarely change the first letter: ippo is not mappo
			continue
		}
		if d < least {
			near, least = nil, d
		}
		if d == least && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	return near[:min(6, len(near))]
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
