// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
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

	omitZero    bool // json:",omitzero": not written while it is zero
	omitDefault bool // conf:"omitdefault": not written while it has the registered default
	scalar      bool // conf:"scalar", of a list: one entry is written and read without brackets

	help    string   // help:"…": description of the setting
	bounds  *Bounds  // range:"1..4096"; nil without
	choices []string // oneof:"a,b"; nil without

	constant any // value:"…": of a Constant, as a tree: JSON, or else text
}

// Constant is the type of a blank field for a setting with one value left. Its tag key names the setting, as vet wants
// no json tag at a blank field. Its tag value is written in JSON, so that identities of older configs hold, and other
// values are refused. Keys does not list it.
type Constant struct{}

// in returns the field's value in v in its written form: the entry of a scalar list that has one.
func (f *field) in(v reflect.Value) reflect.Value {
	x := v.FieldByIndex(f.index)
	if f.scalar && x.Len() == 1 {
		return x.Index(0)
	}
	return x
}

// isConstant returns an error if src, at key, differs from the value of a Constant.
func (f *field) isConstant(key string, src any) error {
	value := plainText(f.constant)
	if src == any(untyped(value)) || reflect.DeepEqual(src, f.constant) {
		return nil
	}
	return invalid(key, describe(src), value+", the only value that is left", "")
}

// fieldsOf caches the result of fields, since reading tags takes most of the time of Keys.
var fieldsOf sync.Map // reflect.Type -> []field

// fields lists the keys of struct type t in declaration order. As in encoding/json, fields of embedded structs count as
// fields of t, and a key hides the same key of a struct embedded deeper. Two fields of one key are a mistake in the
// program and panic. Callers must not change the list.
func fields(t reflect.Type) []field {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				all = append(all, inner)
			}
		case f.Type == reflect.TypeFor[Constant]():
			value := f.Tag.Get("value")
			own := field{name: f.Tag.Get("key"), index: f.Index, constant: value}
			if tree, err := parse([]byte(value)); err == nil {
				own.constant = tree
			}
			all = append(all, own)
		case name != "-" && f.IsExported():
			tag := f.Tag.Get("conf")
			own := field{name: cmp.Or(name, f.Name), index: f.Index, help: f.Tag.Get("help"), bounds: bounds(f)}
			own.omitZero = strings.Contains(options, "omitzero")
			own.omitDefault, own.scalar = strings.Contains(tag, "omitdefault"), strings.Contains(tag, "scalar")
			if list, ok := f.Tag.Lookup("oneof"); ok {
				own.choices = strings.Split(list, ",")
			}
			all = append(all, own)
		}
	}
	hidden := func(f field) bool {
		shallower := func(other field) bool { return other.name == f.name && len(other.index) < len(f.index) }
		return slices.ContainsFunc(all, shallower)
	}
	all = slices.DeleteFunc(slices.Clone(all), hidden)
	for i, f := range all {
		same := func(other field) bool { return other.name == f.name }
		if slices.ContainsFunc(all[:i], same) || t.Implements(kinderType) && (f.name == kindKey || f.name == codeKey) {
			panic(fmt.Sprintf("conf: %s has two fields for the key %q", t, f.name))
		}
	}
	fieldsOf.Store(t, all)
	return all
}

var kinderType = reflect.TypeFor[Kinder]()

// kindOf returns the kind of a config value; ok is false for a value that is no config, such as a plain struct or nil.
func kindOf(v reflect.Value) (kind string, ok bool) {
	k, ok := v.Interface().(Kinder)
	if !ok {
		return "", false
	}
	return k.Kind(), true
}

// unwrap returns what interfaces and pointers hold, the zero Value for nil.
func unwrap(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// clone returns a copy of v that shares no slice with it, so that editing a config never edits a registered default.
func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(clone(v.Field(i)))
			}
		}
	case v.Kind() == reflect.Slice && !v.IsNil():
		c.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
	case v.Kind() == reflect.Interface && !v.IsNil():
		c.Set(clone(v.Elem()))
	}
	return c
}
