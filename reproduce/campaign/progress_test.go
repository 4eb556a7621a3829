// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

func TestTheLiveBoardRewritesOnlyItsOwnLines(t *testing.T) {
	var out bytes.Buffer
	b := NewBoard(&out, 3, nil)
	b.live = true
	b.Watch(someEvent())
	if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[0], "216k/600k") || lines[1] != "[██░░░░░░░░░░░░░░░░░░░░░░] 0 done, 1 training, 0 failed, 2 to go" {
		t.Errorf("first %q", lines)
	}
	out.Reset()
	end := someEvent()
	end.Frames, end.Eval = end.Total, &end.Record.Evals[0]
	b.Watch(end)
	if text := out.String(); !strings.HasPrefix(text, "\x1b[2A\x1b[Jdone    2 balance") || !strings.Contains(text, "[████████░░░░░░░░░░░░░░░░] 1 done, 0 training, 0 failed, 2 to go; about ") {
		t.Errorf("then %q", text)
	}
	out.Reset()
	b.Watch(results.Event{Record: &results.Record{ID: "b", Task: "vmas/wheel", Method: "qmix", Seed: 1}, Failed: "it broke"})
	if text := out.String(); !strings.Contains(text, "failed  1 wheel qmix: it broke\n") || !strings.Contains(text, "1 failed, 1 to go") {
		t.Errorf("at last %q", text)
	}
}

func TestATallySaysHowMuchIsBehindItAndHowLongTheRestTakes(t *testing.T) {
	a := NewTally(4, map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Minute, "d": 3 * time.Minute})
	a.Watch(results.Event{Record: &results.Record{ID: "b"}, FromStore: true})
	if got := a.String(); got != "1 done, 0 training, 0 failed, 3 to go" || a.Share() != 0.25 {
		t.Errorf("of stored runs %q and %g, want no pace", got, a.Share())
	}
	a.since = time.Now().Add(-time.Minute)
	end := someEvent()
	end.Frames, end.Eval = end.Total, &end.Record.Evals[0]
	if !a.Watch(end) {
		t.Error("the run has not ended")
	}
	// One minute's worth took a minute; of the six minutes' worth four are left.
	if got := a.String(); got != "2 done, 0 training, 0 failed, 2 to go; about "+viz.Clock(240)+" left" {
		t.Errorf("got %q", got)
	}
	half := someEvent()
	half.Record = &results.Record{ID: "c"}
	half.Frames = half.Total / 2
	if a.Watch(half); a.Share() != 0.625 {
		t.Errorf("behind it are %g, want two runs and a half", a.Share())
	}
}

func TestATallyLeavesOutWhatHasFailedAndWhatWasTrainedBefore(t *testing.T) {
	event := func(id string, frames int) results.Event {
		e := someEvent()
		e.Record = &results.Record{ID: id, Task: "vmas/" + id, Method: "mappo"}
		e.Frames, e.Total = frames, 100
		return e
	}
	hour := map[string]time.Duration{"a": time.Hour, "b": time.Hour, "c": time.Hour, "d": time.Hour}
	failing := NewTally(4, hour)
	failing.since = time.Now().Add(-time.Hour)
	end := event("a", 100)
	end.Eval = &results.Eval{}
	failing.Watch(end)
	for _, id := range []string{"b", "c"} {
		e := event(id, 50)
		e.Failed = "it broke"
		failing.Watch(e)
	}
	if got := failing.left(); got.Round(time.Minute) != time.Hour || failing.Share() != 0.75 || failing.Failed() != 2 { // d alone
		t.Errorf("after %d failures %v are left and a share of %g is over, want an hour and 0.75", failing.Failed(), got, failing.Share())
	}
	resumed := NewTally(4, hour)
	resumed.since = time.Now().Add(-3 * time.Minute)
	resumed.Watch(event("a", 90))
	resumed.Watch(event("a", 95)) // a twentieth of an hour's worth took three minutes
	if got := resumed.left(); got.Round(time.Minute) != 3*time.Minute+2*time.Hour+time.Hour {
		t.Errorf("beside a run that began at nine tenths %v are left, want its last twentieth and the others", got)
	}
	resumed.Watch(event("a", 100))
	ended := event("a", 100)
	ended.Eval = &results.Eval{}
	resumed.since = time.Now().Add(-6 * time.Minute)
	resumed.Watch(ended)
	if got := resumed.left(); got.Round(time.Minute) != 3*time.Hour {
		t.Errorf("when it has ended %v are left, want those of three whole runs", got)
	}
}

// someEvent is a run of 600,000 frames in the middle.
func someEvent() results.Event {
	return results.Event{
		Record: &results.Record{ID: "a", Task: "vmas/balance", Method: "mappo-cermic explore.alpha=0.5 explore.memory=gru", Seed: 2,
			Evals: []results.Eval{{Scores: []float64{42, 44}}}},
		Metric: "reward", Frames: 216_000, Total: 600_000, FPS: 15_200, ETA: 25.26, Scalars: map[string]float64{},
	}
}

func TestLiveLinesKeepTheirNumbersAndNeverWrap(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, 3)
	p.live = true
	p.Watch(someEvent())
	line, rest, _ := strings.Cut(out.String(), "\n")
	if n := len([]rune(line)); n > 79 || rest != "" {
		t.Errorf("%d characters, then %q: %q", n, rest, line)
	}
	if !strings.HasSuffix(line, "…  216k/600k  reward 43  15.2k frames/s  25s left  (0 of 3 runs done)") {
		t.Errorf("got %q", line)
	}
	out.Reset()
	end := someEvent()
	end.Frames, end.Eval = end.Total, &end.Record.Evals[0]
	p.Watch(end)
	p.Watch(results.Event{Record: &results.Record{ID: "b", Task: "vmas/wheel", Method: "qmix", Seed: 1}, FromStore: true})
	p.Done()
	if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "\x1b[1A\x1b[J2 balance") ||
		!strings.Contains(lines[0], "600k/600k") || lines[1] != "1 wheel qmix  in the store" {
		t.Errorf("at last %q", lines)
	}
}

func TestAPipedLogHasOneLineForEachEvaluation(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, 1)
	p.Watch(someEvent())
	if out.Len() > 0 {
		t.Errorf("an iteration wrote %q", out.String())
	}
	e := someEvent()
	e.Eval = &e.Record.Evals[0]
	p.Watch(e)
	if strings.Count(out.String(), "\n") != 1 || strings.ContainsAny(out.String(), "\r\x1b") || !strings.Contains(out.String(), "reward 43") {
		t.Errorf("an evaluation wrote %q", out.String())
	}
}

func TestALogHasEachNoteOnceAndTheFailuresOfSeveralRuns(t *testing.T) {
	for runs, want := range map[int]string{1: "slow\n", 2: "slow\nfailed  2 wheel qmix: it broke\n"} {
		var out bytes.Buffer
		p := NewProgress(&out, runs)
		for range 2 {
			p.Watch(results.Event{Note: "slow"})
		}
		p.Watch(results.Event{Record: &results.Record{Task: "vmas/wheel", Method: "qmix", Seed: 2}, Failed: "it broke"})
		if p.Done(); out.String() != want {
			t.Errorf("of %d runs %q, want %q", runs, out.String(), want)
		}
	}
}
