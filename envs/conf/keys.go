// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// KeyDoc describes one key of a config for help texts.
type KeyDoc struct {
	Key    string   // full dotted key: "explore.alpha"
	Type   string   // "a finite number", "one of dense, sparse", "an explorer"
	Value  string   // present value, in the form that Set reads
	Kinds  []string // what the key of a config can be set to; nil for other keys
	About  string   // tag help of the field: what the setting is
	Bounds *Bounds  // tag range of the field; nil without one
}

// Sentence says what the setting is and which values it can have: "reward stream; one of dense, sparse".
func (k KeyDoc) Sentence() string {
	var parts []string
	if k.About != "" {
		parts = append(parts, k.About)
	}
	switch {
	case k.Kinds != nil:
		parts = append(parts, oneOf(k.Kinds))
	case strings.HasPrefix(k.Type, "one of "):
		parts = append(parts, k.Type)
	case k.Bounds != nil && strings.HasPrefix(k.Type, "a list"):
		parts = append(parts, "each "+k.Bounds.String())
	case k.Bounds != nil:
		parts = append(parts, k.Bounds.String())
	case k.About == "":
		parts = append(parts, k.Type)
	}
	return strings.Join(parts, "; ")
}

// Keys lists every key of v, a struct or config or a pointer to one, in the order of declaration. The key of a config
// comes before the keys inside it.
func Keys(v any) []KeyDoc {
	return keys("", reflect.ValueOf(v), make([]KeyDoc, 0, 128)) // an experiment has about a hundred
}

// ByKey returns the values of v, in the form that Set reads, by dotted key.
func ByKey(v any) map[string]string {
	out := map[string]string{}
	for _, k := range Keys(v) {
		out[k.Key] = k.Value
	}
	return out
}

func keys(path string, v reflect.Value, all []KeyDoc) []KeyDoc {
	if v.Kind() == reflect.Interface && path != "" {
		kind, isSet := kindOf(v)
		if !isSet {
			kind = "null"
		}
		all = append(all, KeyDoc{Key: path, Type: typeName(v.Type()), Value: kind, Kinds: kinds(v.Type())})
	}
	if v = unwrap(v); !v.IsValid() {
		return all
	}
	if v.Kind() != reflect.Struct {
		value := fmt.Sprint(v)
		if t, err := tree(path, v); err == nil {
			value = plainText(t)
		}
		return append(all, KeyDoc{Key: path, Type: typeName(v.Type()), Value: value})
	}
	for _, f := range fields(v.Type()) {
		from := len(all)
		all = keys(join(path, f.name), f.in(v), all)
		if from == len(all) || all[from].Key != join(path, f.name) {
			continue // a struct has no key of its own
		}
		k := &all[from]
		k.About, k.Bounds = f.help, f.bounds
		if f.choices != nil {
			k.Type = oneOf(f.choices)
		}
	}
	return all
}

// plainText is the form of a tree that Set reads: JSON, but text without quotes.
func plainText(t any) string {
	if s, ok := t.(string); ok {
		return s
	}
	return text(t)
}

// Values returns the settings in the JSON of a config by their dotted keys, in the form that Set reads. It also reads
// configs that this program does not know, such as those of an earlier version.
func Values(data []byte) (map[string]string, error) {
	out := map[string]string{}
	src, err := parse(data)
	if err == nil {
		flatten("", src, out)
	}
	return out, err
}

func flatten(path string, src any, out map[string]string) {
	members, ok := src.(map[string]any)
	if !ok {
		out[path] = plainText(src)
		return
	}
	for key, value := range members {
		at := join(path, key)
		if key == kindKey {
			at = path
		}
		flatten(at, value, out)
	}
}

// Get returns the value of v at a dotted key, in the form that Set reads; ok is false if v has no such key.
func Get(v any, key string) (value string, ok bool) {
	value, ok = ByKey(v)[key]
	return value, ok
}

// Set changes the value of *dst at a dotted key. The type of the setting decides how text is read: text needs no
// quotes, a list is JSON or separated by commas, a config is its kind, as in explore=db, or a JSON object. Errors leave
// *dst unchanged, as in Unmarshal.
func Set(dst any, path, text string) error {
	var src any = commandLine(text)
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		src = map[string]any{name: src}
	}
	return overlay(src, reflect.ValueOf(dst).Elem())
}

// typed turns the text of a value of type t into a tree. Text that does not fit is returned unchanged, for the error.
func typed(text string, t reflect.Type) (any, error) {
	if t.Kind() == reflect.String {
		return text, nil
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return parse([]byte(text))
	}
	switch t.Kind() {
	case reflect.Bool:
		if isTrue, err := strconv.ParseBool(text); err == nil {
			return isTrue, nil
		}
	case reflect.Slice, reflect.Array:
		list := []any{}
		for part := range strings.SplitSeq(text, ",") {
			item, err := typed(strings.TrimSpace(part), t.Elem())
			if err != nil {
				return nil, err
			}
			if text != "" {
				list = append(list, item)
			}
		}
		return list, nil
	case reflect.Interface:
		if text == "null" {
			return nil, nil
		}
		return map[string]any{kindKey: text}, nil
	default:
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
			return json.Number(formatFloat(x, 64)), nil
		case x == math.Trunc(x) && math.Abs(x) < 1<<53: // also 6e5; larger floats skip integers
			return json.Number(strconv.FormatFloat(x, 'f', 0, 64)), nil
		case json.Valid([]byte(text)):
			return json.Number(text), nil
		}
	}
	return text, nil
}

// typeName is the name of a type in errors and help texts.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, 0 or more"
	case reflect.Float32, reflect.Float64:
		return "a finite number"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list, each entry " + typeName(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("a list of %d, each entry %s", t.Len(), typeName(t.Elem()))
	case reflect.Struct:
		return "an object"
	case reflect.Interface:
		name := groupName(t)
		if strings.ContainsRune("aeiou", rune(name[0])) {
			return "an " + name
		}
		return "a " + name
	}
	return t.String()
}
