// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func labCommand() *cobra.Command {
	var noBrowser bool
	var port uint16
	cmd := &cobra.Command{
		Use:     "lab [-- FLAG...]",
		Short:   "Open the notebooks in JupyterLab; runs setup first",
		Long:    "Opens the notebooks in JupyterLab after setup. Arguments behind -- are JupyterLab's own flags.",
		Example: "  lab -no-browser -port 8890 -- --ip=0.0.0.0",
		Args: func(cmd *cobra.Command, args []string) error {
			if before := cmd.ArgsLenAtDash(); before > 0 || before < 0 && len(args) > 0 {
				return usagef("lab takes no argument %q: JupyterLab's own flags follow --", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetup(cmd)
			if err != nil {
				return err
			}
			if err := s.all(); err != nil {
				return err
			}
			flags := labFlags(noBrowser, port, os.Geteuid() == 0, inContainer())
			lab := exec.CommandContext(s.ctx, s.python(), slices.Concat([]string{"-m", "jupyterlab"}, flags, args)...)
			lab.Dir = s.path("notebooks")
			config := prepend("JUPYTER_CONFIG_PATH", s.path("reproduce", "jupyter", "config"))
			lab.Env = append(neutral(), s.jupyterPath(), config)
			lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, s.out, os.Stderr
			return attend(s.ctx, lab)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	cmd.Flags().Uint16Var(&port, "port", 0, "`port` to listen on (default 8888 or the next free one)")
	return cmd
}

// attend runs JupyterLab, a command of ctx. A stop becomes SIGTERM, which ends its kernels without a question. A second
// signal ends this program.
func attend(ctx context.Context, lab *exec.Cmd) error {
	lab.Cancel = func() error { return lab.Process.Signal(syscall.SIGTERM) }
	lab.WaitDelay = time.Minute
	if err := lab.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("JupyterLab ended: %w", err)
	}
	return ctx.Err()
}

const firstPage = "/lab/tree/00_start.ipynb"

// labFlags translates our flags into JupyterLab's. JupyterLab needs a flag to run as root, as most containers do;
// these have no browser either.
func labFlags(noBrowser bool, port uint16, root, container bool) []string {
	flags := []string{"--LabApp.default_url=" + firstPage}
	if noBrowser || container {
		flags = append(flags, "--no-browser")
	}
	if port > 0 {
		flags = append(flags, fmt.Sprintf("--port=%d", port))
	}
	if root && container {
		flags = append(flags, "--allow-root")
	}
	return flags
}

func inContainer() bool {
	return exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}

// jupyterPath is the environment variable that makes Jupyter find this repository's kernel.
func (s setup) jupyterPath() string { return prepend("JUPYTER_PATH", s.path("reproduce", "jupyter")) }

func prepend(variable, folder string) string {
	if others := os.Getenv(variable); others != "" {
		folder += string(filepath.ListSeparator) + others
	}
	return variable + "=" + folder
}
