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

// Unmarshal overlays the JSON in data on *dst, a struct or a group's interface: keys that are not in data keep their
// values. In a field of a group's interface type the key "kind" chooses the config: one that differs from the present
// kind starts from its registered default, otherwise the present value is overlaid. Lists are replaced as a whole. A
// config that Marshal has written is complete: a setting that it left out, as omitzero allows, is zero.
//
// An unknown key, a value of the wrong type, a number out of range, a key given twice and text after the end are errors
// of one sentence with the full dotted key; *dst is then as it was. Whether the values make sense together is for the
// config's own Validate to say; it is not called here.
func Unmarshal(data []byte, dst any) error {
	target, err := pointee(dst)
	if err != nil {
		return err
	}
	src, err := parse(data)
	if err != nil {
		return err
	}
	return overlay(src, target)
}

// pointee returns the variable that dst points to.
func pointee(dst any) (reflect.Value, error) {
	p := reflect.ValueOf(dst)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return reflect.Value{}, fmt.Errorf("conf: cannot write into a %T, want a pointer", dst)
	}
	return p.Elem(), nil
}

// overlay writes src on dst, wholly or not at all.
func overlay(src any, dst reflect.Value) error {
	work := reflect.New(dst.Type()).Elem()
	work.Set(dst)
	d := decoder{root: dst}
	if err := d.value("", src, work); err != nil {
		return err
	}
	dst.Set(work)
	return nil
}

// decoder never writes through a slice or an interface that its target shares with the caller: it replaces them.
type decoder struct{ root reflect.Value } // root: the whole config as it was, for suggestions

func (d *decoder) value(path string, src any, dst reflect.Value) error {
	switch dst.Kind() {
	case reflect.Bool:
		b, ok := src.(bool)
		if !ok {
			return wrong(path, src, dst.Type())
		}
		dst.SetBool(b)
	case reflect.String:
		s, ok := src.(string)
		if !ok {
			return wrong(path, src, dst.Type())
		}
		dst.SetString(s)
	case reflect.Slice, reflect.Array:
		return d.list(path, src, dst)
	case reflect.Struct:
		obj, ok := src.(object)
		if !ok {
			return wrong(path, src, dst.Type())
		}
		return d.object(path, obj, dst)
	case reflect.Interface:
		return d.config(path, src, dst)
	default:
		return number(path, src, dst)
	}
	return nil
}

func number(path string, src any, dst reflect.Value) error {
	n, ok := src.(json.Number)
	switch dst.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := strconv.ParseInt(integer(string(n)), 10, dst.Type().Bits())
		if !ok || err != nil {
			return wrong(path, src, dst.Type())
		}
		dst.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := strconv.ParseUint(integer(string(n)), 10, dst.Type().Bits())
		if !ok || err != nil {
			return wrong(path, src, dst.Type())
		}
		dst.SetUint(x)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(string(n), dst.Type().Bits())
		if !ok || err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return wrong(path, src, dst.Type())
		}
		dst.SetFloat(x)
	default:
		return unsupported(path, dst.Type())
	}
	return nil
}

