// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

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
				err := s.packages("numpy", "NumPy into .venv", ".venv", "envs/python/requirements.txt")
				if err == nil {
					err = s.installWheel(".venv", file)
				}
				if err != nil {
					return err
				}
			}
			switch {
			case torch:
				return s.checkWheel(file, "requirements-torch")
			case check:
				return s.checkWheel(file, "requirements-check")
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

// installWheel installs the wheel, without the packages that it needs, into a virtual environment.
func (s setup) installWheel(folder, wheel string) error {
	return s.step("install", "the wheel into "+folder, false, func() error {
		if err := s.pip(folder, "--no-index", "--no-deps", "--force-reinstall", wheel); err != nil {
			return fmt.Errorf("pip could not install the wheel: %w", err)
		}
		return nil
	})
}

// checkWheel runs the tests in a virtual environment that has the wheel and the packages of a file of envs/python.
func (s setup) checkWheel(wheel, requirements string) error {
	folder := ".dist/" + requirements
	err := s.packages("packages", "of "+requirements, folder, "envs/python/"+requirements+".txt")
	if err == nil {
		err = s.installWheel(folder, wheel)
	}
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(s.ctx, s.pythonIn(folder), "-m", "unittest", "discover", "-v",
		"-s", s.path("envs", "python", "tests"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.path(".dist"), s.out, s.out
	cmd.Env = append(neutral(), "CERMIC_ENVS_LIBRARY=", "CERMIC_ENVS_REQUIRE="+requirements+".txt")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the tests of the Python package failed: %w", err)
	}
	return nil
}
