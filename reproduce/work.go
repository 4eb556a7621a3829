// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cermic/reproduce/campaign"
	"cermic/viz"
)

func workCommand() *cobra.Command {
	var store string
	var index, bundle int
	cmd := &cobra.Command{
		Use:     "work MANIFEST",
		Short:   "Train one bundle of a campaign's manifest, as a task of a job array does",
		Example: "  work -index 0 -bundle 4 -store /shared/runs /shared/sota.jsonl",
		Args:    arguments(1, 1, "a manifest, which campaign -manifest writes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if index < 0 || bundle < 1 {
				return usagef("-index is %d and -bundle is %d, want at least 0 and 1", index, bundle)
			}
			es, err := campaign.ReadManifest(args[0])
			if err != nil {
				return err
			}
			if index > (len(es)-1)/bundle {
				return fmt.Errorf("%s has %s, so bundle %d is empty", args[0], viz.Count(len(es), "run"), index)
			}
			st, err := openStore(store)
			if err != nil {
				return err
			}
			es = es[index*bundle:]
			return trainRuns(cmd, es[:min(bundle, len(es))], st, 1)
		},
	}
	f := cmd.Flags()
	storeFlag(f, &store)
	f.IntVar(&index, "index", 0, "number of the bundle, from 0")
	f.IntVar(&bundle, "bundle", 1, "`runs` of a bundle")
	trainingFlags(f)
	return cmd
}
