// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
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
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(t, os.WriteFile(path, []byte(text), mode))
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
			must.Refuse(t, err, c.want)
			if _, err := os.Stat(filepath.Join(s.root, ".venv")); name == "no venv" && err == nil {
				t.Error("half of a virtual environment was left behind")
			}
		})
	}
}

// The stand-in for python records the requests to pip.
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
		release(t, http.StatusNotFound)
		s.plugins()
		asked := must.Get(os.ReadFile(s.path("asked")))(t)
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
		must.Do(t, s.packages("jupyter", "", ".venv", "reproduce/jupyter/requirements.txt"))
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
		err := s.execute([]string{book}, "smoke", c.write)
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

func TestKernelStartsFromWhereverTheRepositoryLies(t *testing.T) {
	folder := filepath.Join("..", "reproduce", "jupyter", "kernels", "gonb")
	text := must.Get(os.ReadFile(filepath.Join(folder, "kernel.json")))(t)
	var kernel struct {
		Argv     []string
		Language string
	}
	must.Do(t, json.Unmarshal(text, &kernel))
	if kernel.Language != "go" || kernel.Argv[0] != "{resource_dir}/start" {
		t.Errorf("kernel.json is %+v, want the start file beside it", kernel)
	}
	info := must.Get(os.Stat(filepath.Join(folder, "start")))(t)
	if runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
		t.Error("start is not executable")
	}
}

// release serves every request of this test as GitHub serves go-xla's plug-ins, with the given status for the list of
// files.
func release(t *testing.T, status int) {
	t.Helper()
	asset := fmt.Sprintf("pjrt_cpu_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != asset {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"assets": [{"browser_download_url": "https://github.com/%s/%s"}]}`, path.Base(r.URL.Path), asset)
			return
		}
		zipped := gzip.NewWriter(w)
		archive, version := tar.NewWriter(zipped), path.Base(path.Dir(r.URL.Path))
		_ = archive.WriteHeader(&tar.Header{Name: "pjrt_c_api_cpu_" + version + "_plugin.so", Mode: 0o755, Size: 2})
		_, _ = archive.Write([]byte("it"))
		_ = errors.Join(archive.Close(), zipped.Close())
	}))
	t.Cleanup(server.Close)
	usual := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = usual })
	http.DefaultTransport = toServer{new(http.Transport), strings.TrimPrefix(server.URL, "http://")}
}

// toServer sends each request to one host instead of its own.
type toServer struct {
	http.RoundTripper
	host string
}

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", s.host
	return s.RoundTripper.RoundTrip(r)
}

