// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results"
)

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
		text   string // a minute after the beginning
		share  float64
	}{
		"stored":  {[]results.Event{stored}, "1 done, 0 training, 0 failed, 3 to go", 0.25},
		"ended":   {[]results.Event{stored, ended}, "2 done, 0 training, 0 failed, 2 to go; about 2 min 00 s left", 0.5},
		"half":    {[]results.Event{event("d", 0), event("d", 50)}, "0 done, 1 training, 0 failed, 3 to go; about 7 min 00 s left", 0.125},
		"failed":  {[]results.Event{ended, event("c", 0), broken}, "1 done, 0 training, 1 failed, 2 to go; about 2 min 00 s left", 0.5},
		"resumed": {[]results.Event{event("d", 60), event("d", 95)}, "0 done, 1 training, 0 failed, 3 to go; about 8 min 43 s left", 0.2375},
		"early":   {[]results.Event{event("d", 0), event("d", 10)}, "0 done, 1 training, 0 failed, 3 to go", 0.025},
	} {
		tally := NewTally(4)
		for _, e := range c.events {
			tally.Watch(e)
		}
		tally.since = time.Now().Add(-time.Minute)
		if text, share := tally.String(), tally.Share(); text != c.text || share != c.share {
			t.Errorf("%s: %q, share %g; want %q and %g", name, text, share, c.text, c.share)
		}
	}
}

func TestALogHasALineForEachEvaluationNoteAndFailure(t *testing.T) {
	r := &results.Record{ID: "a", Task: "vmas/balance", Method: "mappo-cermic", Seed: 2, Evals: []results.Eval{{Scores: []float64{42, 44}}}}
	iteration := results.Event{Record: r, Metric: "reward", Frames: 216_000, Total: 600_000, FPS: 15_200, ETA: 25.26}
	evaluation, broken := iteration, results.Event{Record: &results.Record{Task: "vmas/wheel", Method: "qmix", Seed: 1}, Failed: "it broke"}
	evaluation.Eval = &r.Evals[0]
	last, stored := evaluation, results.Event{Record: r, FromStore: true}
	last.Frames, last.ETA = 600_000, 0
	const end = "2 balance mappo-cermic  600k/600k  reward 43  15.2k frames/s  run a"
	const line = "2 balance mappo-cermic  216k/600k  reward 43  15.2k frames/s  25s left"
	for runs, want := range map[int][]string{
		1: {"slow", line, "2 balance mappo-cermic  in the store  run a", end},
		3: {"slow", line + "  (0 done, 1 training, 0 failed, 2 to go)", "2 balance mappo-cermic  in the store  run a",
			end + "  (1 done, 0 training, 0 failed, 2 to go)", "failed  1 wheel qmix: it broke"},
	} {
		var out bytes.Buffer
		p := NewProgress(&out, runs)
		for _, e := range []results.Event{{Note: "slow"}, {Note: "slow"}, iteration, evaluation, stored, last, broken} {
			p.Watch(e)
		}
		if want := strings.Join(want, "\n") + "\n"; out.String() != want || p.Failed() != 1 {
			t.Errorf("of %d runs, %d of them failed:\n%swant\n%s", runs, p.Failed(), out.String(), want)
		}
	}
}
