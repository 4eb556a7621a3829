// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"cermic/cermiclib/experiment"
	"cermic/reproduce/campaign"
	"cermic/viz"
)

// runWork trains one bundle of a manifest: what a task of a job array does.
func runWork(ctx context.Context, out io.Writer, args []string) error {
	var store string
	var index, bundle int
	names, err := parse("work", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		f.IntVar(&index, "index", 0, "number of the bundle")
		f.IntVar(&bundle, "bundle", 1, "`runs` of a bundle")
		forceFlag(f, &ctx)
		backendFlag(f)
		portableFlag(f)
	})
	if err != nil {
		return err
	}
	if len(names) == 0 || index < 0 || bundle < 1 {
		return usagef("work needs a manifest, an index of at least 0 and bundles of at least 1")
	}
	es, err := campaign.ReadManifest(names[0])
	if err != nil {
		return err
	}
	if index > (len(es)-1)/bundle {
		return fmt.Errorf("%s has %s, so bundle %d is empty", names[0], viz.Count(len(es), "run"), index)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	es = es[index*bundle:]
	es = es[:min(bundle, len(es))]
	p := campaign.NewProgress(out, len(es))
	err = experiment.RunAll(ctx, es, st, 1, p.Watch)
	p.Done()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out, "Stopped and saved.")
		return errStopped
	}
	return err
}
