// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// emptyRepository is a folder that passes for this repository, made the working directory.
func emptyRepository(t *testing.T) setup {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module cermic\n", 0o666)
	write(t, filepath.Join(root, "reproduce", "jupyter", "requirements.txt"), "x==1\n", 0o666)
	t.Chdir(root)
	return setup{ctx: t.Context(), out: io.Discard, root: root}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestSetupSaysWhatToInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins for python3 are shell scripts")
	}
	for name, c := range map[string]struct{ python, want string }{
		"no python":  {"", "install Python 3.11"},
		"old python": {"echo False 3.9.2", "is Python 3.9.2"},
		"no venv": {`case "$1" in -c) echo True 3.12.1;; *) echo ensurepip is not available >&2; exit 1;; esac`,
			"apt install python3-venv"},
		"no network": {`case "$1" in -c) echo True 3.12.1;; *) mkdir -p "$3/bin"
			printf '#!/bin/sh\necho no route >&2; exit 1\n' > "$3/bin/python"; chmod +x "$3/bin/python";; esac`,
			"check the network"},
	} {
		t.Run(name, func(t *testing.T) {
			s := emptyRepository(t)
			t.Setenv("PYTHON", filepath.Join(s.root, "python3"))
			if c.python != "" {
				write(t, filepath.Join(s.root, "python3"), "#!/bin/sh\n"+c.python+"\n", 0o777)
			} else {
				t.Setenv("PYTHON", "python3-that-nobody-has")
			}
			_, err := command(t, "setup")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one sentence with %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(s.root, ".venv")); name == "no venv" && err == nil {
				t.Error("half of a virtual environment was left behind")
			}
		})
	}
}

// The stand-in for python writes down what pip is asked for.
func TestSetupInstallsXLAForAGPUOnlyWhereOneIs(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("there are plug-ins for linux/amd64 only")
	}
	for _, gpu := range []bool{false, true} {
		s := emptyRepository(t)
		s.gpu = gpu
		write(t, s.path("reproduce", "jupyter", "requirements-xla.txt"), "cpu==1\n", 0o666)
		write(t, s.path("reproduce", "jupyter", "requirements-cuda.txt"), "cuda==1\n", 0o666)
		write(t, s.python(), "#!/bin/sh\necho \"$@\" >> "+s.path("asked")+"\n", 0o777)
		if !s.compiler() {
			t.Skip("without a C compiler no plug-in is installed")
		}
		s.plugins()
		asked, err := os.ReadFile(s.path("asked"))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(asked); !strings.Contains(text, "requirements-xla.txt") ||
			strings.Contains(text, "requirements-cuda.txt") != gpu {
			t.Errorf("with a GPU %v: pip is asked for %s", gpu, text)
		}
	}
}

func TestPackagesAreInstalledAgainOnlyWhenTheirFileChanges(t *testing.T) {
	s := emptyRepository(t)
	write(t, s.python(), "#!/bin/sh\necho \"$@\" >> "+s.path("asked")+"\n", 0o777)
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			write(t, s.path("reproduce", "jupyter", "requirements.txt"), "x==2\n", 0o666)
		}
		if err := s.packages("jupyter", "", "requirements.txt"); err != nil {
			t.Fatal(err)
		}
		if asked, err := os.ReadFile(s.path("asked")); err != nil || strings.Count(string(asked), "\n") != want {
			t.Errorf("after set-up %d pip was asked for %q, %v", i+1, asked, err)
		}
	}
}

func TestOutsideTheRepositorySetupSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	refuse(t, "change to it first", "setup")
}

func TestExecutedCopiesReplaceTheNotebooksOnlyOnRequestAndSuccess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for python is a shell script")
	}
	s := emptyRepository(t)
	book := s.path("notebooks", "a.ipynb")
	write(t, book, "old", 0o666)
	// Called as: python execute.py FOLDER SECONDS NOTEBOOK
	write(t, s.python(), "#!/bin/sh\nmkdir -p \"$2\"; printf \"$NB_BUDGET\" > \"$2/a.ipynb\"; exit $FAKE_EXIT\n", 0o777)
	for _, c := range []struct {
		exit  string
		write bool
		want  string
	}{{"0", false, "old"}, {"1", true, "old"}, {"0", true, "smoke"}} {
		t.Setenv("FAKE_EXIT", c.exit)
		err := s.execute([]string{book}, "smoke", time.Minute, c.write)
		if (err == nil) != (c.exit == "0") {
			t.Errorf("exit code %s gives error %v", c.exit, err)
		}
		if got, _ := os.ReadFile(book); string(got) != c.want {
			t.Errorf("after exit code %s and -write=%v the notebook is %q, want %q", c.exit, c.write, got, c.want)
		}
	}
}

func TestLabRunsAsRootInAContainerOnly(t *testing.T) {
	for _, c := range []struct {
		noBrowser       bool
		port            uint16
		root, container bool
		want            string
	}{
		{false, 0, false, false, ""}, {true, 8890, false, false, "--no-browser --port=8890"},
		{false, 0, true, true, "--no-browser --allow-root"}, {false, 0, true, false, ""},
		{false, 0, false, true, "--no-browser"},
	} {
		flags := labFlags(c.noBrowser, c.port, c.root, c.container)
		if _, err := os.Stat(filepath.Join("..", "notebooks", path.Base(flags[0]))); err != nil {
			t.Errorf("JupyterLab opens on what is not there: %v", err)
		}
		if got := strings.Join(flags[1:], " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
