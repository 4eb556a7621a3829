// SPDX-License-Identifier: Apache-2.0

// Package peers measures VMAS, BenchMARL and torch beside this program, on the same machine in the same minutes: two programs take turns, and
// what is reported is the ratio of each turn.
package peers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
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
var requirements string

// Python is an environment in which the peers are installed.
type Python struct{ dir string }

// Install makes the environment in folder dir, unless it is there; say is called before what takes minutes.
func Install(ctx context.Context, dir string, say func(string)) (Python, error) {
	p := Python{dir}
	stamp := filepath.Join(dir, "installed")
	if was, err := os.ReadFile(stamp); err == nil && string(was) == requirements {
		return p, nil
	}
	say("installing BenchMARL, VMAS and torch into " + dir + ": 5.6 GB, some minutes")
	if _, err := output(ctx, "python3", "-m", "venv", dir); err != nil {
		return p, fmt.Errorf("python3 cannot make an environment in %s: %w", dir, err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o666); err != nil {
		return p, err
	}
	if _, err := output(ctx, p.program(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", list); err != nil {
		return p, fmt.Errorf("pip could not install BenchMARL (is there a network?): %w", err)
	}
	return p, os.WriteFile(stamp, []byte(requirements), 0o666)
}

func (p Python) program() string { return filepath.Join(p.dir, "bin", "python") }

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
	out, err := exec.CommandContext(ctx, name, args...).Output()
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
