// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"cermic/reproduce/plan"
)

// runList names what can be trained.
func runList(_ context.Context, out io.Writer, args []string) error {
	if _, err := parse("list", out, args, 0, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	fmt.Fprintln(out, "Tasks (* = trained on a sparse reward)")
	for _, t := range plan.Tasks() {
		star := " "
		if t.Star {
			star = "*"
		}
		fmt.Fprintf(out, "  %-52s%s %s\n", t.ID, star, t.About)
	}
	return nil
}
