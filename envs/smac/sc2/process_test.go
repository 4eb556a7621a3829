// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cermic/envs/envtest/must"
	"cermic/envs/smac/sc2/sc2test"
)

// Environment variables that control the stand-in for the game.
const (
	asGame = "CERMIC_TEST_GAME" // its behaviour; if set, this program is the stand-in
	inside = "CERMIC_TEST_DIR"  // folder for one file per start
	owns   = "CERMIC_TEST_OWNS" // installation; if set, this program starts the game there and waits to be killed
)

// TestMain lets the test program act as the game that it starts.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv(asGame); behaviour != "" {
		os.Exit(standIn(behaviour))
	}
	if folder := os.Getenv(owns); folder != "" {
		os.Exit(owner(folder))
	}
	os.Exit(m.Run())
}

// standIn acts as the game: it records its arguments, and serves or fails.
func standIn(behaviour string) int {
	args := map[string]string{}
	for i := 1; i+1 < len(os.Args); i += 2 {
		args[os.Args[i]] = os.Args[i+1]
	}
	starts, err := filepath.Glob(filepath.Join(os.Getenv(inside), "start*"))
	if err != nil {
		return 1
	}
	note := filepath.Join(os.Getenv(inside), fmt.Sprintf("start%d", len(starts)))
	text := strings.Join(os.Args[1:], " ") + "\n" + os.Getenv("LD_LIBRARY_PATH")
	if err := os.WriteFile(note, []byte(text), 0o644); err != nil {
		return 1
	}
	if behaviour == "dies" {
		fmt.Fprintln(os.Stderr, "starting\nno memory left")
		return 3
	}
	l, err := net.Listen("tcp", args["-listen"]+":"+args["-port"])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := &sc2test.Server{Game: sc2test.NewYard(), Loading: 4}
	server.OnFault, server.OnQuit = func(sc2test.Fault) { os.Exit(9) }, func() { os.Exit(0) }
	if behaviour == "crashes" && len(starts) == 0 {
		server.Faults = map[int]sc2test.Fault{12: sc2test.Drop}
	}
	if server.Serve(l) != nil {
		return 1
	}
	return 0
}

// owner starts a game, prints its address and waits.
func owner(folder string) int {
	g, err := Acquire(Options{
		Folder: folder, Race: Protoss, StartTimeout: 20 * time.Second, RetryEvery: 5 * time.Millisecond,
		ReplyTimeout: 5 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(g.address)
	time.Sleep(time.Minute) // killed long before
	return 1
}

// install makes a folder with the stand-in as a build of the game, and options for it.
func install(t *testing.T, build, behaviour string) (Options, string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the stand-in is a shell script for Linux")
	}
	folder, notes := t.TempDir(), t.TempDir()
	self := must.Value(os.Executable())
	script := fmt.Sprintf("#!/bin/sh\nexport %s='%s' %s='%s'\nexec '%s' \"$@\"\n", asGame, behaviour, inside, notes, self)
	for file, text := range map[string]string{
		filepath.Join("Versions", build, "SC2_x64"):             script,
		filepath.Join("Maps", "SMAC_Maps", "32x32_flat.SC2Map"): "map",
		filepath.Join("Versions", "Base1", "SC2_x64"):           "#!/bin/sh\nexit 1\n",
	} {
		file = filepath.Join(folder, file)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o755))
	}
	return Options{
		Folder: folder, Version: "4.10", Race: Protoss, StartTimeout: 20 * time.Second, RetryEvery: 5 * time.Millisecond,
		ReplyTimeout: 5 * time.Second,
	}, notes
}

// squad is one unit on each side.
func squad() []Placement {
	return []Placement{{Type: 1961, X: 1, Y: 2}, {Type: 74, Enemy: true, X: 3, Y: 4}}
}

// started returns the arguments of each started game.
func started(t *testing.T, notes string) []string {
	t.Helper()
	files := must.Value(filepath.Glob(filepath.Join(notes, "start*")))
	var out []string
	for _, file := range files {
		text := must.Value(os.ReadFile(file))
		out = append(out, string(text))
	}
	return out
}

