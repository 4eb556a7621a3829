// SPDX-License-Identifier: Apache-2.0

// Package web makes the page on which CERMIC trains in the reader's browser: static files for any file server.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cermic/reproduce/records"
)

//go:embed page
var page embed.FS

// faster are files that the build adds to a copy of packages of GoMLX.
//
//go:embed gomlx
var faster embed.FS

// compute is GoMLX's module of backends.
const compute = "github.com/gomlx/compute"

// starts are the committed runs from which the page can continue.
var starts = []string{"d9bdb985f42ebe64", "3022ee9bfd5027d3"}

// Build writes the page into folder dir, which it makes if needed. root is the repository, whose program is compiled
// for browsers.
func Build(ctx context.Context, root, dir string) error {
	program, err := compile(ctx, root)
	if err != nil {
		return err
	}
	support, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return err
	}
	support, err = read(os.ReadFile(filepath.Join(strings.TrimSpace(support), "lib/wasm/wasm_exec.js")))
	if err != nil {
		return err
	}
	files := map[string]string{"app.wasm.gz": program}
	for _, name := range []string{"index.html", "web.css", "web.js"} {
		if files[name], err = read(page.ReadFile("page/" + name)); err != nil {
			return err
		}
	}
	files["web.js"] = support + files["web.js"] // one script, of the page and of its workers
	for _, id := range starts {
		for _, name := range []string{id + ".json.gz", "checkpoints/" + id + ".safetensors.gz"} {
			if files["records/"+name], err = read(records.FS.ReadFile(name)); err != nil {
				return err
			}
		}
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// compile builds the program of the workers, gzipped.
func compile(ctx context.Context, root string) (string, error) {
	temp, err := os.MkdirTemp("", "cermic-web")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	goTool := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, "go", args...)
		c.Dir, c.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		return output(c)
	}
	folder, err := goTool("list", "-f", "{{.Module.Dir}}", compute)
	if err != nil {
		return "", err
	}
	changed, file := filepath.Join(temp, "compute"), filepath.Join(temp, "app.wasm")
	mod, err := read(os.ReadFile(filepath.Join(root, "go.mod")))
	sum, err2 := os.ReadFile(filepath.Join(root, "go.sum"))
	mod += "\nreplace " + compute + " => " + changed + "\n"
	err = errors.Join(err, err2,
		os.CopyFS(changed, os.DirFS(strings.TrimSpace(folder))),
		os.WriteFile(filepath.Join(temp, "go.mod"), []byte(mod), 0o666),
		os.WriteFile(filepath.Join(temp, "go.sum"), sum, 0o666))
	for _, name := range []string{"transpose_js.go", "dot/matmul/matmul_js.go", "ops/ops_js.go"} {
		text, failed := faster.ReadFile("gomlx/" + filepath.Base(name) + ".txt")
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(changed, "internal/gobackend", name), text, 0o666))
	}
	if err != nil {
		return "", err
	}
	if _, err := goTool("build", "-modfile="+filepath.Join(temp, "go.mod"), "-trimpath", "-ldflags=-s -w", "-o", file,
		"./reproduce/web/app"); err != nil {
		return "", err
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil {
		err = w.Close()
	}
	return b.String(), err
}

// output runs a command and returns what it prints.
func output(c *exec.Cmd) (string, error) {
	var printed, complaint bytes.Buffer
	c.Stdout, c.Stderr = &printed, &complaint
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(c.Args[:2], " "), err, complaint.Bytes())
	}
	return printed.String(), nil
}

func read(data []byte, err error) (string, error) { return string(data), err }
