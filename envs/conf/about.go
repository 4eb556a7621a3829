// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Explain adds the help text of a setting of v to an error that says "KEY is …". Other errors, and nil, are returned unchanged.
func Explain(v any, err error) error {
	if err == nil {
		return nil
	}
	m := keyIs.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var meant []KeyDoc
	for _, k := range Keys(v) {
		if k.About != "" && (k.Key == m[1] || strings.HasSuffix(k.Key, "."+m[1])) {
			meant = append(meant, k)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(meant), func(k KeyDoc) bool { return !strings.HasPrefix(err.Error(), partOf(v, k.Key)+": ") }); len(own) > 0 {
		meant = own // the sentence begins with the kind of the part that refuses
	}
	meant = slices.CompactFunc(meant, func(a, b KeyDoc) bool { return a.About == b.About })
	if len(meant) != 1 { // several parts have a setting of this name: which is meant, the sentence alone does not tell
		return err
	}
	return fmt.Errorf("%w (%s)", err, meant[0].Sentence())
}

// partOf is the kind of the config that a key belongs to.
func partOf(v any, key string) (kind string) {
	for _, k := range Keys(v) {
		if k.Kinds != nil && strings.HasPrefix(key, k.Key+".") {
			kind = k.Value // of several the innermost, which comes last
		}
	}
	return kind
}

var keyIs = regexp.MustCompile(`([a-zA-Z0-9_.]+) is `)

// Sentence says what the setting is, and what it can be where that is a choice: "reward stream …; one of dense, sparse".
func (k KeyDoc) Sentence() string {
	kind := ""
	switch {
	case k.Kinds != nil:
		kind = oneOf(k.Kinds)
	case strings.HasPrefix(k.Type, "one of "):
		kind = k.Type
	}
	if k.About == "" || kind == "" {
		return cmp.Or(k.About, kind, k.Type)
	}
	return k.About + "; " + kind
}

// Range says between which bounds a setting lies, as it follows its Sentence; "" without any.
func (k KeyDoc) Range() string {
	switch {
	case k.Bounds == nil:
		return ""
	case strings.HasPrefix(k.Type, "a list"):
		return fmt.Sprintf("; each %v", k.Bounds)
	}
	return fmt.Sprintf("; %v", k.Bounds)
}

// CheckChoices returns one sentence about the first setting of v, a struct, that is none of the choices its field lists in a tag:
//
//	Reduce string `json:"reduce" oneof:"mean,sum"` // …
func CheckChoices(v any) error {
	at := reflect.ValueOf(v)
	known, err := fields(at.Type())
	if err != nil {
		return err
	}
	for _, f := range known {
		if value := at.FieldByIndex(f.index); f.choices != nil && !slices.Contains(f.choices, value.String()) {
			return fmt.Errorf("%s is %q%s", f.name, value.String(), Near(value.String(), f.choices))
		}
	}
	return nil
}

// oneOf lists choices as a help text does; an empty one is called so.
func oneOf(choices []string) string {
	names := slices.Clone(choices)
	for i, c := range names {
		if c == "" {
			names[i] = `"" (empty)`
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}