func TestAGameIsStartedUsedAgainAndEnded(t *testing.T) {
	o, notes := install(t, "Base75689", "plays")
	g := must.Value(Acquire(o))
	if g.FirstType != 1961 || g.Ground.Width != 32 || g.Ground.PlayHeight != 32 || !g.Ground.Pathable[5] {
		t.Errorf("first type %d, ground %d × %d", g.FirstType, g.Ground.Width, g.Ground.Height)
	}
	for range 2 {
		units, err := g.Deploy(squad())
		if err != nil || len(units) != 2 {
			t.Fatalf("%d units, %v", len(units), err)
		}
		if units, err = g.Play([]Order{{Verb: Stop, Tag: 1}}, 8); err != nil || len(units) != 2 {
			t.Fatalf("%d units, %v", len(units), err)
		}
	}
	other := o
	other.Race = Zerg
	zerg, err := Acquire(other)
	if err != nil || zerg == g {
		t.Fatalf("one race got the other's game (%v)", err)
	}
	process, folder := g.proc, g.proc.dir
	g.Release()
	again, err := Acquire(o)
	if err != nil || again != g {
		t.Errorf("a new game (%v) although one was idle", err)
	}
	again.Release()
	zerg.Release()
	select {
	case <-process.done:
		if process.err != nil {
			t.Errorf("after a request to quit, the game ends with %v", process.err)
		}
	default:
		t.Error("a game still runs after the last release")
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the game's temporary folder is still there (%v)", err)
	}
	first := started(t, notes)[0]
	for _, want := range []string{
		"-listen 127.0.0.1 -port ", "-dataDir " + o.Folder + "/ -tempDir " + folder + "/",
		"-dataVersion B89B5D6FA7CBF6452E721311BFBC6CB2",
		"\n" + o.Folder + "/Libs:",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("started with %q, want it to contain %q", first, want)
		}
	}
}

func TestAGameThatDiesAtItsStartIsStartedAgain(t *testing.T) {
	o, notes := install(t, "Base75689", "dies")
	_, err := Acquire(o)
	must.Refuse(t, err, "no memory left") // the game's last line of output
	if n := len(started(t, notes)); n != startTries {
		t.Errorf("%d starts, want %d", n, startTries)
	}
}

// Another server, which answers with 404 like a loading game or otherwise, may take the port first. The next game
// gets another port.
func TestAGameThatLosesItsPortIsStartedAgain(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusOK} {
		taken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		defer taken.Close()
		o, notes := install(t, "Base75689", "plays")
		really, ports := freePort, 0
		freePort = func() (int, error) {
			if ports++; ports == 1 {
				return taken.Listener.Addr().(*net.TCPAddr).Port, nil
			}
			return really()
		}
		g, err := Acquire(o)
		freePort = really
		must.Do(t, err)
		g.Discard()
		if n := len(started(t, notes)); ports != 2 || n < 1 || n > 2 { // the first may end before it leaves its file
			t.Errorf("status %d: %d ports and %d starts, want 2", status, ports, n)
		}
	}
}

// A wrong server at a given address is detected at once.
func TestSomethingElseAtAnAddressIsTold(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	o := Options{Addresses: []string{other.Listener.Addr().String()}, StartTimeout: time.Minute,
		RetryEvery: time.Millisecond}
	begin := time.Now()
	_, err := Acquire(o)
	if err == nil || !strings.Contains(err.Error(), "is not StarCraft II") || time.Since(begin) > o.StartTimeout/2 {
		t.Errorf("error %v after %v", err, time.Since(begin))
	}
}

