// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"errors"
	"testing"

	"cermic/cermiclib/results"
)

// What a cell that was stopped goes on with must be there: a nil record shown would be a stack trace.
func TestWhatIsNilIsNothingToGoOnWith(t *testing.T) {
	var none *results.Record
	var list []*results.Record
	var fault error
	if !isNil(none) || !isNil(list) || !isNil(fault) {
		t.Error("nil is taken for a value")
	}
	if isNil(&results.Record{}) || isNil(3) || isNil("") || isNil(errors.New("x")) || isNil([]int{}) {
		t.Error("a value is taken for nil")
	}
}
