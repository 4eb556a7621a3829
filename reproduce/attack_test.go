// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cermic/cermiclib/nn"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

// Flags of the attack; more than a CI can wait for is run by hand: go test ./reproduce -run Attack -attack 2000 -timeout 0.
var (
	attacks    = flag.Int("attack", 100, "command lines of TestAttack")
	attackSeed = flag.Uint64("attackseed", 1, "of their choice")
	attackTold = flag.Bool("attacktold", false, "print every line that ends well, with what it says last: a mistake among them was accepted")
	attackTime = flag.Duration("attacktime", 5*time.Second, "of a processor, or ten times as much by the clock, after which a line must still obey an interrupt")
)

// Limits of a line. What a run needs is estimated from below, so it is told of less memory than it may take.
const (
	attackMemory = 2 << 30
	attackLimit  = "1GiB"
	attackIdle   = time.Minute // without any use of a processor, after which a line waits for what never comes
	attackers    = 4           // lines at a time: most of them wait for a processor or a disk
)

// nasty are values that no flag or setting wants, by class. FOLDER holds a FIFO, an unreadable file, an empty one and one of noise.
var nasty = map[string][]string{
	"empty":     {"", " "},
	"negative":  {"-1", "-0.5", "-9223372036854775808"},
	"zero":      {"0", "0.0", "-0"},
	"huge":      {"1000000000", "9223372036854775807", "18446744073709551615", "1e18", "1e300", "99999999999999999999999999"},
	"NaN":       {"NaN", "nan", "Inf", "-inf", "1e999"},
	"type":      {"abc", "true", "[]", "[1,2]", "{}", "null", "1.5", "0x10", "1,2,3", "[[", `{"kind":"mlp"}`, "٣", "１"},
	"control":   {"a\x1b[2Jb", "a\nb", "\r", "\xff\xfe", "a\tb", "\u202e"},
	"path":      {"../../../x", "/dev/null", "/dev/full", "FOLDER/fifo", "FOLDER/noise", "FOLDER/empty", "FOLDER", "/proc/self/mem", "/proc", ".", "~", "FOLDER/store", "FOLDER/loop"},
	"long":      {strings.Repeat("a", 5000), strings.Repeat("../", 1000), strings.Repeat("9", 400)},
	"shell":     {"$(touch hacked)", "; touch hacked", "`touch hacked`", "%s%n", "--", "-", "-h"},
	"separator": {",", ",,", "=", "@", "0@0", "ID@-1", "@1"},
}

// target is what the attack knows of the program: verbs with command lines that work, their flags, and settings.
type target struct {
	lines    []works
	flags    map[string][]string // by verb
	settings []conf.KeyDoc       // of all of them
}

// works is a command line that works, in which RUN stands for the ID of a trained run in the store.
type works struct {
	args     []string
	settings []conf.KeyDoc // those that it has, where -set counts
}

