// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// kindKey is the key that names the kind of a config in JSON.
const kindKey = "kind"

// field is one key of a config struct.
type field struct {
	name  string
	index []int // for reflect.Value.FieldByIndex
	depth int   // embedding depth: 0 for a field of the struct itself

	omitZero    bool // json:",omitzero": left out of JSON while it is zero
	omitDefault bool // conf:"omitdefault": left out of JSON while it is what the registered default has
	scalar      bool // conf:"scalar", of a list: one entry is written and read without brackets

	help    string   // help:"…": what the setting is, for help texts and errors
	bounds  *Bounds  // range:"1..4096"; nil: none are declared
	choices []string // oneof:"a,b": what a text can be, as help texts list it and CheckChoices demands; nil: anything
}

// in returns the field's value in v as it is written: of a list tagged scalar that has one entry, the entry.
func (f *field) in(v reflect.Value) reflect.Value {
	x := v.FieldByIndex(f.index)
	if f.scalar && x.Len() == 1 {
		return x.Index(0)
	}
	return x
}

// fieldsOf keeps what fields has found out: reading tags takes most of the time that listing the keys of a config does.
var fieldsOf sync.Map // reflect.Type -> []field

// fields lists the keys of struct type t in declaration order, embedded structs flattened as encoding/json does: of two
// fields with one name the outer one counts. Two at the same depth are a mistake in the struct, reported as an error. The list is shared.
func fields(t reflect.Type) ([]field, error) {
	if f, ok := fieldsOf.Load(t); ok {
		return f.([]field), nil
	}
	f, err := read(t)
	if err == nil {
		fieldsOf.Store(t, f)
	}
	return f, err
}

func read(t reflect.Type) ([]field, error) {
	all, err := collect(t, nil, nil)
	if err != nil {
		return nil, err
	}
	isConfig := reflect.PointerTo(t).Implements(kinderType)
	best := map[string]field{}
	for _, f := range all {
		if isConfig && (f.name == kindKey || f.name == codeKey) {
			return nil, fmt.Errorf("conf: %s has a field for the key %q, which is reserved", t, f.name)
		}
		other, seen := best[f.name]
		if seen && other.depth == f.depth {
			return nil, fmt.Errorf("conf: %s has two fields for the key %q", t, f.name)
		}
		if !seen || f.depth < other.depth {
			best[f.name] = f
		}
	}
	kept := all[:0]
	for _, f := range all {
		if best[f.name].depth == f.depth {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// collect appends the keys of t and of what it embeds; at is the index path of t in the outermost struct.
func collect(t reflect.Type, at []int, all []field) ([]field, error) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		index := append(append([]int(nil), at...), i)
		flatten := f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct
		switch {
		case name == "-" || !f.IsExported() && !flatten:
			continue
		case flatten:
			var err error
			if all, err = collect(f.Type, index, all); err != nil {
				return nil, err
			}
			continue
		case name == "":
			name = f.Name
		}
		ours := strings.Split(f.Tag.Get("conf"), ",")
		var choices []string
		if list, ok := f.Tag.Lookup("oneof"); ok {
			choices = strings.Split(list, ",")
		}
		all = append(all, field{
			choices: choices, name: name, index: index, depth: len(at), omitZero: slices.Contains(strings.Split(options, ","), "omitzero"),
			omitDefault: slices.Contains(ours, "omitdefault"), scalar: slices.Contains(ours, "scalar"),
			help: f.Tag.Get("help"), bounds: bounds(f),
		})
	}
	return all, nil
}

var kinderType = reflect.TypeFor[Kinder]()

// kindOf returns the kind of a config value; ok is false for a value that is no config, such as a plain struct or nil.
func kindOf(v reflect.Value) (kind string, ok bool) {
	if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", false
		}
	}
	if k, is := v.Interface().(Kinder); is {
		return k.Kind(), true
	}
	if v.CanAddr() {
		if k, is := v.Addr().Interface().(Kinder); is {
			return k.Kind(), true
		}
	}
	return "", false
}

// detach returns an addressable copy of what v holds, a struct behind an interface or a pointer, and a function that
// wraps the copy so that it can be stored where v was.
func detach(v reflect.Value) (body reflect.Value, wrap func() reflect.Value) {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		return p.Elem(), func() reflect.Value { return p }
	}
	body = reflect.New(v.Type()).Elem()
	body.Set(v)
	return body, func() reflect.Value { return body }
}

// clone returns a copy of v that shares no slice with it, so that editing a config never edits a registered default.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Interface:
		if !v.IsNil() {
			c.Set(clone(v.Elem()))
		}
	}
	return c
}
