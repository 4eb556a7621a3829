// SPDX-License-Identifier: Apache-2.0

// Package cermic embeds the sources that training is compiled from, so that a record can name them without git or a tree on disk.
package cermic

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// files are what the compiler has read, whatever a tree on disk holds since; a test lists what the patterns miss.
//
//go:embed go.sum cermiclib/*.go cermiclib/*/*.go cermiclib/*/*/*.go cermiclib/*/*/*.[ch]
//go:embed envs/*.go envs/*/*.go envs/*/*/*.go envs/*/*/*/*.go envs/meltingpot/sprites.json.gz
var files embed.FS

// roots hold all sources.
var roots = []string{"go.sum", "cermiclib", "envs"}

// isSource reports whether a run may depend on the file at a path below roots: it is compiled, or embedded in what is.
func isSource(name string) bool {
	switch path.Ext(name) {
	case ".go", ".c", ".h":
		return !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/testdata/")
	}
	return name == "go.sum" || name == "envs/meltingpot/sprites.json.gz"
}

// Sources returns the hash of the sources that this program was compiled from: the SHA-256 of one line "blob path" for each, in
// alphabetical order, where blob is git's name of the content.
var Sources = sync.OnceValue(func() string {
	blobs, err := blobsOf(files)
	if err != nil {
		panic(err) // embedded files can be read
	}
	return hashOf(blobs)
})

// SourcesOf returns the same hash for a commit of the git repository that the working directory is in.
func SourcesOf(commit string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"ls-tree", "-rz", "--full-tree", commit}, roots...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git does not list commit %q: %w", commit, err)
	}
	blobs := map[string]string{}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		about, name, _ := strings.Cut(string(entry), "\t") // mode, type and blob
		if isSource(name) {
			blobs[name] = about[strings.LastIndexByte(about, ' ')+1:]
		}
	}
	return hashOf(blobs), nil
}

// blobsOf are git's names of the sources in a tree, by path.
func blobsOf(tree fs.FS) (map[string]string, error) {
	blobs := map[string]string{}
	for _, root := range roots {
		err := fs.WalkDir(tree, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isSource(name) {
				return err
			}
			data, err := fs.ReadFile(tree, name)
			sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data))
			blobs[name] = hex.EncodeToString(sum[:])
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return blobs, nil
}

func hashOf(blobs map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		fmt.Fprintf(h, "%s %s\n", blobs[name], name)
	}
	return hex.EncodeToString(h.Sum(nil))
}
