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
	Kinds  []string // possible kinds, for the key of a config; nil for other keys
	About  string   // tag help of the field: description of the setting
	Bounds *Bounds  // tag range of the field; nil without one
}

// Sentence says what the setting is and which values it can have: "reward stream; one of dense, sparse".
func (k KeyDoc) Sentence() string {
	allowed := k.Type
	switch {
	case k.Kinds != nil:
		allowed = oneOf(k.Kinds)
	case k.Bounds != nil && strings.HasPrefix(k.Type, "a list"):
		allowed = "each " + k.Bounds.String()
	case k.Bounds != nil:
		allowed = k.Bounds.String()
	case k.About != "" && !strings.HasPrefix(k.Type, "one of "):
		return k.About
	}
	return strings.TrimPrefix(k.About+"; "+allowed, "; ")
}

// Keys lists every key of v, a struct or config or a pointer to one, in the order of declaration. The key of a config
// comes before the keys inside it.
func Keys(v any) []KeyDoc {
	return appendKeys(make([]KeyDoc, 0, 128), "", reflect.ValueOf(v)) // an experiment has about a hundred
}

// ByKey returns the values of v, in the form that Set reads, by dotted key.
func ByKey(v any) map[string]string {
	out := map[string]string{}
	for _, k := range Keys(v) {
		out[k.Key] = k.Value
	}
	return out
}

// appendKeys appends the keys of what v holds, a struct at a dotted path; others have none.
func appendKeys(all []KeyDoc, path string, v reflect.Value) []KeyDoc {
	if v = unwrap(v); v.Kind() != reflect.Struct {
		return all
	}
	for _, f := range fields(v.Type()) {
		if f.constant != nil {
			continue
		}
		x := f.in(v)
		if x.Kind() != reflect.Struct { // which has no value of its own
			all = append(all, f.doc(join(path, f.name), x))
		}
		all = appendKeys(all, join(path, f.name), x)
	}
	return all
}

// doc describes the field, whose value is v.
func (f *field) doc(key string, v reflect.Value) KeyDoc {
	k := KeyDoc{Key: key, Type: typeName(v.Type()), About: f.help, Bounds: f.bounds}
	if f.choices != nil {
		k.Type = oneOf(f.choices)
	}
	if v.Kind() == reflect.Interface {
		k.Kinds = kinds(v.Type())
	}
	if kind, isConfig := kindOf(v); isConfig {
		k.Value = kind
	} else if t, err := tree(key, v); err == nil {
		k.Value = plainText(t)
	} else {
		k.Value = fmt.Sprint(v) // not finite
	}
	return k
}

// plainText is the form of a tree that Set reads: JSON, but text without quotes.
func plainText(t any) string {
	if s, ok := t.(string); ok {
		return s
	}
	return text(t)
}

// Values returns the settings in the JSON of a config by their dotted keys, in the form that Set reads. It also reads
// configs unknown to this program, such as configs of an earlier version.
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

// Set changes the value of *dst at a dotted key. The type of the setting decides how text is read. Text needs no
// quotes; a list is JSON or separated by commas. A config is its kind, as in explore=db, or a JSON object. Errors
// leave *dst unchanged, as in Unmarshal.
func Set(dst any, path, text string) error {
	names := strings.Split(path, ".")
	var src any = untyped(text)
	if names[len(names)-1] == kindKey {
		src = text
	}
	for _, name := range slices.Backward(names) {
		src = map[string]any{name: src}
	}
	return overlay(src, reflect.ValueOf(dst).Elem())
}

// untyped is text in a tree that is read by the type of the setting it is for.
type untyped string

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
