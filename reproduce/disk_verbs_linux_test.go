// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// writers are command lines that write to DISK, which holds the store of one trained RUN; MANIFEST has runs that are not in it.
func writers() (all [][]string) {
	without := func(args []string) []string { // the verb, which comes first
		return args[1:]
	}
	small := tinyTraining("mappo", "DISK", "learner.lr=0.002")
	for _, line := range []string{
		"work -store DISK MANIFEST",
		"pretrain -task navigation -memory mlp -frames 1300 -epochs 1 -store DISK",
		"train -store DISK -fork RUN@100 -set learner.lr=0.001",
		"export csv -budget custom -store DISK -o DISK/out.csv",
		"export marl-eval -budget custom -store DISK -o DISK/out.json",
		"export tensorboard -budget custom -store DISK -o DISK/events",
		"export weights -budget custom -store DISK -o DISK/weights",
		"curves -store DISK -task balance -budget custom -o DISK/curves.png",
		"watch -store DISK -o DISK/film.gif RUN",
	} {
		all = append(all, strings.Fields(line))
	}
	return append(all, small,
		append([]string{"campaign", "-seeds", "2", "-workers", "2"}, without(small)...),
		append([]string{"campaign", "-manifest", "DISK/m.jsonl"}, without(small)...))
}

// readers write nothing to DISK.
var readers = []string{
	"status -store DISK", "table sota -budget smoke -store DISK", "results -store DISK", "claims -store DISK", "evaluate -store DISK RUN",
	"campaign -plan -table density -budget smoke -store DISK", "export csv -budget custom -store DISK -o ELSEWHERE/out.csv", "export weights -budget custom -store DISK -o ELSEWHERE/weights",
	"curves -store DISK -task balance -budget custom -o ELSEWHERE/curves.png", "watch -store DISK -o ELSEWHERE/film.gif RUN",
}

// spent says that a process on a disk that takes nothing ends as it has to: with exit code 1, one sentence, and the disk named in what it says.
func spent(t *testing.T, args []string, disk string, says ...string) {
	t.Helper()
	p := start(t, args...)
	code, text := p.end(), p.stderr.String()
	if code != 1 || !strings.HasPrefix(text, "reproduce: ") || strings.Count(text, "\n") != 1 {
		t.Errorf("%v ends with exit code %d:\n%s", args, code, p.output())
		return
	}
	for _, want := range append(says, disk) {
		if !strings.Contains(p.output(), want) {
			t.Errorf("%v does not say %q:\n%s", args, want, p.output())
		}
	}
}

// Whatever writes says in one sentence that it cannot, and leaves what is there as it is; whatever reads works.
func TestOnADiskThatCannotBeWrittenVerbsReadAndNameIt(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every verb")
	}
	store, id, manifest := used(t)
	dir := disk(t)
	if err := os.CopyFS(dir, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("no read-only disk: %v", err)
	}
	on := strings.NewReplacer("DISK", dir, "RUN", id, "MANIFEST", manifest, "ELSEWHERE", t.TempDir())
	for _, args := range append(writers(), []string{"delete", "-store", "DISK", "-yes", "RUN"}) {
		spent(t, replaced(on, args), dir, "read-only")
	}
	for _, line := range readers {
		finish(t, replaced(on, strings.Fields(line))...)
	}
}

// On a full disk whatever writes says so and leaves no half of a file; the same command does its work once there is space.
func TestOnAFullDiskEveryVerbSaysSoAndGoesOnOnceThereIsSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every verb")
	}
	store, id, manifest := used(t)
	for _, args := range writers() {
		dir := disk(t)
		on := strings.NewReplacer("DISK", dir, "RUN", id, "MANIFEST", manifest)
		if err := os.CopyFS(dir, os.DirFS(store)); err != nil {
			t.Fatal(err)
		}
		before := lasting(t, dir)
		filler := filepath.Join(dir, "filler")
		fill(t, filler, 0)
		spent(t, replaced(on, args), dir, "the disk is full at ")
		after := lasting(t, dir)
		for name, text := range before {
			if after[name] != text {
				t.Errorf("%v changed %s", args, name)
			}
		}
		for _, half := range globbed(t, filepath.Join(dir, "*.tmp")) {
			t.Errorf("%v left %s", args, half)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		finish(t, replaced(on, args)...)
	}
}

// fill takes all of a disk for a file but the bytes that are left over.
func fill(t *testing.T, file string, leave int64) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, size := make([]byte, 4096), int64(0)
	for {
		n, err := f.Write(page)
		size += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(max(0, size-leave)); err != nil {
		t.Fatal(err)
	}
}

// replaced is a command line with its placeholders filled in.
func replaced(on *strings.Replacer, args []string) []string {
	args = slices.Clone(args)
	for i := range args {
		args[i] = on.Replace(args[i])
	}
	return args
}
