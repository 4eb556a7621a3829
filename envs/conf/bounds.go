// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Bounds are the smallest and the largest value of a whole number, or of each entry of a list of them. A field declares them beside its
// key, `range:"1..4096"`, so that a number which no machine could follow is a sentence before anything is allocated.
type Bounds struct{ Min, Max int64 }

// MaxEntries is how many entries a bounded list may have: the layers of a network.
const MaxEntries = 64

func (b Bounds) String() string { return fmt.Sprintf("%d to %d", b.Min, b.Max) }

// bounds reads a field's tag; it is nil without one, and panics at one that cannot be read, which is a mistake in the program.
func bounds(f reflect.StructField) *Bounds {
	tag, ok := f.Tag.Lookup("range")
	if !ok {
		return nil
	}
	low, high, _ := strings.Cut(tag, "..")
	b := &Bounds{}
	var errs [2]error
	b.Min, errs[0] = strconv.ParseInt(low, 10, 64)
	b.Max, errs[1] = strconv.ParseInt(high, 10, 64)
	if cmp.Or(errs[0], errs[1]) != nil || b.Min > b.Max {
		panic(fmt.Sprintf("conf: field %s has the range %q, want something like 1..4096", f.Name, tag))
	}
	return b
}

// InRange returns one sentence about the first whole number in v, a config or a struct of them, that is outside the bounds which its
// field declares. It says nothing about fields without bounds.
func InRange(v any) error {
	if v == nil {
		return nil
	}
	return inRange("", reflect.ValueOf(v))
}

func inRange(path string, v reflect.Value) error {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	known, err := fields(v.Type())
	if err != nil {
		return err
	}
	for _, f := range known {
		x := v.FieldByIndex(f.index)
		if f.bounds == nil {
			err = inRange(join(path, f.name), x)
		} else {
			err = f.bounds.hold(join(path, f.name), x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hold refuses a number, or an entry of a list, outside b.
func (b *Bounds) hold(path string, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Slice && v.Len() > MaxEntries:
		return fmt.Errorf("%s has %d entries, want %d at most", path, v.Len(), MaxEntries)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := b.hold(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case v.CanInt() && (v.Int() < b.Min || v.Int() > b.Max):
		return fmt.Errorf("%s is %d, want %v", path, v.Int(), b)
	case v.CanUint() && (int64(v.Uint()) < 0 || int64(v.Uint()) < b.Min || int64(v.Uint()) > b.Max):
		return fmt.Errorf("%s is %d, want %v", path, v.Uint(), b)
	}
	return nil
}
