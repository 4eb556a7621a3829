// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// invalid is the error for a value that a setting cannot have. help describes the setting, and may be empty.
func invalid(key, value, want, help string) error {
	if help != "" {
		help = " (" + help + ")"
	}
	return fmt.Errorf("%s is %s, want %s%s", key, value, want, help)
}

// Check returns an error for the first setting of v, a config or a struct of configs, whose value its tags do not
// allow. Numbers must be finite. The tags are:
//
//	Width  int     `json:"width" range:"1..4096"` // both bounds allowed
//	Keep   float64 `json:"keep" range:"[0..1)"`   // without 1
//	Scale  float64 `json:"scale" range:"(0..)"`   // any positive number
//	Reduce string  `json:"reduce" oneof:"mean,sum"`
//
// The range of a list holds for each entry; such a list has at most 64.
func Check(v any) error {
	return check("", reflect.ValueOf(v))
}

// Validate is Check, followed by v's own method Validate if it has one.
func Validate(v any) error {
	err := Check(v)
	if c, ok := v.(interface{ Validate() error }); ok && err == nil {
		err = c.Validate()
	}
	return err
}

// maxEntries is the largest length of a list with a range, such as the widths of a network's layers.
const maxEntries = 64

func check(path string, v reflect.Value) error {
	if v = unwrap(v); v.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fields(v.Type()) {
		if f.constant != nil {
			continue
		}
		if err := f.check(join(path, f.name), v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

// check checks the field's value, or an entry of it.
func (f *field) check(key string, v reflect.Value) error {
	bad, value, want := false, fmt.Sprint(v), "a finite number"
	if f.bounds != nil {
		want = f.bounds.String()
	}
	switch {
	case v.Kind() == reflect.String:
		bad = f.choices != nil && !slices.Contains(f.choices, v.String())
		value, want = describe(v.String()), oneOf(f.choices)
	case v.CanInt():
		bad = !f.bounds.contain(float64(v.Int()), 64)
	case v.CanUint():
		bad = !f.bounds.contain(float64(v.Uint()), 64)
	case v.CanFloat():
		bad = !f.bounds.contain(v.Float(), v.Type().Bits())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		if f.bounds != nil && v.Len() > maxEntries {
			return fmt.Errorf("%s has %d entries, want %d at most", key, v.Len(), maxEntries)
		}
		for i := range v.Len() {
			if err := f.check(fmt.Sprintf("%s[%d]", key, i), v.Index(i)); err != nil {
				return err
			}
		}
	default:
		return check(key, v)
	}
	if bad {
		return invalid(key, value, want, f.help)
	}
	return nil
}

// Bounds limit a number, or each entry of a list of numbers.
type Bounds struct {
	Min, Max         float64 // Max is infinite without an upper bound
	MinOpen, MaxOpen bool    // the bound itself is not allowed
}

// contain compares a finite x with the bounds in its own precision: a float32 of 0.1 is within "0..0.1".
func (b *Bounds) contain(x float64, bits int) bool {
	if b == nil || math.IsInf(x, 0) {
		return x-x == 0 // neither NaN nor infinite
	}
	low, high := b.Min, b.Max
	if bits == 32 {
		low, high = float64(float32(low)), float64(float32(high))
	}
	return x >= low && x <= high && !(b.MinOpen && x == low) && !(b.MaxOpen && x == high)
}

// String is "0 to 1" for "0..1", "above 0 and at most 1" for "(0..1]" and "at least 0" for "0..".
func (b *Bounds) String() string {
	low, high := formatFloat(b.Min, 64), formatFloat(b.Max, 64)
	if !b.MinOpen && !b.MaxOpen && !math.IsInf(b.Max, 0) {
		return low + " to " + high
	}
	s := "at least " + low
	if b.MinOpen {
		s = "above " + low
	}
	switch {
	case math.IsInf(b.Max, 0):
		return s
	case b.MaxOpen:
		return s + " and below " + high
	}
	return s + " and at most " + high
}

// bounds reads a field's tag range; nil without one. A malformed tag is a mistake in the program and panics.
func bounds(f reflect.StructField) *Bounds {
	tag, ok := f.Tag.Lookup("range")
	if !ok {
		return nil
	}
	low, high, _ := strings.Cut(strings.Trim(tag, "[]()"), "..")
	b := &Bounds{MinOpen: strings.HasPrefix(tag, "("), MaxOpen: strings.HasSuffix(tag, ")")}
	var errs [2]error
	b.Min, errs[0] = strconv.ParseFloat(low, 64)
	b.Max, errs[1] = strconv.ParseFloat(cmp.Or(high, "inf"), 64)
	if cmp.Or(errs[0], errs[1]) != nil || b.Min > b.Max {
		panic(fmt.Sprintf("conf: field %s has the range %q, want something like 1..4096", f.Name, tag))
	}
	return b
}

// oneOf lists choices as a help text does; an empty one is called so.
func oneOf(choices []string) string {
	var names []string
	for _, c := range choices {
		names = append(names, cmp.Or(c, `"" (empty)`))
	}
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}
