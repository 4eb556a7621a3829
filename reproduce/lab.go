// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"cermic/cermiclib/nn"
)

// runLab opens JupyterLab on the notebooks. What stands behind -- are JupyterLab's own flags.
func runLab(ctx context.Context, out io.Writer, args []string) error {
	var own []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, own = args[:i], args[i+1:]
	}
	var quiet bool
	var port int
	if _, err := parse("lab", out, args, 0, func(f *flag.FlagSet) {
		f.BoolVar(&quiet, "no-browser", false, "print the address and open no browser")
		f.IntVar(&port, "port", 0, "the `port` to listen on; 0: JupyterLab's own choice, 8888 or the next free one")
	}); err != nil {
		return err
	}
	if port < 0 || port > 65535 {
		return usagef("-port is %d, want 1 to 65535", port)
	}
	own = append(labFlags(quiet, port, os.Geteuid() == 0, inContainer()), own...) // of two the last one counts
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
	lab := exec.Command(s.python(), append([]string{"-m", "jupyterlab"}, own...)...)
	lab.Dir = s.path("notebooks")
	lab.Env = append(neutral(), s.jupyterPath(), s.jupyterConfig())
	lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, direct(out), os.Stderr
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := ctx.Err(); err != nil {
		return err
	}
	return attend(lab, signals)
}

// attend runs JupyterLab and waits for its end. The first signal is passed on as SIGTERM, on which it asks its kernels to end and asks nobody
// else; the second one kills it, since without this process nobody would know of it. A stop is reported as context.Canceled.
func attend(lab *exec.Cmd, signals <-chan os.Signal) error {
	if err := lab.Start(); err != nil {
		return fmt.Errorf("JupyterLab does not start: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- lab.Wait() }()
	for asked := false; ; asked = true {
		select {
		case err := <-ended:
			switch {
			case asked:
				return context.Canceled
			case err != nil:
				return fmt.Errorf("JupyterLab ended: %w", err)
			}
			return nil
		case <-signals:
			if asked || lab.Process.Signal(syscall.SIGTERM) != nil { // Windows knows no SIGTERM
				_ = lab.Process.Kill()
			}
		}
	}
}

// firstPage is what JupyterLab opens on.
const firstPage = "/lab/tree/00_start.ipynb"

// labFlags are JupyterLab's flags for ours. It refuses to run as root, which is what a person is in most containers; there it is no more
// dangerous than as anybody else, and there is no browser.
func labFlags(quiet bool, port int, root, container bool) []string {
	flags := []string{"--LabApp.default_url=" + firstPage}
	if quiet || container {
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

// inContainer reports whether this process runs in a container of Docker, Podman or Kubernetes.
func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}

// jupyterPath is the environment variable that makes Jupyter find this repository's kernel.
func (s setup) jupyterPath() string {
	return inFront("JUPYTER_PATH", s.path("reproduce", "jupyter"))
}

// jupyterConfig is the environment variable that makes JupyterLab keep outputs out of tracked notebooks.
func (s setup) jupyterConfig() string {
	return inFront("JUPYTER_CONFIG_PATH", s.path("reproduce", "jupyter", "config"))
}

// inFront puts a folder before those that a variable of the environment names.
func inFront(variable, folder string) string {
	if others := os.Getenv(variable); others != "" {
		folder += string(filepath.ListSeparator) + others
	}
	return variable + "=" + folder
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
