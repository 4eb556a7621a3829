// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
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
		"no venv":    {`case "$1" in -c) echo True 3.12.1;; *) echo ensurepip is not available >&2; exit 1;; esac`, "apt install python3-venv"},
		"no network": {`case "$1" in -c) echo True 3.12.1;; *) mkdir -p "$3/bin"; printf '#!/bin/sh\necho no route >&2; exit 1\n' > "$3/bin/python"; chmod +x "$3/bin/python";; esac`, "is there a network?"},
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
		if text := string(asked); !strings.Contains(text, "requirements-xla.txt") || strings.Contains(text, "requirements-cuda.txt") != gpu {
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
	if _, err := command(t, "setup"); err == nil || !strings.Contains(err.Error(), "repository") {
		t.Errorf("got %v, want a sentence about the repository", err)
	}
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
		{false, 0, true, true, "--no-browser --allow-root"}, {false, 0, true, false, ""}, {false, 0, false, true, "--no-browser"},
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

func TestEveryPythonPackageIsPinnedByVersionAndHash(t *testing.T) {
	var files []string
	for _, folder := range []string{filepath.Join("reproduce", "jupyter"), filepath.Join("envs", "python")} {
		found, err := filepath.Glob(filepath.Join("..", folder, "requirements*.txt"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no requirements in %s: %v", folder, err)
		}
		files = append(files, found...)
	}
	pinned := regexp.MustCompile(`(?m)^[a-z0-9_-]+==[^ ]+ .*\\\n +--hash=sha256:[0-9a-f]{64}`)
	named := regexp.MustCompile(`(?m)^[a-z]`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p, n := len(pinned.FindAll(text, -1)), len(named.FindAll(text, -1)); p != n || n == 0 {
			t.Errorf("%s names %d packages and pins %d", file, n, p)
		}
	}
}

// settings of a user that must change nothing: they would lead out of .venv, of the workspace or of the language.
var settings = [][]string{
	nil, {"PIP_CONFIG_FILE=pip.conf"}, {"PIP_TARGET=elsewhere"},
	{"PYTHONPATH=elsewhere", "PYTHONHOME=elsewhere", "VIRTUAL_ENV=elsewhere"},
	{"GOFLAGS=-mod=mod", "GOWORK=elsewhere/go.work", "CGO_ENABLED=0"}, {"TMPDIR=a b", "LANG=tr_TR.UTF-8"},
}

// Set-up and the kernel work below a folder of any name and under each of the settings: pip installs into .venv, go
// builds the module, and the kernel's workspace is one.
func TestTheUsersOwnSettingsChangeNothing(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("makes a virtual environment and starts shell scripts")
	}
	start, err := os.ReadFile(filepath.Join("jupyter", "kernels", "gonb", "start"))
	if err != nil {
		t.Fatal(err)
	}
	s := emptyRepository(t)
	root := filepath.Join(s.root, "a, b [c]")
	write(t, filepath.Join(root, "go.mod"), "module cermic\n", 0o666)
	write(t, filepath.Join(root, "main.go"), "package main\n\nfunc main() {}\n", 0o666)
	write(t, filepath.Join(root, "pip.conf"), "[install]\nuser = true\n", 0o666)
	write(t, filepath.Join(root, "reproduce", "jupyter", "none.txt"), "", 0o666)
	write(t, filepath.Join(root, "elsewhere", "pip", "__init__.py"), "raise SystemExit('the wrong pip')\n", 0o666)
	write(t, filepath.Join(root, "a b", "x"), "", 0o666)
	kernel := filepath.Join(root, "reproduce", "jupyter", "kernels", "gonb", "start")
	write(t, kernel, string(start), 0o777)
	// The stand-in for the kernel makes the workspace that GoNB makes, and lists its modules; without Jupyter's packages
	// no relay is started.
	const gonb = "#!/bin/sh\nset -e\nroot=$PWD\ncd \"$(mktemp -d)\"\ngo work init \"$root\"\ngo list -m\n"
	write(t, filepath.Join(root, ".bin", "gonb"), gonb, 0o777)
	write(t, filepath.Join(root, ".bin", "goimports"), "#!/bin/sh\n", 0o777)
	write(t, filepath.Join(root, ".bin", "python3"), "#!/bin/sh\nexit 1\n", 0o777)
	s.root = root
	t.Chdir(root)
	if err := s.environment(); err != nil {
		t.Skip(err)
	}
	for _, own := range settings {
		t.Run(strings.Join(own, " "), func(t *testing.T) {
			for _, v := range own {
				name, value, _ := strings.Cut(v, "=")
				if strings.HasPrefix(value, "elsewhere") || strings.HasSuffix(value, ".conf") || name == "TMPDIR" {
					value = filepath.Join(root, value)
				}
				t.Setenv(name, value)
			}
			os.Remove(s.path(".venv", "installed-none.txt"))
			if err := s.packages("none", "", "none.txt"); err != nil {
				t.Error(err)
			}
			if _, err := s.output("go", "build", "-o", os.DevNull, "."); err != nil {
				t.Error(err)
			}
			t.Setenv("PATH", s.path(".bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
			cmd := exec.Command(kernel, "connection")
			cmd.Dir = root
			if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "cermic") {
				log, _ := os.ReadFile(s.path(".bin", "kernel.log"))
				t.Errorf("the kernel: %q, %v: %s", out, err, log)
			}
		})
	}
}
