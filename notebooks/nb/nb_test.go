// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

var record = &results.Record{
	ID: "0123456789abcdef", Task: "vmas/balance", Method: "mappo-cermic", Seed: 2, Budget: "smoke", Frames: 12_000,
	Host:  results.Host{Backend: "xla:cpu", CPU: "some processor", Cores: 2, Seconds: 125},
	Evals: []results.Eval{{Frames: 12_000, Scores: []float64{10, 20}}},
}

func TestEveryKindOfValueHasAFormatThatAnyFrontEndShows(t *testing.T) {
	plot := must.Get(viz.Curves(viz.Figure{X: "frames", Y: "return"}, viz.Evals(results.Groups([]*results.Record{record}))...))(t)
	frame := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.White, color.Black})
	for name, c := range map[string]struct {
		value any
		want  []protocol.MIMEType
	}{
		"plot":    {plot, []protocol.MIMEType{protocol.MIMEImagePNG, protocol.MIMEImageSVG}},
		"panels":  {viz.NewPanels(1, plot), []protocol.MIMEType{protocol.MIMEImagePNG, protocol.MIMEImageSVG}},
		"image":   {image.Image(frame), []protocol.MIMEType{protocol.MIMEImagePNG}},
		"film":    {&gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{5}}, []protocol.MIMEType{protocol.MIMEImagePNG, protocol.MIMETextHTML}},
		"grid":    {viz.ScoreTable{}, []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextPlain}},
		"table":   {viz.Table{Header: []string{"a"}}, []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextPlain}},
		"record":  {record, []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextPlain}},
		"text":    {"*α*", []protocol.MIMEType{protocol.MIMETextMarkdown, protocol.MIMETextPlain}},
		"numbers": {[]int{1, 2}, []protocol.MIMEType{protocol.MIMETextPlain}},
	} {
		got, err := render(c.value)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if got[want] == nil {
				t.Errorf("%s has no %s", name, want)
			}
		}
	}
}

func TestSummaryOfARecordSaysHowFarItGot(t *testing.T) {
	text := summary([]*results.Record{record})[protocol.MIMETextPlain].(string)
	for _, want := range []string{"01234567", "vmas/balance", "12k (partial)", "15", "xla:cpu, some processor, 2 cores", "2 min 05 s"} {
		if !strings.Contains(text, want) {
			t.Errorf("summary %q does not say %q", text, want)
		}
	}
}

func TestSummaryOfAForkKeepsItsHistory(t *testing.T) {
	fork := *record
	fork.Method = "mappo budget.frames=5 (else explore) (continued from 3)"
	text := summary([]*results.Record{&fork})[protocol.MIMETextPlain].(string)
	for _, want := range []string{"mappo budget.frames=5 (continued from 3)  ", "  explore, changed  "} {
		if !strings.Contains(text, want) {
			t.Errorf("summary %q does not say %q", text, want)
		}
	}
}

func TestWarningsAreSentences(t *testing.T) {
	r := slog.NewRecord(time.Time{}, slog.LevelWarn, "the bonus is nearly the same everywhere", 0)
	r.Add("scalar", "cermic/int_variation", "value", 0.013319091850366803)
	if got, want := note(r), "Note: the bonus is nearly the same everywhere (scalar cermic/int_variation, value 0.01332)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOutsideANotebookNothingHappens(t *testing.T) {
	Show("text", record, nil)
	drawn := false
	l := NewLive(func(*results.Record) (any, error) { drawn = true; return "x", nil })
	p := NewProgress()
	e := results.Event{Record: record, Frames: 1, Total: 1}
	l.Watch(e)
	p.Watch(e)
	NewScreen().Show("x")
	NewMap().Watch(results.Event{Record: record, Frames: 1, Total: 1, Visits: &results.Visits{}}) // which cannot be drawn
	if drawn {
		t.Error("a live plot was drawn for nobody")
	}
}

func TestProgressSaysMethodFramesScoreAndTimeLeft(t *testing.T) {
	p := NewProgress()
	said := func(name, want string) {
		t.Helper()
		if got := p.bar()[protocol.MIMETextPlain].(string); got != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
	p.Watch(results.Event{Record: record, Metric: "win rate", Frames: 30_000, Total: 600_000, FPS: 4321.4, ETA: 132})
	p.Watch(results.Event{Note: "backend xla:cpu"})
	said("a run", "mappo-cermic · vmas/balance · seed 2 · 30k of 600k frames · win rate 15 · 4321 frames/s · 2 min 12 s left\nbackend xla:cpu")
	p.Watch(results.Event{Record: &results.Record{ID: "other", Method: "mappo"}, Frames: 5, Total: 5, FromStore: true})
	said("a stored run", "mappo ·  · seed 0 · 5 of 5 frames · from the store")
	stored := &results.Record{ID: "third", Method: "mappo budget.frames=5 explore.alpha=0.5 task.tv=screen (else short) (explore.alpha=1 until 3)",
		Evals: []results.Eval{{Frames: 5, Scores: []float64{-1.5}}}}
	p.Watch(results.Event{Record: stored, Frames: 5, Total: 5, FromStore: true})
	said("a stored run with a score", stored.Method+" ·  · seed 0 · 5 of 5 frames · score −1.5 · from the store")
	page := p.bar()[protocol.MIMETextHTML].(string)
	if !strings.Contains(page, `title="`+stored.Method) || !strings.Contains(page, ">mappo alpha=0.5 tv=screen ·") {
		t.Errorf("the page is %q", page)
	}
}

func TestProgressOfSeveralRunsHasABarOfAll(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	var es []experiment.Config
	for seed := range 4 {
		es = append(es, Must(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: uint64(seed + 1)})))
	}
	p := NewProgress(es...)
	p.Watch(results.Event{Record: record, Metric: "reward", Frames: 300, Total: 600, FPS: 100, ETA: 3})
	shown := p.bar()
	text, page := shown[protocol.MIMETextPlain].(string), shown[protocol.MIMETextHTML].(string)
	if !strings.HasPrefix(text, "0 done, 1 training, 0 failed, 3 to go") || !strings.Contains(text, "\nmappo-cermic · ") {
		t.Errorf("the text is %q", text)
	}
	if strings.Count(page, "<progress") != 2 || !strings.Contains(page, `value="125" max="1000"`) {
		t.Errorf("the page is %q", page)
	}
	if one := NewProgress(es[:1]...).bar()[protocol.MIMETextHTML].(string); strings.Count(one, "<progress") != 1 {
		t.Errorf("of one run the page is %q", one)
	}
}

