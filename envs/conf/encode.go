// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marshal returns the canonical JSON of v, a config or a struct of configs: keys sorted, every value written out whether
// or not it is a default, the shortest decimal that reads back as the same float, no spaces. Equal configs have equal
// bytes. A number that is not finite, which JSON cannot hold, is an error that names its dotted key.
//
// Settings that were added later leave older configs their identity: a field tagged json:",omitzero" is left out while it is
// zero, or its own method IsZero says so, which registered defaults must keep it; one tagged conf:"omitdefault" while it has the value of the config's
// registered default, which must never change again. A list tagged conf:"scalar" is written as its entry if it has only one.
func Marshal(v any) ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	var e encoder
	if err := e.value("", reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return e.Bytes(), nil
}

// MarshalIndent is Marshal for people: the same keys in the same order, indented by two spaces.
func MarshalIndent(v any) ([]byte, error) {
	data, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
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

type encoder struct{ bytes.Buffer }

// value writes v, which the dotted key path names.
func (e *encoder) value(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		e.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return fmt.Errorf("%s is %g, want a finite number", named(path), v.Float())
		}
		e.WriteString(formatFloat(v.Float(), v.Type().Bits()))
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%s is %q, want text in UTF-8", named(path), v.String())
		}
		e.text(v.String())
	case reflect.Slice, reflect.Array:
		return e.list(path, v)
	case reflect.Struct:
		return e.object(path, v)
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			e.WriteString("null")
			return nil
		}
		return e.value(path, v.Elem())
	default:
		return unsupported(path, v.Type())
	}
	return nil
}

func (e *encoder) list(path string, v reflect.Value) error {
	e.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.WriteByte(',')
		}
		if err := e.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
			return err
		}
	}
	e.WriteByte(']')
	return nil
}

func (e *encoder) object(path string, v reflect.Value) error {
	shared, err := fields(v.Type())
	if err != nil {
		return err
	}
	keys := slices.Clone(shared)
	kind, isConfig := kindOf(v)
	if isConfig {
		keys = append(keys, field{name: kindKey})
	}
	code := ""
	if isConfig {
		if code = codeOf(v.Type()); code != "" {
			keys = append(keys, field{name: codeKey})
		}
	}
	usual, known := registered(kind, v.Type())
	keys = slices.DeleteFunc(keys, func(f field) bool {
		return f.index != nil && (f.omitZero && isZero(v.FieldByIndex(f.index)) ||
			f.omitDefault && known && reflect.DeepEqual(v.FieldByIndex(f.index).Interface(), usual.FieldByIndex(f.index).Interface()))
	})
	slices.SortFunc(keys, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	e.WriteByte('{')
	for i, f := range keys {
		if i > 0 {
			e.WriteByte(',')
		}
		e.text(f.name)
		e.WriteByte(':')
		if f.index == nil {
			e.text(map[string]string{kindKey: kind, codeKey: code}[f.name])
			continue
		}
		if err := e.value(join(path, f.name), f.in(v)); err != nil {
			return err
		}
	}
	e.WriteByte('}')
	return nil
}

// isZero reports whether a field tagged omitzero is to be left out.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return v.IsZero()
}

// text writes s as a JSON string, without the escapes for HTML that would make it harder to read.
func (e *encoder) text(s string) {
	enc := json.NewEncoder(&e.Buffer)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("conf: a string cannot be encoded: " + err.Error()) // encoding/json encodes every string
	}
	e.Truncate(e.Len() - 1) // the encoder's line feed
}

// formatFloat is the shortest decimal that reads back as x: plain up to 21 digits, else with an exponent. Negative zero
// is written as 0: the two are equal, so they must not give a config two identities.
func formatFloat(x float64, bits int) string {
	if x == 0 {
		return "0"
	}
	if a := math.Abs(x); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	s := strconv.FormatFloat(x, 'e', -1, bits)
	s = strings.Replace(s, "e-0", "e-", 1)
	return strings.Replace(s, "e+", "e", 1)
}

// join appends key to a dotted path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// named is how an error speaks of the value at path.
func named(path string) string {
	if path == "" {
		return "the config"
	}
	return path
}

func unsupported(path string, t reflect.Type) error {
	return fmt.Errorf("%s has type %s, which a config cannot hold", named(path), t)
}