// A game that loads for minutes answers hundreds of connections with 404; none of them may leak.
func TestWaitingForAGameKeepsNoConnections(t *testing.T) {
	l := (&sc2test.Server{Game: sc2test.NewYard(), Loading: 200}).Start(t)
	o := Options{StartTimeout: time.Minute, RetryEvery: time.Millisecond}
	before := runtime.NumGoroutine()
	c := must.Value(dial(&o, l.Addr().String(), func() error { return nil }))
	defer c.close()
	left := 0
	for range 200 { // closed connections need a moment to end
		if left = runtime.NumGoroutine() - before; left < 20 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("200 attempts leaked %d goroutines", left)
}

// An address with a failed game is tried last.
func TestOtherAddressesAreTriedBeforeOneThatFailed(t *testing.T) {
	o := Options{StartTimeout: 5 * time.Second, RetryEvery: time.Millisecond, ReplyTimeout: time.Second,
		Folder: t.TempDir()}
	var servers []net.Listener
	for range 2 {
		l := (&sc2test.Server{Game: sc2test.NewYard()}).Start(t)
		servers, o.Addresses = append(servers, l), append(o.Addresses, l.Addr().String())
	}
	first, err := Acquire(o)
	if err != nil || first.address != o.Addresses[0] {
		t.Fatalf("the first address is %q (%v)", first.address, err)
	}
	servers[0].Close()
	first.Discard()
	for range 2 {
		g, err := Acquire(o)
		if err != nil || g.address != o.Addresses[1] {
			t.Fatalf("the failed address is used first (%v)", err)
		}
		g.Release()
	}
}

// A wrapper script is killed with the game that it runs.
func TestAGameBehindAScriptIsEnded(t *testing.T) {
	o, _ := install(t, "Base75689", "plays")
	file := filepath.Join(o.Folder, "Versions", "Base75689", "SC2_x64")
	script := must.Value(os.ReadFile(file))
	must.Do(t, os.WriteFile(file, []byte(strings.Replace(string(script), "exec ", "", 1)+"exit $?\n"), 0o755))
	g := must.Value(Acquire(o))
	ended := make(chan bool)
	go func() {
		g.Discard()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the game has not ended after 20 seconds")
	}
	if c, err := net.Dial("tcp", g.address); err == nil {
		c.Close()
		t.Error("the game still listens")
	}
}

func TestAVersionIsFoundByItsFirstTwoNumbers(t *testing.T) {
	o, _ := install(t, "Base75689", "plays")
	newest := filepath.Join(o.Folder, "Versions", "Base99999", "SC2_x64")
	must.Do(t, os.MkdirAll(filepath.Dir(newest), 0o755))
	must.Do(t, os.WriteFile(newest, nil, 0o755))
	for version, want := range map[string]string{"4.10": "Base75689", "4.10.0": "Base75689", "": "Base99999",
		"4.1": "Base99999", "5": "Base99999"} {
		o.Version = version
		if file, err := executable(&o); err != nil || !strings.Contains(file, want) {
			t.Errorf("version %q is %s (%v), want %s", version, file, err, want)
		}
	}
}

func TestAGameThatDiesInABattleIsReplaced(t *testing.T) {
	o, notes := install(t, "Base75689", "crashes")
	g := must.Value(Acquire(o))
	must.Value(g.Deploy(squad()))
	_, err := g.Play([]Order{{Verb: Stop, Tag: 1}}, 8)
	must.Refuse(t, err, "connection")
	g.Discard()
	g = must.Value(Acquire(o))
	defer g.Discard()
	if units, err := g.Deploy(squad()); err != nil || len(units) != 2 {
		t.Errorf("%d units, %v", len(units), err)
	}
	if n := len(started(t, notes)); n != 2 {
		t.Errorf("%d starts, want 2", n)
	}
}

// A game takes gigabytes, so none may survive a kill of the program that started it.
func TestAGameEndsWithItsProgram(t *testing.T) {
	o, _ := install(t, "Base75689", "plays")
	self := must.Value(os.Executable())
	program := exec.Command(self)
	program.Env = append(os.Environ(), owns+"="+o.Folder)
	out := must.Value(program.StdoutPipe())
	must.Do(t, program.Start())
	line, _ := bufio.NewReader(out).ReadString('\n') // an incomplete line is no address
	address := strings.TrimSpace(line)
	if c, err := net.Dial("tcp", address); err != nil {
		t.Errorf("the game is not at %q: %v", address, err)
	} else {
		c.Close()
	}
	must.Do(t, program.Process.Kill())
	_ = program.Wait() // killed
	for range 500 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the game still listens 5 seconds after its program was killed")
}

func TestWhatIsNotInstalledIsNamed(t *testing.T) {
	o, notes := install(t, "Base80188", "plays")
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Folder = t.TempDir() }, "SC2PATH"},
		{func(*Options) {}, "Base75689"},
		{func(o *Options) { o.Version = "5.0.0" }, "task.sc2_version=4.10 "},
		{func(o *Options) {
			o.Version = ""
			must.Do(t, os.RemoveAll(filepath.Join(o.Folder, "Maps")))
		}, "32x32_flat.SC2Map"},
	} {
		p := o
		c.change(&p)
		_, err := Acquire(p)
		must.Refuse(t, err, c.want)
	}
	if n := len(started(t, notes)); n > 2 {
		t.Errorf("%d starts: a lasting error was retried", n)
	}
}

func TestGridsOfBothKindsAreRead(t *testing.T) {
	for _, bits := range []int{1, 8} {
		yard := sc2test.NewYard()
		yard.Bits = bits
		yard.Blocked = func(x, y int) bool { return (3*x+5*y)%7 == 0 }
		yard.Height = func(x, y int) uint8 { return uint8(7*x + 11*y) }
		l := (&sc2test.Server{Game: yard}).Start(t)
		g := must.Value(Acquire(Options{
			Addresses: []string{l.Addr().String()}, StartTimeout: time.Second, RetryEvery: time.Millisecond,
			ReplyTimeout: time.Second,
			Race:         Zerg, Folder: t.TempDir(),
		}))
		for at := range 32 * 32 {
			x, y := at%32, at/32
			if g.Ground.Pathable[at] == yard.Blocked(x, y) || g.Ground.Level[at] != yard.Height(x, y) {
				t.Fatalf("%d bits: cell (%d, %d) is %v, %d", bits, x, y, g.Ground.Pathable[at], g.Ground.Level[at])
			}
		}
		if len(yard.Races) != 1 || yard.Races[0] != Zerg {
			t.Errorf("the computer player's race is %v", yard.Races)
		}
		g.Discard()
	}
}
