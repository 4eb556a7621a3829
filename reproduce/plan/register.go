// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
)

// Register makes a method known by its ID, as those of this package are; it panics if the ID is taken or nothing is said about the
// method: both are programming errors found at start-up.
func Register(m Method) {
	if m.About == "" || slices.ContainsFunc(methods, func(known Method) bool { return known.ID == m.ID }) {
		panic(fmt.Sprintf("plan: method %q is registered twice, or has no About", m.ID))
	}
	methods = append(methods, m)
}