func TestFramesComeAtMostOnceASecond(t *testing.T) {
	b, now := newBlock(), time.Unix(1000, 0)
	if !b.due(now) || b.due(now.Add(frame/2)) || !b.due(now.Add(frame)) {
		t.Error("want a frame at once, none soon after, and one again after the interval")
	}
}

func TestBudgetFollowsTheEnvironment(t *testing.T) {
	for of, want := range map[string]string{"": "short", "smoke": "smoke"} {
		t.Setenv("NB_BUDGET", of)
		if got := Budget("short"); got != want {
			t.Errorf("with NB_BUDGET=%s the budget is %q, want %q", of, got, want)
		}
	}
}

func TestStopButtonCancelsTheContext(t *testing.T) {
	ctx := Interruptible()
	self := must.Get(os.FindProcess(os.Getpid()))(t)
	if err := self.Signal(os.Interrupt); err != nil {
		t.Skip("this system cannot interrupt a process:", err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Error("an interrupt did not cancel the context")
	}
}

func TestWhatHasNoWeightsIsNotKnown(t *testing.T) {
	if _, ok := Known(0, fmt.Errorf("no weights here (%w)", fs.ErrNotExist)); ok {
		t.Error("a run without weights is known")
	}
	if v, ok := Known(7, nil); !ok || v != 7 {
		t.Errorf("got %d, %t", v, ok)
	}
}

func TestVerdictBoxesAreShownWithTheirState(t *testing.T) {
	claim := must.Get(paper.FindClaim("theorem-1"))(t)
	v := must.Get(claim.Decide())(t)
	shown := must.Get(render(v.Box()))(t)
	for _, form := range []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextPlain} {
		if text, ok := shown[form].(string); !ok || !strings.Contains(text, "holds with an unstated condition") || !strings.Contains(text, "Theorem 1") {
			t.Errorf("%s: %v", form, shown[form])
		}
	}
	Verdict("theorem-1") // a silent no-op outside a notebook
}

func TestFiguresAreSavedInTheFormatOfTheirName(t *testing.T) {
	p := must.Get(viz.Curves(viz.Figure{X: "frames", Y: "return"}, viz.Evals(results.Groups([]*results.Record{record}))...))(t)
	for name, begins := range map[string]string{"a.svg": "<?xml", "a.png": "\x89PNG"} {
		for _, value := range []any{p, viz.NewPanels(1, p)} {
			file := filepath.Join(t.TempDir(), name)
			Save(file, value, nil)
			if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), begins) {
				t.Errorf("%s of a %T begins with %.8q, %v", name, value, data, err)
			}
		}
	}
}

func TestOneCellOfTable1IsTrainedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a cell")
	}
	t.Setenv("NB_STORE", t.TempDir())
	runs := func() []*results.Record {
		t.Helper()
		return Must(Must(results.Open(storeFolder())).Find(results.Query{}))
	}
	options := []string{"budget=smoke", "seeds=1"}
	Cell(paper.Sota, "MAPPO", "Balanc*", options...)
	if n := len(runs()); n != 0 {
		t.Fatalf("%d runs although nobody has asked for training", n)
	}
	Cell(paper.Sota, "MAPPO", "Balanc*", append(options, "train=true")...)
	first := runs()
	if len(first) != 1 || !first[0].Complete || first[0].Method != "mappo" {
		t.Fatalf("got %v, want one complete run of the cell", summary(first))
	}
	Cell(paper.Sota, "MAPPO", "Balanc*", append(options, "again=true")...) // it has its weights here
	if again := runs(); len(again) != 1 || again[0].Host.Seconds != first[0].Host.Seconds {
		t.Errorf("the second time the cell has trained again: %v", summary(again))
	}
	box := Must(Must(plan.NewCell(paper.Sota, "MAPPO", "Balanc*", "smoke", 1)).Report(Store()))
	if box.Head != "too short to compare" || !strings.Contains(strings.Join(box.Lines, "\n"), "1 seed × ") {
		t.Errorf("the report is %+v", box)
	}
}

func TestNoRunIsTrainedWithoutBeingAskedFor(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	t.Setenv("NB_HEADLESS", "1")
	TrainMissing(plan.Grid([]string{"balance"}, []string{"mappo"}, "short", 9))
	if ids := Must(Must(results.Open(storeFolder())).IDs()); len(ids) != 0 {
		t.Errorf("runs %v were trained", ids)
	}
	for first, want := range map[string][2]int{"": {0, 8}, "first": {1, 2}} {
		t.Setenv("NB_TRAIN", first)
		all := make([]experiment.Config, 3)
		if got := [2]int{len(Chosen(false, all)), Brief(8, 2)}; got != want || len(Chosen(true, all)) != 3 || len(Chosen(false, all[:0])) != 0 {
			t.Errorf("NB_TRAIN=%q: got %v, want %v", first, got, want)
		}
	}
}
