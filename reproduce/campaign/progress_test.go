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

// someEvent is a run of 600,000 frames in the middle.
func someEvent() results.Event {
	return results.Event{
		Record: &results.Record{ID: "a", Task: "vmas/balance", Method: "mappo-cermic explore.alpha=0.5 explore.memory=gru", Seed: 2,
			Evals: []results.Eval{{Scores: []float64{42, 44}}}},
		Metric: "reward", Frames: 216_000, Total: 600_000, FPS: 15_200, ETA: 25.26, Scalars: map[string]float64{},
	}
}

func TestTheLiveLineKeepsItsNumbersAndNeverWraps(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, 3)
	p.live = true
	p.Watch(someEvent())
	line := strings.TrimPrefix(out.String(), "\r\x1b[K")
	if n := len([]rune(line)); n > 79 || strings.Contains(line, "\n") {
		t.Errorf("%d characters: %q", n, line)
	}
	if !strings.HasSuffix(line, "216k/600k  reward 43  15.2k frames/s  25s left  (0 of 3 runs done)") {
		t.Errorf("got %q", line)
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
