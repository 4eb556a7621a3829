// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results"
)

func TestTheLiveBoardRewritesOnlyItsOwnLines(t *testing.T) {
	var out bytes.Buffer
	b := NewBoard(&out, 3)
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

func TestATallySaysHowMuchIsDoneAndHowLongTheRestTakes(t *testing.T) {
	event := func(id string, frames int) results.Event {
		return results.Event{Record: &results.Record{ID: id, Task: "vmas/" + id, Method: "mappo"}, Frames: frames, Total: 100}
	}
	ended := event("a", 100)
	ended.Eval = &results.Eval{}
	broken := event("c", 50)
	broken.Failed = "it broke"
	stored := results.Event{Record: &results.Record{ID: "b"}, FromStore: true}
	for name, c := range map[string]struct {
		events []results.Event
		text   string
		share  float64
		left   time.Duration // a minute after the beginning
	}{
		"stored":  {[]results.Event{stored}, "1 done, 0 training, 0 failed, 3 to go", 0.25, 0},
		"ended":   {[]results.Event{stored, ended}, "2 done, 0 training, 0 failed, 2 to go; about 2 min 00 s left", 0.5, 2 * time.Minute},
		"half":    {[]results.Event{event("d", 0), event("d", 50)}, "0 done, 1 training, 0 failed, 3 to go; about 7 min 00 s left", 0.125, 7 * time.Minute},
		"failed":  {[]results.Event{ended, event("c", 0), broken}, "1 done, 0 training, 1 failed, 2 to go; about 2 min 00 s left", 0.5, 2 * time.Minute},
		"resumed": {[]results.Event{event("d", 90), event("d", 95)}, "0 done, 1 training, 0 failed, 3 to go; about 1 h 01 min left", 0.2375, 61 * time.Minute},
	} {
		tally := NewTally(4)
		for _, e := range c.events {
			tally.Watch(e)
		}
		tally.since = time.Now().Add(-time.Minute)
		if text, share, left := tally.String(), tally.Share(), tally.left(); text != c.text || share != c.share || left.Round(time.Second) != c.left {
			t.Errorf("%s: %q, share %g, %v left; want %q, %g and %v", name, text, share, left, c.text, c.share, c.left)
		}
	}
	tally := NewTally(4)
	if tally.Watch(event("a", 50)) || !tally.Watch(ended) || !tally.Watch(broken) || tally.Failed() != 1 {
		t.Errorf("%d failed runs, want the end of two reported, one of them a failure", tally.Failed())
	}
}

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
