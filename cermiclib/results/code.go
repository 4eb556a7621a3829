// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
)

// OtherCode returns the head of a run whose settings are those of experiment, a canonical JSON, but for the code of a task or a method that
// somebody has written into a program of their own, as into a cell; nil if there is none or the experiment has no such code. Of several
// it is a complete one, if there is any.
func (s *Store) OtherCode(experiment []byte) (*Record, error) {
	own, has := withoutCode(experiment)
	if !has {
		return nil, nil
	}
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	var found *Record
	for _, id := range ids {
		r, err := s.Head(id)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if other, has := withoutCode(r.Experiment); has && bytes.Equal(own, other) && !bytes.Equal(r.Experiment, experiment) {
			if r.Complete {
				return r, nil
			}
			found = r
		}
	}
	return found, nil
}

// withoutCode is an experiment without the hashes of its code, and whether it has any.
func withoutCode(experiment []byte) (text []byte, has bool) {
	if !bytes.Contains(experiment, []byte(`"code":`)) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(experiment))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	has = removeCode(v)
	text, err := json.Marshal(v)
	return text, has && err == nil
}

func removeCode(v any) (found bool) {
	switch v := v.(type) {
	case map[string]any:
		if _, isConfig := v["kind"]; isConfig && v["code"] != nil {
			delete(v, "code")
			found = true
		}
		for _, inner := range v {
			found = removeCode(inner) || found
		}
	case []any:
		for _, inner := range v {
			found = removeCode(inner) || found
		}
	}
	return found
}
