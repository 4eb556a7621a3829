// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/go-xla/installer"
	"github.com/spf13/cobra"

	"cermic/cermiclib/nn"
)

// setupCommand makes .venv (JupyterLab, XLA's plug-in) and .bin (the Go kernel) in the repository. It changes nothing
// outside it but the caches of pip and Go, and leaves existing parts alone.
func setupCommand() *cobra.Command {
	var gpu bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install JupyterLab, XLA's plug-in and the Go kernel into .venv and .bin",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := newSetup(cmd)
			if err != nil {
				return err
			}
			s.gpu = s.gpu || gpu
			return s.all()
		},
	}
	cmd.Flags().BoolVar(&gpu, "gpu", false, "install XLA for NVIDIA GPUs even without one, for an image")
	return cmd
}

// repository finds the root of this repository from the working directory upwards.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module cermic\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("this is not a folder of the repository: change to it first")
		}
		dir = filepath.Dir(dir)
	}
}

// setup holds what every step needs.
type setup struct {
	ctx  context.Context
	out  io.Writer
	root string
	gpu  bool     // install XLA's plug-in for one
	env  []string // added to the environment of programs
}

func newSetup(cmd *cobra.Command) (setup, error) {
	root, err := repository()
	return setup{ctx: cmd.Context(), out: cmd.OutOrStdout(), root: root, gpu: nn.HasGPU()}, err
}

func (s setup) path(elements ...string) string {
	return filepath.Join(append([]string{s.root}, elements...)...)
}

func (s setup) python() string { return s.pythonIn(".venv") }

// all runs the steps in order; each prints one line.
func (s setup) all() error {
	if err := s.packages("jupyter", "JupyterLab, about 30 s", ".venv", "reproduce/jupyter/requirements.txt"); err != nil {
		return err
	}
	s.plugins()
	// The kernel works without a proxy, in a workspace. A workspace reads the go.mod files of modules that a plain
	// build never needs.
	if err := s.step("modules", "Go modules", false, func() error {
		if _, err := s.output("go", "mod", "download"); err != nil {
			return fmt.Errorf("go could not download the modules (is there a network?): %w", err)
		}
		return nil
	}); err != nil {
		return err
	}
	return s.tools()
}

// step runs one piece of work, unless it is done, and prints how long it took.
func (s setup) step(name, what string, done bool, work func() error) error {
	if done {
		s.ready(name, "already there")
		return nil
	}
	fmt.Fprintf(s.out, "%-8s %s ... ", name, what)
	start := time.Now()
	if err := work(); err != nil {
		fmt.Fprintln(s.out, "failed")
		return err
	}
	fmt.Fprintf(s.out, "%.1f s\n", time.Since(start).Seconds())
	return nil
}

// ready prints the line of a step that has nothing to do.
func (s setup) ready(name, why string) { fmt.Fprintf(s.out, "%-8s %s\n", name, why) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// venv makes a virtual environment with the Python that PYTHON names, which must be 3.11 or newer.
func (s setup) venv(folder string) error {
	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	version, err := s.output(python, "-c", "import sys; print(sys.version_info >= (3, 11), sys.version.split()[0])")
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s was not found: install Python 3.11 or newer "+
			"(on Debian and Ubuntu: apt install python3 python3-venv), or name one in PYTHON", python)
	}
	if err != nil {
		return fmt.Errorf("%s does not run: %w", python, err)
	}
	if enough, number, _ := strings.Cut(strings.TrimSpace(version), " "); enough != "True" {
		return fmt.Errorf("%s is Python %s: install 3.11 or newer, or name one in PYTHON", python, number)
	}
	if _, err := s.output(python, "-m", "venv", folder); err != nil {
		os.RemoveAll(folder) // an incomplete one would pass for a complete one
		return fmt.Errorf("%s cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv): %w",
			python, err)
	}
	return nil
}

// pythonIn is the interpreter of a virtual environment in a folder of the repository.
func (s setup) pythonIn(folder string) string {
	if runtime.GOOS == "windows" {
		return s.path(folder, "Scripts", "python.exe")
	}
	return s.path(folder, "bin", "python")
}

func (s setup) pip(folder string, args ...string) error {
	// An empty PIP_TARGET would not outweigh the target of a configuration file.
	args = append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target="}, args...)
	_, err := s.output(s.pythonIn(folder), args...)
	return err
}

// packages is unchecked for a file in which every package has hashes, which pip checks.
func (s setup) packages(name, what, folder, file string, flags ...string) error {
	return s.unchecked(name, what, folder, file, append(flags, "--require-hashes")...)
}

// unchecked installs a file of pinned requirements into a virtual environment, once, and makes the environment if there
// is none. Both are named from the repository's root.
func (s setup) unchecked(name, what, folder, file string, flags ...string) error {
	requirements := s.path(file)
	stamp := s.path(folder, "installed-"+strings.ReplaceAll(file, "/", "-"))
	return s.step(name, what, upToDate(stamp, requirements), func() error {
		if !exists(s.pythonIn(folder)) {
			if err := s.venv(s.path(folder)); err != nil {
				return err
			}
		}
		if err := s.pip(folder, append(flags, "-r", requirements)...); err != nil {
			return fmt.Errorf("pip could not install %s (check the network; delete a damaged %s): %w", file, folder, err)
		}
		return mark(stamp, requirements)
	})
}

