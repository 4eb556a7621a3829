// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// KeyDoc describes one key of a config for help texts.
type KeyDoc struct {
	Key   string   // full dotted key: "explore.alpha"
	Type  string   // "a finite number", "one of dense, sparse", "an explorer"
	Value string   // present value, in the form that Set reads
	Kinds []string // what the key of a config can be set to; nil for other keys
	About string   // what the setting is: the tag help of its field

	Bounds *Bounds // of a whole number, or of the entries of a list; nil: none are declared. Type says them, too
}

// Keys lists every key of v, a struct or config or a pointer to one, in the order of declaration. The key of a config
// comes before the keys inside it.
func Keys(v any) []KeyDoc {
	if v == nil {
		return nil
	}
	return keys("", reflect.ValueOf(v), make([]KeyDoc, 0, 128)) // an experiment has about a hundred
}

func keys(path string, v reflect.Value, all []KeyDoc) []KeyDoc {
	if v.Kind() == reflect.Interface && path != "" {
		kind, isSet := kindOf(v)
		if !isSet {
			kind = "null"
		}
		all = append(all, KeyDoc{Key: path, Type: typeName(v.Type()), Value: kind, Kinds: kinds(v.Type())})
	}
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return all
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		var e encoder
		if err := e.value(path, v); err != nil {
			return append(all, KeyDoc{Key: path, Type: typeName(v.Type()), Value: fmt.Sprint(v.Interface())})
		}
		value := e.String()
		if v.Kind() == reflect.String {
			value = v.String()
		}
		return append(all, KeyDoc{Key: path, Type: typeName(v.Type()), Value: value})
	}
	known, err := fields(v.Type())
	if err != nil {
		return all // Marshal and Unmarshal report it
	}
	for _, f := range known {
		from := len(all)
		all = keys(join(path, f.name), f.in(v), all)
		if from == len(all) || all[from].Key != join(path, f.name) {
			continue // a struct has no key of its own
		}
		all[from].About = f.help
		switch {
		case f.choices != nil:
			all[from].Type = oneOf(f.choices)
		case f.bounds != nil:
			kind := fmt.Sprintf("a whole number from %d to %d", f.bounds.Min, f.bounds.Max)
			if f.in(v).Kind() == reflect.Slice {
				kind = "a list, each entry " + kind
			}
			all[from].Bounds, all[from].Type = f.bounds, kind
		}
	}
	return all
}

// Set changes the one value of *dst that the dotted key path names. The text is read by the value's type: text needs no
// quotes, a list is JSON or separated by commas, a config is its kind alone (as in explore=db) or a JSON object. Errors
// and what they leave behind are as in Unmarshal.
func Set(dst any, path, text string) error {
	target, err := pointee(dst)
	if err != nil {
		return err
	}
	names := strings.Split(path, ".")
	src, err := reading(typeAt(target, names), path, text)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		src = object{{name, src}}
	}
	return overlay(src, target)
}

// typeAt returns the type of the value that names lead to, nil if they lead nowhere; the overlay then says where.
func typeAt(v reflect.Value, names []string) reflect.Type {
	for _, name := range names {
		if v.Kind() == reflect.Interface && v.IsNil() {
			return nil
		}
		body, _ := detach(v)
		if body.Kind() != reflect.Struct {
			return nil
		}
		known, err := fields(body.Type())
		i := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if err != nil || i < 0 {
			return nil
		}
		v = body.FieldByIndex(known[i].index)
	}
	return v.Type()
}

// reading turns the text of a value of type t into the JSON value that it stands for.
func reading(t reflect.Type, path, text string) (any, error) {
	if t == nil || t.Kind() == reflect.String {
		return text, nil
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		src, err := parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return src, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
		return text, nil // overlay reports it
	case reflect.Slice, reflect.Array:
		list := []any{}
		for _, part := range strings.Split(text, ",") {
			item, err := reading(t.Elem(), path, strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		if text == "" {
			list = list[:0]
		}
		return list, nil
	case reflect.Interface:
		if text == "null" {
			return nil, nil
		}
		return object{{kindKey, text}}, nil
	case reflect.Struct:
		return text, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return text, nil
	}
	return json.Number(text), nil
}

// typeName is what an error or a help text calls a type.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		limit := int64(1) << (t.Bits() - 1)
		return fmt.Sprintf("a whole number from %d to %d", -limit, limit-1)
	case reflect.Uint, reflect.Uint64:
		return "a whole number, 0 or more"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return fmt.Sprintf("a whole number from 0 to %d", int64(1)<<t.Bits()-1)
	case reflect.Float32, reflect.Float64:
		return "a finite number"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list, each entry " + typeName(t.Elem())
	case reflect.Interface:
		name := groupName(t)
		if strings.ContainsRune("aeiou", rune(name[0])) {
			return "an " + name
		}
		return "a " + name
	case reflect.Struct:
		return "an object"
	}
	return t.String()
}