// aim collects what there is to attack from the program's own declarations.
func aim(t *testing.T) target {
	a := target{flags: map[string][]string{}}
	for _, v := range verbs() {
		a.flags[v.name] = flagsOf(t, v.name)
	}
	seen := map[string]bool{}
	of := func(task, method string) []conf.KeyDoc {
		e, err := plan.New(plan.Request{Task: task, Method: method, Budget: "smoke", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		keys := conf.Keys(e)
		for _, k := range keys {
			if !seen[k.Key] {
				seen[k.Key] = true
				a.settings = append(a.settings, k)
			}
		}
		return keys
	}
	for _, m := range plan.Methods() {
		of("balance", m.ID)
	}
	for _, line := range []string{
		"list", "list -method mappo-cermic -task navigation", "tasks balance -episodes 2", "campaign -table sota -plan", "campaign -plan -budget smoke",
		"campaign -task balance -method mappo -manifest new.jsonl", "campaign -task balance -method mappo -on slurm -dry-run", "work m.jsonl -index 0",
		"pretrain -task navigation -memory mlp -frames 1300 -epochs 1", "evaluate RUN", "watch RUN -o film.gif", "train -fork RUN@100 -set learner.lr=0.001",
		"table sota", "table ablation -format latex", "curves -task balance -reward dense -o c.png", "curves -task balance -with FOLDER/noise", "export csv -o csv",
		"export tensorboard -o tb", "export weights -o w", "status", "status -committed", "delete -yes RUN", "check -task balance -method nothing", "bench -only nothing",
		"setup", "lab", "python", "notebooks -only nothing",
	} {
		a.lines = append(a.lines, works{args: strings.Fields(line), settings: of("balance", "mappo")})
	}
	train := func(task, method string, args []string) { a.lines = append(a.lines, works{args, of(task, method)}) }
	small := func(task, method string) {
		train(task, method, strings.Fields("train -task "+task+" -method "+method+" -budget smoke -set policy.hidden=8 -set task.copies=2 -set learner.frames_per_batch=20"+
			" -set budget.frames=20 -set budget.eval_every=20 -set budget.eval_episodes=1"))
	}
	for range 4 { // training has the most settings
		train("balance", "mappo", tinyTraining("mappo", "runs"))
		train("balance", "mappo-cermic", tinyTraining("mappo-cermic", "runs"))
		train("navigation", "qmix", strings.Fields("train -task navigation -method qmix -budget smoke -set policy.hidden=8 -set task.copies=2 -set budget.frames=100 -set budget.eval_every=100 -set budget.eval_episodes=1"))
		small("protoss_5_vs_5", "mappo")
		small("rooms", "mace")
		small("simple_adversary", "mappo")
	}
	small("stag_hunt_in_the_matrix__repeated", "mappo") // pictures take seconds
	return a
}

// line draws a command line: one that works, with one to three things wrong. set is what it set last, key=value, or empty.
func (a target) line(r *rand.Rand) (args []string, set string) {
	from := a.lines[r.IntN(len(a.lines))]
	args = slices.Clone(from.args)
	verb := args[0]
	classes := make([]string, 0, len(nasty))
	for class := range nasty {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	value := func() string {
		of := nasty[classes[r.IntN(len(classes))]]
		return of[r.IntN(len(of))]
	}
	for range 1 + r.IntN(3) {
		switch known := a.flags[verb]; r.IntN(8) {
		case 0: // absent
			if at := 1 + r.IntN(len(args)); at < len(args) {
				args = slices.Delete(args, at, at+1)
			}
		case 1: // twice
			if at := 1 + r.IntN(len(args)); at < len(args) {
				args = append(args, args[at:min(at+2, len(args))]...)
			}
		case 2: // another in its place
			if at := 1 + r.IntN(len(args)); at < len(args) {
				args[at] = value()
			}
		case 3: // misspelled, or an argument that nobody wants
			args = append(args, []string{"-sett", "--", "-x=1", "extra", value()}[r.IntN(5)])
		case 4, 5: // a flag of the verb
			if len(known) == 0 {
				continue
			}
			args = append(args, "-"+known[r.IntN(len(known))]+"="+value())
		default: // a setting
			if !slices.Contains(known, "set") {
				continue
			}
			keys := from.settings
			if r.IntN(4) == 0 {
				keys = a.settings
			}
			k := keys[r.IntN(len(keys))]
			v := value()
			if k.Bounds != nil && r.IntN(2) == 0 {
				v = fmt.Sprintf("%.15g", []float64{k.Bounds.Min - 1, k.Bounds.Min, k.Bounds.Max, k.Bounds.Max + 1}[r.IntN(4)])
			}
			if k.Kinds != nil && r.IntN(2) == 0 {
				v = k.Kinds[r.IntN(len(k.Kinds))]
			}
			set = k.Key + "=" + v
			args = append(args, "-set", set)
		}
	}
	return args, set
}

// battlefield is a folder in which lines are run, with a store that holds one trained run.
type battlefield struct {
	t      *testing.T
	dir    string // template, copied for each line
	folder string
	run    string // ID
}

func newBattlefield(t *testing.T) battlefield {
	b := battlefield{t: t, dir: t.TempDir(), folder: t.TempDir()}
	finish(t, tinyTraining("mappo", filepath.Join(b.dir, "runs"))...)
	found, err := filepath.Glob(filepath.Join(b.dir, "runs", "*", "record.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	b.run = filepath.Base(filepath.Dir(found[0]))
	finish(t, append([]string{"campaign", "-manifest", filepath.Join(b.dir, "m.jsonl")}, tinyTraining("mappo", filepath.Join(b.dir, "runs"), "learner.lr=0.003")[1:]...)...)
	noise := make([]byte, 1000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, data := range map[string][]byte{"noise": noise, "empty": nil} {
		if err := os.WriteFile(filepath.Join(b.folder, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(b.folder, "fifo")).Run(); err != nil {
		t.Skipf("no FIFO can be made here: %v", err)
	}
	b.hostileStore(filepath.Join(b.folder, "store"))
	return b
}

// hostileStore makes a store in which every record, checkpoint and lock is something else.
func (b battlefield) hostileStore(dir string) {
	must := func(err error) {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	must(os.Symlink("loop", filepath.Join(b.folder, "loop")))
	record, err := os.ReadFile(filepath.Join(b.dir, "runs", b.run, "record.json"))
	must(err)
	for i, wrong := range []any{filepath.Join(b.folder, "fifo"), "record.json", "/dev/zero", []byte(nil), record[:len(record)/2], []byte(`{"crc":"0","v":{}}`), []byte("{}"), []byte("null")} {
		run := filepath.Join(dir, fmt.Sprintf("%016x", i))
		must(os.MkdirAll(run, 0o777))
		for _, name := range []string{"record.json", "checkpoint.safetensors", "lock"} {
			switch wrong := wrong.(type) {
			case string:
				must(os.Symlink(wrong, filepath.Join(run, name)))
			case []byte:
				must(os.WriteFile(filepath.Join(run, name), wrong, 0o666))
			}
		}
	}
	must(os.Mkdir(filepath.Join(dir, "0123456789abcdef"), 0o777))
	must(os.WriteFile(filepath.Join(dir, "pretrained"), nil, 0o666)) // a file where a folder is wanted
}

// outcome is how a line ended.
type outcome struct {
	wrong string // with that, empty: nothing
	code  int
	last  string // that it said
	used  time.Duration
}

// fight runs one line.
func (b battlefield) fight(args []string, set string) outcome {
	top, err := os.MkdirTemp("", "attack")
	if err != nil {
		return outcome{wrong: err.Error()}
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "as", "deep", "as", "paths", "climb") // what is written above it goes with it
	if err := os.CopyFS(dir, os.DirFS(b.dir)); err != nil {
		return outcome{wrong: err.Error()}
	}
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.NewReplacer("RUN", b.run, "FOLDER", b.folder).Replace(args[i])
	}
	ctx, done := context.WithCancel(b.t.Context())
	defer done()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "GOMLX_BACKEND="+nn.Sequential, "GOMEMLIMIT="+attackLimit, "PYTHON=python-that-nobody-has")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return outcome{wrong: err.Error()} // a zero byte, for example, which is in no class
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	peak, w, asked := int64(0), startStopwatch(cmd.Process.Pid), (*stopwatch)(nil)
	idle := *w // since it last did anything
	killed := func(wrong string) outcome {
		_ = cmd.Process.Kill()
		<-ended
		return outcome{wrong: wrong, code: -1}
	}
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(50 * time.Millisecond):
			if peak = max(peak, resident(cmd.Process.Pid)); peak > attackMemory {
				return killed(fmt.Sprintf("takes %.1f GB", float64(peak)/1e9))
			}
			if usedBy(cmd.Process.Pid) > idle.used {
				idle = *startStopwatch(cmd.Process.Pid)
			}
			if asked == nil && time.Since(idle.at) > attackIdle {
				return killed("waits without a word")
			}
			if asked == nil && w.past(*attackTime) {
				asked = startStopwatch(cmd.Process.Pid)
				_ = cmd.Process.Signal(os.Interrupt)
			}
			if asked != nil && asked.past(stopTime+2*time.Second) {
				return killed("hangs, deaf to an interrupt")
			}
		}
	}
	said := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	end := cmd.ProcessState
	return outcome{
		wrong: b.wrong(dir, args, set, end.ExitCode(), asked != nil, stdout.String(), stderr.String()),
		code:  end.ExitCode(), last: said[len(said)-1], used: end.UserTime() + end.SystemTime(),
	}
}

// wrong is what is wrong with how a line ended that was run in dir, empty if nothing is. asked says whether it was interrupted.
func (b battlefield) wrong(dir string, args []string, set string, code int, asked bool, stdout, stderr string) string {
	for _, trace := range []string{"goroutine ", "panic", "Traceback", "runtime error", ".go:", "fatal error", "SIG"} {
		if strings.Contains(stdout+stderr, trace) {
			return "shows its inside: " + trace
		}
	}
	switch _, err := os.Stat(filepath.Join(dir, "hacked")); {
	case err == nil:
		return "ran a shell"
	case asked && code == 130:
		return ""
	case code == 0 && stdout == "":
		return "ends well without a word"
	case code == 0 && strings.HasPrefix(stdout, "usage:") || code == 0 && slices.ContainsFunc(args, isHelp):
		return "" // it was asked for help
	case code == 0 && args[0] == "train" && set != "":
		return cmp.Or(unset(set, dir, b.folder), unwritten(dir, args))
	case code == 0:
		return unwritten(dir, args)
	case code != 1 && code != 2:
		return "ends with another code"
	case !strings.HasPrefix(stderr, "reproduce: ") || strings.Count(stderr, "\n") != 1 || len(stderr) > 1500:
		return "does not say one sentence"
	}
	return ""
}

// unwritten says that a line which ended well in dir has not written the file that it was to write, or read or made the store that it names.
func unwritten(dir string, args []string) string {
	for i, arg := range args {
		name, path, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !ok && i+1 < len(args) {
			path = args[i+1]
		}
		if !strings.HasPrefix(arg, "-") || name != "o" && name != "manifest" && (name != "store" || args[0] == "campaign") { // which plans
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Sprintf("ends well without -%s: %v", name, err)
		}
	}
	return ""
}

// stopwatch tells how long a process has run, in time of a processor: on a busy machine the clock says how busy it is.
type stopwatch struct {
	pid  int
	used time.Duration // of a processor, at the start
	at   time.Time
}

func startStopwatch(pid int) *stopwatch { return &stopwatch{pid, usedBy(pid), time.Now()} }

// past reports whether the process has used more than d of a processor since, or waited for ten times as long.
func (s *stopwatch) past(d time.Duration) bool {
	return usedBy(s.pid)-s.used > d || time.Since(s.at) > 10*d
}

// usedBy is how much of a processor a process has used, 0 where that cannot be told.
func usedBy(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(text), ") ") // behind its name, which can hold anything
	fields := strings.Fields(rest)
	if err != nil || !ok || len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // Linux counts in hundredths of a second whatever its own clock does
	own, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(own+system) * tick
}

// unset says that no run in stores, wherever below folders, has the setting that a line which ended well set.
func unset(set string, folders ...string) string {
	key, want, _ := strings.Cut(set, "=")
	found, runs := []string{}, 0
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "record.json" && d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if values, bad := conf.Values(data); err == nil && bad == nil {
					runs++
					if v, ok := values["v.experiment."+key]; ok { // within its seal
						found = append(found, v)
					}
				}
			}
			return nil
		})
	}
	if slices.ContainsFunc(found, func(got string) bool { return alike(got, want) }) {
		return ""
	}
	// A setting that was added later is left out of a run's description where it is zero, as before there was one.
	if runs > 0 && len(found) == 0 && (alike("0", want) || alike("false", want)) {
		return ""
	}
	return fmt.Sprintf("ends well, but %s is %q in its runs", key, found)
}

