// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"fmt"
	"strings"
	"testing"

	"cermic/viz"
)

func ExampleBox() {
	fmt.Print(viz.Box{Mark: viz.Bad, Head: "contradicted", Text: "All is well.", Lines: []string{"It is not."}}.Plain())
	// Output:
	// ✗ contradicted: All is well.
	//   It is not.
}

func TestBoxesFoldAllButThreeLinesAndEscapeHTML(t *testing.T) {
	page := viz.Box{Head: "a<b", Lines: []string{"1", "2", "3", "4", "5"}}.HTML()
	if !strings.Contains(page, "a&lt;b") || !strings.Contains(page, "2 more") || strings.Count(page, "details>") != 2 {
		t.Errorf("got %s", page)
	}
	if page := (viz.Box{Lines: []string{"1"}}).HTML(); strings.Contains(page, "details") {
		t.Errorf("a single line is folded: %s", page)
	}
}
