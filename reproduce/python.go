// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"cermic/cermiclib/results"
	"cermic/envs/python/wheel"
)

func pythonCommand() *cobra.Command {
	var install, check, torch bool
	cmd := &cobra.Command{
		Use:     "python",
		Short:   "Build the environments as a Python package, and install or check it",
		Example: "  python -install\n  python -check -torch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if torch && !check {
				return usagef("python -torch needs -check: add it, or leave out -torch")
			}
			s, err := newSetup(cmd)
			if err != nil {
				return err
			}
			file, err := s.wheel()
			if err != nil {
				return err
			}
			if install {
				if err := s.environment(); err != nil {
					return err
				}
				if err := s.step("install", "NumPy and the wheel into .venv", false, func() error {
					return s.installWheel(s.python(), file, "requirements.txt")
				}); err != nil {
					return err
				}
			}
			switch {
			case torch:
				return s.checkWheel(file, "requirements-torch.txt")
			case check:
				return s.checkWheel(file, "requirements-check.txt")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&install, "install", false, "install the wheel and NumPy into .venv")
	f.BoolVar(&check, "check", false, "test the package with NumPy, Gymnasium and PettingZoo, in an environment in .dist")
	f.BoolVar(&torch, "torch", false, "with -check: also with TorchRL and BenchMARL, which take several gigabytes")
	return cmd
}

// wheel builds the shared library and packs it with the Python files into .dist.
func (s setup) wheel() (string, error) {
	name, platform, err := wheel.Library(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", err
	}
	if !s.compiler() && s.ctx.Err() == nil {
		return "", errors.New("a shared library needs cgo and a C compiler: " +
			"install gcc (on Debian and Ubuntu: apt install gcc libc6-dev), or set CGO_ENABLED=1")
	}
	if err := os.MkdirAll(s.path(".dist"), 0o777); err != nil {
		return "", err
	}
	lib := s.path(".dist", name)
	if err := s.step("library", "the environments as a shared library", false, func() error {
		flags := []string{"build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", lib, "./envs/python/lib"}
		if _, err := s.output("go", flags...); err != nil {
			return fmt.Errorf("go could not build the shared library: %w", err)
		}
		return nil
	}); err != nil {
		return "", err
	}
	name, packed, err := wheel.Pack(s.path("envs", "python", "cermic_envs"), lib, s.path("LICENSE"), platform)
	if err != nil {
		return "", err
	}
	file := s.path(".dist", name)
	if err := results.WriteFile(file, packed); err != nil {
		return "", err
	}
	s.ready("wheel", filepath.Join(".dist", name))
	return file, nil
}

// installWheel installs pinned packages and then the wheel, which needs nothing beyond them.
func (s setup) installWheel(python, wheel, requirements string) error {
	if err := s.pip(python, "--require-hashes", "-r", s.path("envs", "python", requirements)); err != nil {
		return fmt.Errorf("pip could not install envs/python/%s (is there a network?): %w", requirements, err)
	}
	if err := s.pip(python, "--no-index", "--no-deps", "--force-reinstall", wheel); err != nil {
		return fmt.Errorf("pip could not install the wheel: %w", err)
	}
	return nil
}

// checkWheel runs the tests in a virtual environment that has the pinned packages and the wheel.
func (s setup) checkWheel(wheel, requirements string) error {
	folder := s.path(".dist", strings.TrimSuffix(requirements, ".txt"))
	python := pythonIn(folder)
	if err := s.step("packages", "of "+requirements, false, func() error {
		if !exists(python) {
			if err := s.venv(folder); err != nil {
				return err
			}
		}
		return s.installWheel(python, wheel, requirements)
	}); err != nil {
		return err
	}
	cmd := exec.CommandContext(s.ctx, python, "-m", "unittest", "discover", "-v", "-s", s.path("envs", "python", "tests"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.path(".dist"), s.out, s.out
	cmd.Env = append(neutral(), "CERMIC_ENVS_LIBRARY=", "CERMIC_ENVS_REQUIRE="+requirements)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the tests of the Python package failed: %w", err)
	}
	return nil
}
