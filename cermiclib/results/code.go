// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"regexp"
)

// codeField is the hash of the code of a task or method that a notebook defines, in canonical JSON. The field "kind"
// always follows it.
var codeField = regexp.MustCompile(`"code":"[0-9a-f]*",`)

// OtherCode returns the head of a run that differs from experiment, a canonical JSON, only in the code of a task or
// method that a notebook defines. It prefers a complete one. It returns nil if there is none, or if the experiment has
// no such code.
func (s *Store) OtherCode(experiment []byte) (found *Record, err error) {
	if !codeField.Match(experiment) {
		return nil, nil
	}
	without := func(e []byte) []byte { return codeField.ReplaceAll(e, nil) }
	heads, err := s.Heads(Query{})
	for _, r := range heads {
		if bytes.Equal(without(experiment), without(r.Experiment)) && !bytes.Equal(r.Experiment, experiment) &&
			(found == nil || r.Complete) {
			found = r
		}
	}
	return found, err
}