// wheelPlatform is the only system of the wheel of XLA's CPU plug-in, lammps-jax-pjrt-cpu 0.11.2. The committed records
// have its bits, and pip compares it with the hash in requirements-xla.txt.
const wheelPlatform = "linux/amd64"

// plugins installs XLA where it can run. Nothing here is an error: without XLA the pure Go backend does the work.
func (s setup) plugins() {
	const slower = "graphs will run on the pure Go backend, " + nn.Slower
	if !s.compiler() {
		if s.ctx.Err() != nil {
			return // the next step says that it was stopped
		}
		s.ready("xla", "there is no C compiler: "+slower+"; install gcc and run setup again")
		return
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if err := s.cpuPlugin(platform); err != nil && s.ctx.Err() == nil {
		s.ready("xla", err.Error()+"; "+slower)
	}
	if !s.gpu || platform != wheelPlatform {
		return
	}
	if err := s.packages("cuda", "XLA for the GPU, 4 GB once installed", ".venv",
		"reproduce/jupyter/requirements-cuda.txt", "--no-deps"); err != nil {
		s.ready("", err.Error()+"; graphs will run on the CPU")
	}
}

// cpuPlugin installs XLA for the CPU: the wheel on its platform, and go-xla's build elsewhere or if the wheel fails.
func (s setup) cpuPlugin(platform string) error {
	if platform == wheelPlatform {
		err := s.packages("xla", "XLA for the CPU, 63 MB", ".venv", "reproduce/jupyter/requirements-xla.txt", "--no-deps")
		if err == nil || s.ctx.Err() != nil {
			return err
		}
		s.ready("", err.Error()+"; go-xla's build is tried instead")
	}
	if !slices.Contains(installer.CPUSupportedPlatforms, strings.ReplaceAll(platform, "/", "_")) {
		return errors.New("there is no XLA plug-in for " + platform)
	}
	dir := s.path(".venv", "lib", "go-xla")
	return s.step("xla", "XLA for the CPU, from go-xla", exists(filepath.Join(dir, nn.CPUPlugin)), func() (err error) {
		unzips := runtime.GOOS == "windows" // the installer tells a zip by its name, which only its cache keeps
		nn.Quietly(func() { err = installer.CPUAutoInstall(dir, unzips, installer.Quiet) })
		if err != nil {
			return fmt.Errorf("XLA's plug-in could not be installed from github.com/%s (%w): run setup again with a network, "+
				"set GH_TOKEN if GitHub refuses, or name a folder with your own %s in %s",
				installer.BinaryCPUReleasesRepo, err, nn.CPUPlugin, nn.PluginVariable)
		}
		return nil
	})
}

// compiler reports whether Go would build with cgo, which XLA needs; a stop keeps it from finding out.
func (s setup) compiler() bool {
	text, err := s.output("go", "env", "CGO_ENABLED", "CC")
	enabled, compiler, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if err != nil || enabled != "1" || compiler == "" {
		return false
	}
	_, err = exec.LookPath(strings.Fields(compiler)[0])
	return err == nil
}

// tools builds the kernel and the programs that it calls into .bin, in the versions that go.mod names.
func (s setup) tools() error {
	stamp := s.path(".bin", "installed-go.mod")
	done := exists(s.path(".bin", "gonb")) && exists(s.path(".bin", "goimports")) && upToDate(stamp, s.path("go.mod"))
	return s.step("kernel", "the Go kernel for Jupyter, about two minutes", done, func() error {
		kernel := s.with("GOBIN=" + s.path(".bin"))
		if _, err := kernel.output("go", "install", "github.com/janpfeifer/gonb",
			"golang.org/x/tools/cmd/goimports"); err != nil {
			return fmt.Errorf("go could not build the kernel: %w", err)
		}
		// The first cell would have to build all that it imports, with the setting of
		// reproduce/jupyter/kernels/gonb/start.
		if _, err := s.with("GOEXPERIMENT=simd").output("go", "build", "./notebooks/...", "./cermiclib/..."); err != nil {
			return fmt.Errorf("go could not build the library: %w", err)
		}
		return mark(stamp, s.path("go.mod"))
	})
}

// with is s with a further environment variable for its programs.
func (s setup) with(variable string) setup {
	s.env = append(slices.Clone(s.env), variable)
	return s
}

// neutral is the environment without the user's settings of pip, Python and Go that would install, import or build
// outside .venv and the repository. An index of packages, a proxy and certificates keep their settings.
func neutral() []string {
	return append(os.Environ(), "PIP_USER=0", "PIP_PREFIX=", "PIP_ROOT=", "PIP_DRY_RUN=0",
		"PYTHONPATH=", "PYTHONHOME=", "GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}

// output runs a program in the repository and returns what it prints; an error carries the last line of its complaint.
func (s setup) output(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir, cmd.Env = s.root, append(neutral(), s.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if s.ctx.Err() != nil {
		return "", s.ctx.Err()
	}
	if err != nil {
		complaint := strings.TrimSpace(stderr.String())
		return "", fmt.Errorf("%w: %s", err, complaint[strings.LastIndex(complaint, "\n")+1:])
	}
	return stdout.String(), nil
}

// upToDate reports whether stamp is a copy of the current file.
func upToDate(stamp, file string) bool {
	was, err := os.ReadFile(stamp)
	is, failed := os.ReadFile(file)
	return err == nil && failed == nil && bytes.Equal(was, is)
}

// mark copies a file to stamp, since the work for it is done.
func mark(stamp, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(stamp, text, 0o666)
}
