// SPDX-License-Identifier: Apache-2.0

// Package peers measures other programs beside this one: VMAS, BenchMARL, torch, JAX with JaxMARL, and Melting Pot.
// They run on the same machine in the same minutes. Two programs take turns, and the result is the ratio of each
// turn.
package peers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed peers.py
var script string

//go:embed requirements.txt
var benchMARL string

//go:embed requirements-meltingpot.txt
var meltingPot string

//go:embed requirements-jax.txt
var jax string

// kind is what a Python environment holds.
type kind struct {
	what, size   string
	requirements string
	source       string // one more package, which is built here
}

var (
	benchMARLKind = kind{what: "BenchMARL, VMAS and torch", size: "5.6 GB", requirements: benchMARL}
	// TensorFlow, which only trained bots need, is left out.
	meltingPotKind = kind{what: "Melting Pot and DeepMind Lab2D", size: "0.7 GB", requirements: meltingPot,
		source: "dm-meltingpot==2.4.1"}
	jaxKind = kind{what: "JAX and JaxMARL", size: "0.9 GB", requirements: jax}
)

// Python is an environment in which peers are installed.
type Python struct{ dir string }

// install makes an environment in folder dir, unless it is there.
func install(ctx context.Context, out io.Writer, dir string, k kind) (Python, error) {
	p := Python{dir}
	stamp := filepath.Join(dir, "installed")
	if was, err := os.ReadFile(stamp); err == nil && string(was) == k.requirements {
		return p, nil
	}
	fmt.Fprintf(out, "installing %s into %s: %s, some minutes\n", k.what, dir, k.size)
	if _, err := output(exec.CommandContext(ctx, "python3", "-m", "venv", dir)); err != nil {
		return p, fmt.Errorf("python3 cannot make an environment in %s: %w", dir, err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(k.requirements), 0o666); err != nil {
		return p, err
	}
	if err := p.pip(ctx, "-r", list); err != nil {
		return p, fmt.Errorf("pip could not install %s (is there a network?): %w", k.what, err)
	}
	if k.source != "" {
		if err := p.build(ctx, k.source); err != nil {
			return p, fmt.Errorf("pip could not build %s: %w", k.source, err)
		}
	}
	return p, os.WriteFile(stamp, []byte(k.requirements), 0o666)
}

// pipInstall are the arguments of python that precede the arguments of an installation.
var pipInstall = []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}

func (p Python) pip(ctx context.Context, args ...string) error {
	_, err := output(p.command(ctx, slices.Concat(pipInstall, args)...))
	return err
}

// build installs Melting Pot's source without its trained bots. Its set-up would download them, but accepts an
// archive in the folder for temporary files instead.
func (p Python) build(ctx context.Context, source string) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bots := filepath.Join(dir, "bots", "assets")
	if err := os.MkdirAll(bots, 0o777); err != nil {
		return err
	}
	const pack = `import shutil, sys; shutil.make_archive(sys.argv[1], "gztar", sys.argv[2])`
	archive := filepath.Join(dir, "meltingpot-assets-2.3.0")
	if _, err := output(p.command(ctx, "-c", pack, archive, filepath.Dir(bots))); err != nil {
		return err
	}
	cmd := p.command(ctx, slices.Concat(pipInstall, []string{"--no-deps", source})...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	_, err = output(cmd)
	return err
}

func (p Python) program() string { return filepath.Join(p.dir, "bin", "python") }

func (p Python) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, p.program(), args...)
}

// Measure runs the script with args, as its head says, and returns the number that it prints.
func (p Python) Measure(ctx context.Context, args ...string) (float64, error) {
	said, err := output(p.command(ctx, append([]string{"-c", script}, args...)...))
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", strings.Join(args, " "), err)
	}
	last := lastLine(said)
	value, err := strconv.ParseFloat(last, 64)
	if err != nil || !(value > 0) {
		return 0, fmt.Errorf("measuring %s printed %.80q, want a positive number", strings.Join(args, " "), last)
	}
	return value, nil
}

// output is the standard output of a command, run without the user's own settings of pip and Python. Its error has
// the last line of any other output.
func output(cmd *exec.Cmd) (string, error) {
	cmd.Env = append(cmd.Environ(), "PIP_USER=0", "PIP_TARGET=", "PIP_PREFIX=", "PIP_ROOT=", "PYTHONPATH=", "PYTHONHOME=")
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%w: %s", err, lastLine(string(failed.Stderr)))
	}
	return string(out), err
}

func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
