// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"cermic/cermiclib/nn"
)

// runLab opens JupyterLab on the notebooks. Its arguments are JupyterLab's own.
func runLab(ctx context.Context, out io.Writer, args []string) error {
	if len(args) > 0 && isHelp(args[0]) {
		fmt.Fprint(out, "go run ./reproduce lab [-- flags of jupyter lab]\n  for example: lab -- --no-browser --port 8890\n")
		return flag.ErrHelp
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	root, err := repository()
	if err != nil {
		return err
	}
	s := setup{ctx: ctx, out: out, root: root, gpu: nn.HasGPU()}
	if err := s.all(); err != nil {
		return err
	}
	if err := s.quiet(); err != nil {
		return err
	}
	// Not bound to ctx: an interrupt reaches JupyterLab by itself, and it asks before it ends.
	lab := exec.Command(s.python(), append([]string{"-m", "jupyterlab"}, args...)...)
	lab.Dir = s.path("notebooks")
	lab.Env = append(os.Environ(), s.jupyterPath())
	lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, out, os.Stderr
	if err := lab.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("JupyterLab ended: %w", err)
	}
	return nil
}

// jupyterPath is the environment variable that makes Jupyter find this repository's kernel.
func (s setup) jupyterPath() string {
	path := s.path("notebooks")
	if others := os.Getenv("JUPYTER_PATH"); others != "" {
		path += string(filepath.ListSeparator) + others
	}
	return "JUPYTER_PATH=" + path
}

// quiet keeps JupyterLab from asking for news and updates of its own over the network, unless settings exist already.
func (s setup) quiet() error {
	file := s.path(".venv", "share", "jupyter", "lab", "settings", "overrides.json")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	const settings = `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}`
	return os.WriteFile(file, []byte(settings+"\n"), 0o666)
}