func TestTheCPUPluginComesFromTheWheelFirstThenFromGoXLA(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for python is a shell script, and the release is a tar file")
	}
	for name, c := range map[string]struct {
		platform string
		wheel    bool // pip installs it
		status   int
		want     string // of the error, empty for success
	}{
		"a Mac":                  {"darwin/arm64", true, http.StatusOK, ""},
		"an ARM server":          {"linux/arm64", true, http.StatusOK, ""},
		"the wheel is not there": {wheelPlatform, false, http.StatusOK, ""},
		"no build":               {"darwin/amd64", true, http.StatusOK, "no XLA plug-in for darwin/amd64"},
		"GitHub refuses":         {"darwin/arm64", true, http.StatusForbidden, "GH_TOKEN"},
		"no release":             {"darwin/arm64", true, http.StatusNotFound, nn.PluginVariable},
	} {
		t.Run(name, func(t *testing.T) {
			s := emptyRepository(t)
			release(t, c.status)
			write(t, s.path("reproduce", "jupyter", "requirements-xla.txt"), "cpu==1\n", 0o666)
			write(t, s.python(), "#!/bin/sh\ntouch "+s.path("asked")+"\n"+fmt.Sprintf("%v\n", c.wheel), 0o777)
			err := s.cpuPlugin(c.platform)
			if _, asked := os.Stat(s.path("asked")); (asked == nil) != (c.platform == wheelPlatform) {
				t.Errorf("pip is asked on %s: %v", c.platform, asked == nil)
			}
			if c.want != "" {
				must.Refuse(t, err, c.want)
				return
			}
			library := s.path(".venv", "lib", "go-xla", nn.CPUPlugin)
			if text, _ := os.ReadFile(library); err != nil || string(text) != "it" {
				t.Fatalf("%q, %v", text, err)
			}
			release(t, http.StatusForbidden) // an installed library is not fetched again
			if err := s.cpuPlugin("darwin/arm64"); err != nil {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// writeWheel writes a Python package that has the module own.
func writeWheel(t *testing.T, path string) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	z := zip.NewWriter(f)
	for _, file := range [][2]string{
		{"own.py", ""},
		{"own-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n"},
		{"own-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"own-1.0.dist-info/RECORD", "own.py,,\nown-1.0.dist-info/METADATA,,\nown-1.0.dist-info/WHEEL,,\nown-1.0.dist-info/RECORD,,\n"},
	} {
		must.Get(must.Get(z.Create(file[0]))(t).Write([]byte(file[1])))(t)
	}
	must.Do(t, z.Close())
}

// settings are a user's own, whose values would lead out of .venv, out of the workspace or out of the language.
// PIP_TARGET excludes PIP_USER.
var settings = [][]string{
	{"PIP_USER=1", "PYTHONPATH=elsewhere", "VIRTUAL_ENV=elsewhere", "GOFLAGS=-mod=mod", "GOWORK=elsewhere/go.work",
		"TMPDIR=a b", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "NO_COLOR=1"},
	{"PIP_CONFIG_FILE=pip.conf", "PYTHONHOME=elsewhere", "GOFLAGS=-tags=noxla", "CGO_ENABLED=0"},
	{"PIP_CONFIG_FILE=target.conf", "PIP_DRY_RUN=1", "GOFLAGS=-mod=vendor", "GO111MODULE=off", "GOOS=js", "GOARCH=wasm"},
	{"PIP_TARGET=elsewhere", "PIP_PREFIX=elsewhere", "JUPYTER_CONFIG_DIR=elsewhere"},
}

// Set-up and the kernel work below a folder of any name and under each of the settings. pip installs into .venv, go
// builds the module, and the kernel's workspace is one.
func TestAPersonsOwnSettingsChangeNothing(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("makes a virtual environment and starts shell scripts")
	}
	start := must.Get(os.ReadFile(filepath.Join("jupyter", "kernels", "gonb", "start")))(t)
	s := emptyRepository(t)
	root := filepath.Join(s.root, `a, b [c] 'd' "é%20#日$x&`)
	write(t, filepath.Join(root, "go.mod"), "module cermic\n", 0o666)
	write(t, filepath.Join(root, "main.go"), "package main\n\nfunc main() {}\n", 0o666)
	write(t, filepath.Join(root, "pip.conf"), "[install]\nuser = true\n", 0o666)
	write(t, filepath.Join(root, "target.conf"), "[install]\ntarget = "+filepath.Join(root, "elsewhere")+"\n", 0o666)
	write(t, filepath.Join(root, "none.txt"), "", 0o666)
	const wheel = "own-1.0-py3-none-any.whl"
	writeWheel(t, filepath.Join(root, wheel))
	write(t, filepath.Join(root, "elsewhere", "pip", "__init__.py"), "raise SystemExit('the wrong pip')\n", 0o666)
	write(t, filepath.Join(root, "a b", "x"), "", 0o666)
	kernel := filepath.Join(root, "reproduce", "jupyter", "kernels", "gonb", "start")
	write(t, kernel, string(start), 0o777)
	// The stand-in for the kernel makes the workspace that GoNB makes, lists its modules and runs a program;
	// without Jupyter's packages no relay is started.
	const gonb = "#!/bin/sh\nset -e\nroot=$PWD\ncd \"$(mktemp -d)\"\ngo work init \"$root\"\ngo list -m\ngo run \"$root\"\n"
	write(t, filepath.Join(root, ".bin", "gonb"), gonb, 0o777)
	write(t, filepath.Join(root, ".bin", "goimports"), "#!/bin/sh\n", 0o777)
	write(t, filepath.Join(root, ".bin", "python3"), "#!/bin/sh\nexit 1\n", 0o777)
	s.root = root
	t.Chdir(root)
	if err := s.venv(s.path(".venv")); err != nil {
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
			if err := s.packages("none", "", ".venv", "none.txt"); err != nil {
				t.Error(err)
			}
			if err := s.pip(".venv", "--no-index", "--force-reinstall", "./"+wheel); err != nil {
				t.Error(err)
			}
			if _, err := s.output(s.python(), "-c", "import own"); err != nil {
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

// The default store is the repository's from each of its folders; one that is named is taken from where the command is
// given.
func TestTheDefaultStoreIsInTheRepositorysRoot(t *testing.T) {
	s := emptyRepository(t)
	must.Do(t, os.MkdirAll(s.path("reproduce", "plan"), 0o777))
	for _, c := range []struct{ from, args, want string }{
		{"", "", "runs"}, {"reproduce", "-store=elsewhere", "elsewhere"},
		{filepath.Join("reproduce", "plan"), "", filepath.Join("..", "..", "runs")},
	} {
		t.Chdir(s.path(c.from))
		cmd := statusCommand()
		must.Do(t, cmd.ParseFlags(normalize(strings.Fields(c.args))))
		must.Do(t, prepare(cmd, nil))
		if got := cmd.Flags().Lookup("store").Value.String(); got != c.want {
			t.Errorf("in %q with %q the store is %q, want %q", c.from, c.args, got, c.want)
		}
	}
}
