// SPDX-License-Identifier: Apache-2.0

// Package peers measures other programs beside this one: VMAS, BenchMARL, torch, JAX with JaxMARL, and Melting Pot.
// They run on the same machine in the same minutes. Two programs take turns, and the result is the ratio of each
// turn.
package peers

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Folder is where peers are installed, below the root of the repository.
const Folder = ".peers"

// Groups are measured in this order.
var Groups = []string{"update", "train", "env", "python", "meltingpot", "collect"}

// environment is a virtual environment of Python in which peers are installed.
type environment struct {
	folder, requirements string   // from the root of the repository
	holds                string   // packages, and their size
	groups               []string // that need it
}

var (
	benchMARL = environment{Folder, here + "requirements.txt", "BenchMARL, VMAS and torch, 5.6 GB", Groups}
	// TensorFlow, which only trained bots need, is left out.
	meltingPot = environment{Folder + "/meltingpot", here + "requirements-meltingpot.txt",
		"Melting Pot and DeepMind Lab2D, 0.7 GB", []string{"meltingpot"}}
	jax = environment{Folder + "/jax", here + "requirements-jax.txt", "JAX and JaxMARL, 0.9 GB",
		[]string{"update", "train"}}
)

// here is the folder of this package.
const here = "reproduce/bench/peers/"

// Machine measures pairs with the repository at Root and the Python environments below it.
type Machine struct {
	Root     string
	Packages func(name, what, folder, requirements string, flags ...string) error // installs a file of requirements
	Wheel    func(folder string) error                                            // installs this program's environments
	Python   func(folder string, args ...string) (output string, err error)
}

// install installs what groups need.
func (m *Machine) install(groups []string) error {
	needs := func(names []string) bool {
		return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(names, g) })
	}
	for _, e := range []environment{benchMARL, meltingPot, jax} {
		if !needs(e.groups) {
			continue
		}
		if err := m.Packages("peers", e.holds, e.folder, e.requirements); err != nil {
			return err
		}
	}
	if needs(meltingPot.groups) {
		if _, err := m.script(meltingPot, "install-meltingpot"); err != nil {
			return err
		}
	}
	if needs([]string{"python", "meltingpot", "collect"}) {
		return m.Wheel(benchMARL.folder)
	}
	return nil
}

// script runs peers.py with args, as its head says, and returns the last line of its output.
func (m *Machine) script(e environment, args ...string) (string, error) {
	output, err := m.Python(e.folder, append([]string{filepath.Join(m.Root, here, "peers.py")}, args...)...)
	if err != nil {
		return "", fmt.Errorf("peers.py %s: %w", strings.Join(args, " "), err)
	}
	output = strings.TrimSpace(output)
	return output[strings.LastIndex(output, "\n")+1:], nil
}

// measure is the number that peers.py prints.
func (m *Machine) measure(e environment, args ...string) (float64, error) {
	last, err := m.script(e, args...)
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseFloat(last, 64)
	if err != nil || !(value > 0) {
		return 0, fmt.Errorf("peers.py %s printed %.80q, want a positive number", strings.Join(args, " "), last)
	}
	return value, nil
}
