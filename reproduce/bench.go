// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cermic/envs/conf"
	"cermic/reproduce/bench"
	"cermic/reproduce/bench/peers"
)

func benchCommand() *cobra.Command {
	var group string
	var beside bool
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure the speed of this machine, beside VMAS, torch and BenchMARL",
		Example: "  bench -only update\n  bench -peers -only env",
		RunE: func(cmd *cobra.Command, _ []string) error {
			groups := bench.Groups()
			if beside {
				groups = peers.Groups
			}
			if name, _, _ := strings.Cut(group, "/"); name != "" && !slices.Contains(groups, name) {
				return usagef("unknown group %q%s", group, conf.Near(name, groups))
			}
			root, err := repository()
			if err != nil {
				return err
			}
			if !beside {
				return bench.Measure(cmd.Context(), cmd.OutOrStdout(), root, group)
			}
			s := setup{ctx: cmd.Context(), out: cmd.ErrOrStderr(), root: root}
			m := peers.Machine{
				Root:     root,
				Packages: s.unchecked, // peers have no hashes
				Wheel: func(folder string) error {
					file, err := s.wheel()
					if err != nil {
						return err
					}
					return s.installWheel(folder, file)
				},
				Python: func(folder string, args ...string) (string, error) {
					return s.output(s.pythonIn(folder), args...)
				},
			}
			return m.Measure(cmd.Context(), cmd.OutOrStdout(), group)
		},
	}
	f := cmd.Flags()
	f.StringVar(&group, "only", "", "measure one `group`: "+strings.Join(bench.Groups(), ", ")+
		"; methods and compile take minutes and run only on request; "+
		"with -peers "+strings.Join(peers.Groups, ", "))
	f.BoolVar(&beside, "peers", false, "alternate with VMAS, BenchMARL, torch, JaxMARL and Melting Pot here; "+
		"installs them into "+peers.Folder+" (7.2 GB)")
	backendFlag(f)
	return cmd
}