// integer rewrites a whole number in another notation, such as 6e5, as plain digits; other text is returned as it is.
func integer(n string) string {
	if !strings.ContainsAny(n, ".eE") {
		return n
	}
	x, err := strconv.ParseFloat(n, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 { // above 2⁵³ a float64 no longer holds every integer
		return n
	}
	return strconv.FormatFloat(x+0, 'f', 0, 64)
}

func (d *decoder) list(path string, src any, dst reflect.Value) error {
	items, ok := src.([]any)
	if !ok {
		return wrong(path, src, dst.Type())
	}
	if dst.Kind() == reflect.Array && len(items) != dst.Len() {
		return fmt.Errorf("%s has %d entries, want %d", named(path), len(items), dst.Len())
	}
	if dst.Kind() == reflect.Slice {
		dst.Set(reflect.MakeSlice(dst.Type(), len(items), len(items)))
	}
	for i, item := range items {
		if err := d.value(fmt.Sprintf("%s[%d]", path, i), item, dst.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) object(path string, obj object, dst reflect.Value) error {
	keys, err := fields(dst.Type())
	if err != nil {
		return err
	}
	kind, isConfig := kindOf(dst)
	for _, m := range obj {
		if m.key == kindKey && isConfig {
			if m.value != any(kind) {
				return fmt.Errorf("%s is %s, want %q", join(path, kindKey), describe(m.value), kind)
			}
			continue
		}
		if m.key == codeKey && isConfig && codeOf(dst.Type()) != "" {
			continue // of a run: the code is that of this program, whatever it was then
		}
		i := slices.IndexFunc(keys, func(f field) bool { return f.name == m.key })
		if i < 0 {
			return d.unknown(path, m.key, kind, keys)
		}
		src := m.value
		if _, isList := src.([]any); keys[i].scalar && !isList {
			src = []any{src}
		}
		to := dst.FieldByIndex(keys[i].index)
		if err := d.value(join(path, m.key), src, to); err != nil {
			if what := keys[i].help; what != "" && to.Kind() != reflect.Struct && to.Kind() != reflect.Interface {
				return fmt.Errorf("%w (%s)", err, what)
			}
			return err
		}
	}
	return nil
}

// config overlays src on dst, a variable of a group's interface type.
func (d *decoder) config(path string, src any, dst reflect.Value) error {
	if !dst.Type().Implements(kinderType) {
		return unsupported(path, dst.Type())
	}
	obj, ok := src.(object)
	if src == nil {
		dst.SetZero()
		return nil
	}
	if !ok {
		return wrong(path, src, dst.Type())
	}
	current := dst
	kind, isSet := kindOf(dst)
	if want := given(obj); want == nil && !isSet {
		return fmt.Errorf("%s is missing, want one of %s", join(path, kindKey), strings.Join(kinds(dst.Type()), ", "))
	} else if want != nil && (!isSet || want != any(kind)) {
		name, ok := want.(string)
		if !ok {
			return fmt.Errorf("%s is %s, want text", join(path, kindKey), describe(want))
		}
		proto, err := lookup(dst.Type(), name)
		if err != nil {
			return fmt.Errorf("%s: %w", join(path, kindKey), err)
		}
		current = reflect.ValueOf(proto)
	}
	body, wrap := detach(current)
	if err := d.object(path, obj, body); err != nil {
		return err
	}
	if current != dst {
		clearOmitted(obj, body)
	}
	dst.Set(wrap())
	return nil
}

// clearOmitted zeroes the settings tagged omitzero that obj leaves out, if obj has all others: such an object was
// written by Marshal, which left them out because they were zero, whatever the registered default is by now.
func clearOmitted(obj object, body reflect.Value) {
	keys, err := fields(body.Type())
	if err != nil {
		return
	}
	var left []field
	for _, k := range keys {
		switch given := slices.ContainsFunc(obj, func(m member) bool { return m.key == k.name }); {
		case given:
		case !k.omitZero:
			return // written by hand: what is left out has its default
		default:
			left = append(left, k)
		}
	}
	for _, k := range left {
		if v := body.FieldByIndex(k.index); !isZero(v) {
			v.SetZero()
		}
	}
}

// given returns the value of the key "kind", nil if there is none.
func given(obj object) any {
	for _, m := range obj {
		if m.key == kindKey {
			return m.value
		}
	}
	return nil
}

// unknown is the error for a key that the struct at path, of that kind if it is a config, does not have. It suggests
// close keys of the whole config and, failing that, lists the keys that could stand there.
func (d *decoder) unknown(path, key, kind string, siblings []field) error {
	given, here := join(path, key), make([]string, len(siblings))
	for i, f := range siblings {
		here[i] = join(path, f.name)
	}
	all := slices.Clone(here)
	for _, k := range keys("", d.root, nil) {
		if !slices.Contains(all, k.Key) {
			all = append(all, k.Key)
		}
	}
	if near := closest(given, all); len(near) > 0 {
		return fmt.Errorf("unknown key %q; did you mean %s?", given, strings.Join(near, " or "))
	}
	owner := named(path)
	if kind != "" {
		owner += fmt.Sprintf(" is %q, which", kind)
	}
	if len(here) == 0 {
		return fmt.Errorf("unknown key %q; %s has no settings", given, owner)
	}
	return fmt.Errorf("unknown key %q; %s has: %s", given, owner, strings.Join(here, ", "))
}

// wrong is the error for a value of the wrong type or out of its type's range.
func wrong(path string, src any, want reflect.Type) error {
	return fmt.Errorf("%s is %s, want %s", named(path), describe(src), typeName(want))
}

// describe names a JSON value in an error, shortened where it could be long.
func describe(src any) string {
	switch x := src.(type) {
	case nil:
		return "null"
	case object:
		return "an object"
	case []any:
		return "a list"
	case string:
		if len(x) > 40 {
			x = strings.ToValidUTF8(x[:40], "") + "…"
		}
		return strconv.Quote(x)
	}
	text := fmt.Sprint(src)
	return text[:min(len(text), 40)]
}