// alike reports whether two texts write the same value.
func alike(got, want string) bool {
	plain := func(s string) string { return strings.Trim(strings.ReplaceAll(strings.TrimSpace(s), " ", ""), "[]\"") }
	if plain(got) == plain(want) {
		return true
	}
	a, err := strconv.ParseFloat(plain(got), 64)
	b, other := strconv.ParseFloat(plain(want), 64)
	if err == nil && other == nil && a == b {
		return true
	}
	yes, err := strconv.ParseBool(plain(want))
	return err == nil && plain(got) == strconv.FormatBool(yes)
}

// resident is how much memory a process has, 0 where that cannot be told.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// Whatever is typed ends within limits of memory and time: with exit code 1 or 2 and one sentence, or with 0 and an effect.
func TestAttack(t *testing.T) {
	needSignals(t)
	n := *attacks
	if testing.Short() {
		n = min(n, 15)
	}
	a, b := aim(t), newBattlefield(t)
	r := rand.New(rand.NewPCG(*attackSeed, 29))
	codes, failures, used := map[int]int{}, 0, time.Duration(0)
	var mu sync.Mutex
	fights := make(chan func())
	var group sync.WaitGroup
	for range attackers {
		group.Go(func() {
			for fight := range fights {
				fight()
			}
		})
	}
	for i := range n {
		args, set := a.line(r)
		fights <- func() {
			end := b.fight(args, set)
			mu.Lock()
			defer mu.Unlock()
			codes[end.code]++
			used += end.used
			if end.wrong != "" {
				failures++
				t.Errorf("line %d %s, exit code %d:\n  %.700q", i, end.wrong, end.code, args)
			}
			if *attackTold && (end.code == 0 || end.code == 130) {
				t.Logf("well, %d, %v: %.700q\n  %.200q", end.code, end.used.Round(10*time.Millisecond), args, end.last)
			}
		}
	}
	close(fights)
	group.Wait()
	t.Logf("%d lines of seed %d, %d failures, by exit code %v, %v of a processor", n, *attackSeed, failures, codes, used.Round(time.Second))
}

