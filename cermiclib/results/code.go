// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
)

// OtherCode returns the head of a run that differs from experiment, a canonical JSON, only in the code of a task or
// method that a notebook defines. It prefers a complete one. It returns nil if there is none, or if the experiment has
// no such code.
func (s *Store) OtherCode(experiment []byte) (found *Record, err error) {
	own, ok := withoutCode(experiment)
	if !ok {
		return nil, nil
	}
	heads, err := s.Heads(Query{})
	for _, r := range heads {
		other, ok := withoutCode(r.Experiment)
		if ok && bytes.Equal(own, other) && !bytes.Equal(r.Experiment, experiment) && (found == nil || r.Complete) {
			found = r
		}
	}
	return found, err
}

// withoutCode removes the hashes of code from an experiment; ok is false if it has none.
func withoutCode(experiment []byte) (text []byte, ok bool) {
	if !bytes.Contains(experiment, []byte(`"code":`)) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(experiment))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || !removeCode(v) {
		return nil, false
	}
	text, err := json.Marshal(v)
	return text, err == nil
}

// removeCode deletes the field "code" of each configuration in v, and reports whether there was one.
func removeCode(v any) (found bool) {
	var inner []any
	switch v := v.(type) {
	case map[string]any:
		if v["kind"] != nil && v["code"] != nil {
			delete(v, "code")
			found = true
		}
		for _, x := range v {
			inner = append(inner, x)
		}
	case []any:
		inner = v
	}
	for _, x := range inner {
		found = removeCode(x) || found
	}
	return found
}
