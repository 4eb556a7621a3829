// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Marshal returns the canonical JSON of v, a config or a struct of configs. It has sorted keys, all values, the
// shortest decimal that reads back as the same float, and no spaces. Equal configs have equal bytes. A number that is
// not finite, which JSON cannot hold, is an error that names its dotted key.
//
// A setting that was added later does not change older configs. The tag json:",omitzero" leaves it out while it is
// zero, or while its method IsZero returns true; registered defaults must keep that value. The tag conf:"omitdefault"
// leaves it out while it has the registered default, which must never change again. A list tagged conf:"scalar" is
// written without brackets if it has one entry.
func Marshal(v any) ([]byte, error) {
	t, err := tree("", reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return []byte(text(t)), nil
}

// Hash returns the first 16 hexadecimal digits of the SHA-256 of Marshal(v): the identity of a config.
func Hash(v any) (string, error) {
	data, err := Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// tree converts the value at a dotted path to a tree: nested map[string]any and []any that encoding/json writes.
func tree(path string, v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, invalid(named(path), fmt.Sprint(x), "a finite number", "")
		}
		return json.Number(formatFloat(v.Float(), v.Type().Bits())), nil
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			var err error
			if list[i], err = tree(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case reflect.Struct:
		return treeOfStruct(path, v)
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return tree(path, v.Elem())
	case reflect.Map, reflect.Func, reflect.Chan:
		return nil, fmt.Errorf("%s has type %s, which a config cannot hold", named(path), v.Type())
	}
	return v.Interface(), nil
}

func treeOfStruct(path string, v reflect.Value) (any, error) {
	out := map[string]any{}
	kind, isConfig := kindOf(v)
	if isConfig {
		out[kindKey] = kind
		if code := codeOf(v.Type()); code != "" {
			out[codeKey] = code
		}
	}
	usual := registered(kind, v.Type())
	for _, f := range fields(v.Type()) {
		if f.constant != nil {
			out[f.name] = f.constant
			continue
		}
		x := v.FieldByIndex(f.index)
		isUsual := f.omitDefault && usual.IsValid() &&
			reflect.DeepEqual(x.Interface(), usual.FieldByIndex(f.index).Interface())
		if f.omitZero && isZero(x) || isUsual {
			continue
		}
		var err error
		if out[f.name], err = tree(join(path, f.name), f.in(v)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isZero reports whether a field tagged omitzero is left out.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return v.IsZero()
}

// formatFloat writes the shortest decimal that reads back as x, with an exponent below 1e-6 and from 1e21 on.
func formatFloat(x float64, bits int) string {
	if x == 0 {
		return "0" // also -0
	}
	if a := math.Abs(x); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	s := strconv.FormatFloat(x, 'e', -1, bits)
	return strings.Replace(strings.Replace(s, "e-0", "e-", 1), "e+", "e", 1)
}

// text is the JSON of a tree, without the escapes for HTML.
func text(t any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		panic("conf: " + err.Error()) // every tree can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unmarshal overlays the JSON in data on *dst, a struct or a group's interface: keys that are not in data keep their
// values. In a field of a group's interface type the key "kind" selects the config. A new kind starts from its
// registered default; otherwise the present value is overlaid. Lists are replaced as a whole. A config that Marshal
// wrote is complete: a setting that omitzero left out is zero.
//
// An unknown key, a value of the wrong type, a number out of its type's range and text after the end are errors. An
// error is one sentence with the full dotted key; *dst is then unchanged. Check checks the values.
func Unmarshal(data []byte, dst any) error {
	src, err := parse(data)
	if err != nil {
		return err
	}
	return overlay(src, reflect.ValueOf(dst).Elem())
}

// parse reads one JSON value as a tree.
func parse(data []byte) (src any, err error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("the config is not JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&src)
	return src, err
}

// overlay writes the tree src on dst, wholly or not at all.
func overlay(src any, dst reflect.Value) error {
	work := reflect.New(dst.Type()).Elem()
	work.Set(dst)
	err := (&decoder{root: dst}).value("", src, work, "")
	if err == nil {
		dst.Set(work)
	}
	return err
}

// decoder replaces slices and interfaces instead of writing through them, because the caller's value shares them.
type decoder struct{ root reflect.Value } // root is the config before the change, for suggestions

// value overlays src on dst, a setting that help describes.
func (d *decoder) value(path string, src any, dst reflect.Value, help string) error {
	members, isObject := src.(map[string]any)
	items, _ := src.([]any)
	replaced := reflect.New(dst.Type())
	switch {
	case dst.Kind() == reflect.Struct && isObject:
		return d.members(path, members, dst)
	case dst.Kind() == reflect.Interface && src == nil:
		dst.SetZero()
	case dst.Kind() == reflect.Interface && isObject:
		return d.config(path, members, dst)
	case src == nil, dst.Kind() == reflect.Struct, dst.Kind() == reflect.Interface,
		dst.Kind() == reflect.Array && len(items) != dst.Len(),
		json.Unmarshal([]byte(text(src)), replaced.Interface()) != nil:
		return invalid(named(path), describe(src), typeName(dst.Type()), help)
	default:
		dst.Set(replaced.Elem())
	}
	return nil
}

func (d *decoder) members(path string, members map[string]any, dst reflect.Value) error {
	known := fields(dst.Type())
	kind, isConfig := kindOf(dst)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		src := members[key]
		if key == kindKey && isConfig {
			if src != any(kind) {
				return invalid(join(path, kindKey), describe(src), strconv.Quote(kind), "")
			}
			continue
		}
		if key == codeKey && isConfig && codeOf(dst.Type()) != "" {
			continue // the hash of an earlier program; Marshal writes that of this one
		}
		i := slices.IndexFunc(known, func(f field) bool { return f.name == key })
		if i < 0 {
			return d.unknown(path, key, kind, known)
		}
		if known[i].constant != nil {
			if err := known[i].isConstant(join(path, key), src); err != nil {
				return err
			}
			continue
		}
		to := dst.FieldByIndex(known[i].index)
		src, err := known[i].typed(src, to.Type())
		if err != nil {
			return fmt.Errorf("%s: %w", join(path, key), err)
		}
		help := known[i].help
		if to.Kind() == reflect.Struct || to.Kind() == reflect.Interface {
			help = "" // of a whole part
		}
		if err := d.value(join(path, key), src, to, help); err != nil {
			return err
		}
	}
	return nil
}

// typed returns src as a tree for the field, of type t: text becomes a value, the entry of a scalar list a list.
func (f *field) typed(src any, t reflect.Type) (any, error) {
	if text, ok := src.(untyped); ok {
		var err error
		if src, err = typed(string(text), t); err != nil {
			return nil, err
		}
	}
	if _, isList := src.([]any); f.scalar && !isList {
		src = []any{src}
	}
	return src, nil
}

// config overlays an object on dst, a variable of a group's interface type.
func (d *decoder) config(path string, members map[string]any, dst reflect.Value) error {
	current := dst
	kind, isSet := kindOf(dst)
	want, given := members[kindKey]
	if !given && !isSet {
		return fmt.Errorf("%s is missing, want %s", join(path, kindKey), oneOf(kinds(dst.Type())))
	}
	anew := given && (!isSet || want != any(kind))
	if anew {
		name, ok := want.(string)
		if !ok {
			return invalid(join(path, kindKey), describe(want), "text", "")
		}
		proto, err := lookup(dst.Type(), name)
		if err != nil {
			return fmt.Errorf("%s: %w", join(path, kindKey), err)
		}
		current = reflect.ValueOf(proto)
	}
	current = unwrap(current)
	body := reflect.New(current.Type()).Elem() // addressable
	body.Set(current)
	if err := d.members(path, members, body); err != nil {
		return err
	}
	if anew {
		clearOmitted(members, body)
	}
	dst.Set(body)
	return nil
}

// clearOmitted sets settings tagged omitzero that are not in members to zero, if members has all others. Then Marshal
// wrote them, and left out zero values regardless of today's registered default. A person leaves out more.
func clearOmitted(members map[string]any, body reflect.Value) {
	absent := slices.DeleteFunc(slices.Clone(fields(body.Type())), func(f field) bool {
		_, given := members[f.name]
		return given
	})
	if slices.ContainsFunc(absent, func(f field) bool { return !f.omitZero }) {
		return
	}
	for _, f := range absent {
		if v := body.FieldByIndex(f.index); !isZero(v) {
			v.SetZero()
		}
	}
}

// unknown is the error for a key that the struct at path does not have. It suggests close keys of the whole config,
// or else lists the keys of the struct. kind is the struct's kind if it is a config.
func (d *decoder) unknown(path, key, kind string, siblings []field) error {
	var here []string
	for _, f := range siblings {
		if f.constant == nil {
			here = append(here, join(path, f.name))
		}
	}
	all := here
	for _, k := range Keys(d.root.Interface()) {
		all = append(all, k.Key)
	}
	given, owner := join(path, key), named(path)
	if near := closest(given, all); len(near) > 0 {
		return fmt.Errorf("unknown key %q; did you mean %s?", given, strings.Join(near, " or "))
	}
	if kind != "" {
		owner += fmt.Sprintf(" is %q, which", kind)
	}
	has := " no settings"
	if len(here) > 0 {
		has = ": " + strings.Join(here, ", ")
	}
	if others := kindsWith(key, kind); len(others) > 0 {
		has += fmt.Sprintf("; %s belongs to %s", key, strings.Join(others, ", "))
	}
	return fmt.Errorf("unknown key %q; %s has%s", given, owner, has)
}

// kindsWith lists the kinds that have a setting, of the groups that a kind without it is in.
func kindsWith(key, kind string) (names []string) {
	for _, group := range registry {
		if _, ok := group[kind]; !ok {
			continue
		}
		for name, proto := range group {
			known := fields(unwrap(reflect.ValueOf(proto)).Type())
			if slices.ContainsFunc(known, func(f field) bool { return f.name == key }) {
				names = append(names, name)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// describe names a value of a tree in an error, shortened to 40 characters.
func describe(src any) string {
	if _, ok := src.(map[string]any); ok {
		return "an object"
	}
	return fmt.Sprintf("%.40s", text(src))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// named is the name of the value at path in an error.
func named(path string) string {
	if path == "" {
		return "the config"
	}
	return path
}
