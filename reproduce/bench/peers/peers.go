// SPDX-License-Identifier: Apache-2.0

// Package peers measures VMAS, BenchMARL and torch beside this program, on the same machine in the same minutes: two programs take turns, and
// what is reported is the ratio of each turn.
package peers

import (
	"context"
	"crypto/sha256"
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

// Kind is what an environment is made for.
type Kind struct {
	what, size   string
	requirements string
	source       string // one more package, which has to be built here
}

// BenchMARL has VMAS and torch beside it.
var BenchMARL = Kind{what: "BenchMARL, VMAS and torch", size: "5.6 GB", requirements: benchMARL}

// MeltingPot has DeepMind Lab2D and no TensorFlow, which only trained bots need.
var MeltingPot = Kind{what: "Melting Pot and DeepMind Lab2D", size: "0.7 GB", requirements: meltingPot, source: "dm-meltingpot==2.4.1"}

//go:embed requirements.txt
var benchMARL string

//go:embed requirements-meltingpot.txt
var meltingPot string

// Python is an environment in which peers are installed.
type Python struct{ dir string }

// Install makes an environment in folder dir, unless it is there; say is called before what takes minutes.
func Install(ctx context.Context, dir string, k Kind, say func(string)) (Python, error) {
	p := Python{dir}
	stamp := filepath.Join(dir, "installed")
	if was, err := os.ReadFile(stamp); err == nil && string(was) == k.requirements {
		return p, nil
	}
	say("installing " + k.what + " into " + dir + ": " + k.size + ", some minutes")
	if _, err := output(ctx, "python3", "-m", "venv", dir); err != nil {
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

// Add installs a wheel that needs nothing beyond what is there, unless it is there.
func (p Python) Add(ctx context.Context, wheel string) error {
	data, err := os.ReadFile(wheel)
	if err != nil {
		return err
	}
	stamp, sum := filepath.Join(p.dir, filepath.Base(wheel)+".sha256"), fmt.Sprintf("%x", sha256.Sum256(data))
	if was, err := os.ReadFile(stamp); err == nil && string(was) == sum {
		return nil
	}
	if err := p.pip(ctx, "--no-index", "--no-deps", "--force-reinstall", wheel); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(sum), 0o666)
}

func (p Python) pip(ctx context.Context, args ...string) error {
	_, err := output(ctx, p.program(), append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, args...)...)
	return err
}

// build installs Melting Pot's source without its trained bots: its set-up would download them, but takes an archive that lies in the folder
// for temporary files.
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
	if _, err := output(ctx, p.program(), "-c", pack, filepath.Join(dir, "meltingpot-assets-2.3.0"), filepath.Dir(bots)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.program(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", source)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	_, err = finish(cmd)
	return err
}

func (p Python) program() string { return filepath.Join(p.dir, "bin", "python") }

// Learn trains a run, as the head of the script says, and returns its JSON; progress gets a line after each evaluation.
func (p Python) Learn(ctx context.Context, side string, seed int, progress io.Writer) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.program(), "-W", "ignore", "-c", script, "learn", side, strconv.Itoa(seed))
	cmd.Env, cmd.Stderr = append(os.Environ(), "OMP_NUM_THREADS=1", "TQDM_DISABLE=1"), progress
	return cmd.Output()
}

// Measure runs the script with args, as its head says, and returns the number that it prints.
func (p Python) Measure(ctx context.Context, args ...string) (float64, error) {
	said, err := output(ctx, p.program(), append([]string{"-c", script}, args...)...)
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", strings.Join(args, " "), err)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	value, err := strconv.ParseFloat(lines[len(lines)-1], 64)
	if err != nil || !(value > 0) {
		return 0, fmt.Errorf("measuring %s printed %.80q, want a positive number", strings.Join(args, " "), lines[len(lines)-1])
	}
	return value, nil
}

// output runs a program and returns what it prints; its error is the last line of what it prints beside that.
func output(ctx context.Context, name string, args ...string) (string, error) {
	return finish(exec.CommandContext(ctx, name, args...))
}

// finish is output of a command, whatever a person's own settings of pip and Python are.
func finish(cmd *exec.Cmd) (string, error) {
	cmd.Env = append(cmd.Environ(),
		"PIP_USER=0", "PIP_TARGET=", "PIP_PREFIX=", "PIP_ROOT=", "PYTHONPATH=", "PYTHONHOME=")
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
		return "", fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return string(out), err
}

// Pair is one figure of this program and of a peer. Smaller says that less is better.
type Pair struct {
	Name, Unit, Peer string
	Smaller          bool
	Ours, Theirs     func(context.Context) (float64, error)
}

// Outcome is what the turns of a pair gave, in their order.
type Outcome struct {
	Pair
	Here, There []float64 // [rounds]
}

// Measure takes turns, rounds times; who goes first alternates.
func (p Pair) Measure(ctx context.Context, rounds int) (o Outcome, err error) {
	o.Pair = p
	for round := range rounds {
		var a, b float64
		for turn := range 2 {
			if (round+turn)%2 == 0 {
				a, err = p.Ours(ctx)
			} else {
				b, err = p.Theirs(ctx)
			}
			if err != nil {
				return o, err
			}
		}
		o.Here, o.There = append(o.Here, a), append(o.There, b)
	}
	return o, nil
}

// Ratios are how many times better this program was in each round, sorted.
func (o Outcome) Ratios() []float64 {
	out := make([]float64, len(o.Here))
	for i := range out {
		if out[i] = o.Here[i] / o.There[i]; o.Smaller {
			out[i] = 1 / out[i]
		}
	}
	slices.Sort(out)
	return out
}

// Median is the middle of sorted values, the mean of the two middle ones of an even number.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
