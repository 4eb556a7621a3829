// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// longest is how many characters of a name, as it was typed, a sentence quotes.
const longest = 80

// quoted is what a sentence says with the words of args shortened where they are longer than a name ever is, and with escapes for the control
// characters of which a terminal would make something else. Paths that lead somewhere stay whole.
func quoted(said string, args []string) string {
	var words []string
	for _, arg := range args {
		_, value, _ := strings.Cut(arg, "=")
		words = append(words, arg, value)
		words = append(words, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune("=,.@:+- \t\n{}[]\"", r) })...)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the whole before its parts
	for _, word := range slices.Compact(words) {
		short := shorten(word)
		if short == word || leads(word) {
			continue
		}
		for _, form := range []string{word, strings.Trim(strconv.Quote(word), `"`), strings.ToLower(word)} {
			said = strings.ReplaceAll(said, form, short)
		}
	}
	return escaped(said)
}

// shorten cuts the middle out of what is longer than a name, and writes control characters as escapes.
func shorten(word string) string {
	text := []rune(word)
	if len(text) > longest {
		const end = 20
		text = slices.Concat(text[:longest-end-1], []rune("…"), text[len(text)-end:])
	}
	return strings.ReplaceAll(escaped(string(text)), "\n", `\n`)
}

// escaped writes control characters as Go does, but for the ends of lines.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || r == unicode.ReplacementChar) {
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// longestPath is how many characters of a path a sentence quotes.
const longestPath = 400

// leads reports whether a word is a path to something, or to a place where something could be made.
func leads(word string) bool {
	if len(word) > longestPath || strings.ContainsFunc(word, unicode.IsControl) || !strings.ContainsRune(word, filepath.Separator) {
		return false
	}
	if _, err := os.Stat(word); err == nil {
		return true
	}
	_, err := os.Stat(filepath.Dir(word))
	return err == nil
}
