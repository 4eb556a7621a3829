// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process is a game that this program started.
type process struct {
	cmd    *exec.Cmd
	dir    string        // for temporary files
	done   chan struct{} // closed when the process has ended
	err    error         // its exit error; valid after done
	output tail          // valid after done
}

// The version whose folder and data are known.
const (
	knownVersion = "4.10"
	knownFolder  = "Base75689"
	knownData    = "B89B5D6FA7CBF6452E721311BFBC6CB2"
)

// short is the first two numbers of a version: "4.10" of "4.10.0".
func short(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// executable finds the game's program: of the wanted version if it is the known one, else of the newest one.
func executable(o *Options) (string, error) {
	name := map[string]string{"windows": "SC2_x64.exe",
		"darwin": filepath.Join("SC2.app", "Contents", "MacOS", "SC2")}[runtime.GOOS]
	if name == "" {
		name = "SC2_x64"
	}
	found, err := fs.Glob(os.DirFS(o.Folder), "Versions/Base*/"+filepath.ToSlash(name))
	for i := range found {
		found[i] = filepath.Join(o.Folder, found[i])
	}
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no StarCraft II in %s (no Versions/Base*/%s); "+
			"install it there, or set SC2PATH to its folder", o.Folder, name)
	}
	if short(o.Version) == knownVersion {
		file := filepath.Join(o.Folder, "Versions", knownFolder, name)
		if !slices.Contains(found, file) {
			return "", fmt.Errorf("StarCraft II %s (%s) is not in %s; "+
				"install it, or set task.sc2_version to an installed version", o.Version, knownFolder, o.Folder)
		}
		return file, nil
	}
	return slices.MaxFunc(found, func(a, b string) int { return buildOf(a) - buildOf(b) }), nil
}

// buildOf is the number in a path's Base folder, or 0.
func buildOf(file string) int {
	_, rest, _ := strings.Cut(filepath.ToSlash(file), "/Versions/Base")
	number, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}

// start launches a game that listens at the returned address.
func start(o *Options) (*process, string, error) {
	file, err := executable(o)
	if err != nil {
		return nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	p := &process{done: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "sc2-"); err != nil {
		return nil, "", fmt.Errorf("a folder for the game's temporary files: %w", err)
	}
	p.cmd = exec.Command(file, arguments(o, port, p.dir)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.WaitDelay = outputDelay
	p.cmd.Env = append(os.Environ(),
		"LD_LIBRARY_PATH="+filepath.Join(o.Folder, "Libs")+string(os.PathListSeparator)+os.Getenv("LD_LIBRARY_PATH"))
	if runtime.GOOS == "windows" {
		p.cmd.Dir = filepath.Join(o.Folder, "Support64")
	}
	if err := launch(p.cmd); err != nil {
		_ = os.RemoveAll(p.dir) // still empty
		return nil, "", fmt.Errorf("StarCraft II does not start: %w", err)
	}
	go p.wait()
	return p, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

func arguments(o *Options, port int, dir string) []string {
	separator := string(os.PathSeparator)
	args := []string{
		"-listen", "127.0.0.1", "-port", strconv.Itoa(port), "-dataDir", o.Folder + separator, "-tempDir", dir + separator,
	}
	if short(o.Version) == knownVersion {
		args = append(args, "-dataVersion", knownData)
	}
	if runtime.GOOS != "linux" { // elsewhere the default is full screen
		args = append(args, "-displayMode", "0", "-windowwidth", "640", "-windowheight", "480", "-windowx", "0",
			"-windowy", "0")
	}
	return args
}

// outputDelay is how long to read output after the game's end, because a child process may keep it open.
const outputDelay = 2 * time.Second

// freePort returns a port that no program listens on. If another program takes it first, the game exits and is
// started again with a new port. Tests replace this variable.
var freePort = func() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port for the game: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (p *process) wait() {
	p.err = p.cmd.Wait()
	_ = kill(p.cmd)         // processes left by a wrapper script
	_ = os.RemoveAll(p.dir) // temporary files
	close(p.done)
}

// ended returns an error if the game has ended.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("StarCraft II ended while it was starting (%v)%s", p.err, p.output.last())
	default:
		return nil
	}
}

// stop ends the game, by force after a moment, and waits for its exit.
func (p *process) stop(moment time.Duration) {
	select {
	case <-p.done:
		return
	case <-time.After(moment):
	}
	_ = kill(p.cmd) // fails if it has just ended
	<-p.done
}

// tail keeps the last part of a process' output.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-1000):]
	return len(p), nil
}

// last is the last line as a suffix for an error message, or "".
func (t *tail) last() string {
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	if line := lines[len(lines)-1]; len(line) > 0 {
		return ": " + string(line)
	}
	return ""
}
