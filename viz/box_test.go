// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"strings"
	"testing"
)

func ExampleBox() {
	fmt.Print(Box{Mark: Bad, Head: "contradicted", Text: "All is well.", Lines: []string{"It is not."}}.Plain())
	// Output:
	// ✗ contradicted: All is well.
	//   It is not.
}

func TestBoxesFoldAllButThreeLinesAndEscapeHTML(t *testing.T) {
	page := Box{Head: "a<b", Lines: []string{"1", "2", "3", "4", "5"}}.HTML()
	if !strings.Contains(page, "a&lt;b") || !strings.Contains(page, "2 more") || strings.Count(page, "details>") != 2 {
		t.Errorf("got %s", page)
	}
	if page := (Box{Lines: []string{"1"}}).HTML(); strings.Contains(page, "details") {
		t.Errorf("a single line is folded: %s", page)
	}
}
