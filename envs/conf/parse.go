// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a config file; real ones stay below ten.
const maxDepth = 64

// object is a JSON object in the order of the file. The other JSON values are []any, string, json.Number, bool and nil.
type object []member

type member struct {
	key   string
	value any
}

// parse reads one JSON value. It is stricter than encoding/json: a key that comes twice, text that is not UTF-8 and
// anything after the value are errors.
func parse(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the config is not UTF-8 text")
	}
	// The check of the whole text comes first: it is strict about commas, and its errors know their place.
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, syntaxError(data, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return parseValue(dec, "", 0)
}

func parseValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the config is nested more than %d levels deep", maxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return parseObject(dec, path, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			item, err := parseValue(dec, fmt.Sprintf("%s[%d]", path, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := dec.Token()
		return list, err
	}
	return token, nil
}

func parseObject(dec *json.Decoder, path string, depth int) (any, error) {
	obj, seen := object{}, map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the text was checked: only a string can stand here
		if seen[key] {
			return nil, fmt.Errorf("%s is given twice", join(path, key))
		}
		seen[key] = true
		value, err := parseValue(dec, join(path, key), depth+1)
		if err != nil {
			return nil, err
		}
		obj = append(obj, member{key, value})
	}
	_, err := dec.Token()
	return obj, err
}

// syntaxError says on which line and column the text stops being JSON.
func syntaxError(data []byte, err error) error {
	var syntax *json.SyntaxError
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the config is empty, want a JSON object")
	}
	if !errors.As(err, &syntax) {
		return err
	}
	before := data[:min(max(int(syntax.Offset)-1, 0), len(data))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	reason := strings.TrimPrefix(syntax.Error(), "json: ")
	return fmt.Errorf("the config is not JSON: line %d, column %d: %s", line, column, reason)
}