// The attack notices what it is there for.
func TestAttackNoticesWhatIsWrong(t *testing.T) {
	if !alike("[64,64]", "64, 64") || !alike("true", "1") || !alike("0.001", "1e-3") || alike("60", "61") || alike("false", "1") {
		t.Error("values are compared wrongly")
	}
	store := t.TempDir()
	finish(t, tinyTraining("mappo", store, "learner.lr=0.002")...)
	for set, wrong := range map[string]bool{"learner.lr=2e-3": false, "learner.lr=0.003": true, "explore.psi_spread=0": false, "explore.psi_spread=1": true} {
		if got := unset(set, store); (got != "") != wrong {
			t.Errorf("%s: %q", set, got)
		}
	}
	if got := unset("learner.lr=1", t.TempDir()); !strings.Contains(got, "learner.lr") {
		t.Errorf("a setting that no run has: %q", got)
	}
	if dir := t.TempDir(); unwritten(dir, []string{"list", "-o", "."}) != "" || unwritten(dir, []string{"list", "-o=x"}) == "" {
		t.Error("what was written is not told from what was not")
	}
	if !isHelp("-h") || isHelp("-x") {
		t.Error("help is not told from other flags")
	}
	if w := startStopwatch(os.Getpid()); w.past(time.Hour) || usedBy(1<<30) != 0 {
		t.Error("a process that has just begun is late")
	}
	if pid := os.Getpid(); resident(pid) < 1<<20 && errors.Is(exec.Command("test", "-d", "/proc/self").Run(), nil) {
		t.Errorf("this process has %d bytes", resident(pid))
	}
}
