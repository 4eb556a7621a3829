// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// zipped is text as gzip packs it.
func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// ofSettings is a run of an experiment with these settings of the explorer and any label.
func ofSettings(id, label string, seed uint64, explore string) *Record {
	return &Record{ID: id, Task: "vmas/balance", Method: label, Seed: seed,
		Evals:      []Eval{{Frames: 1, Scores: []float64{float64(seed)}}},
		Experiment: fmt.Appendf(nil, `{"budget":{"name":"short"},"explore":{%s"kind":"mace"},"seed":%d}`, explore, seed)}
}

func TestGroupsAreOfExperimentsNotOfNames(t *testing.T) {
	before, now := ofSettings("a", "mace", 1, ""), ofSettings("b", "mace", 1, `"revision":2,`)
	further, again := ofSettings("c", "mace, renamed", 2, `"revision":2,`), ofSettings("b", "mace", 1, `"revision":2,`)
	gs := Groups([]*Record{now, before, further, again})
	if len(gs) != 2 || !slices.Equal(gs[0].Runs, []*Record{again, further}) || !slices.Equal(gs[1].Runs, []*Record{before}) {
		t.Fatalf("got %+v, want two seeds of one experiment, of the first the newer record, and another experiment", gs)
	}
}

func TestAForkBelongsToTheSameForkOfAnotherSeed(t *testing.T) {
	fork := func(id string, seed uint64, parent string, at int) *Record {
		text := fmt.Appendf(nil, `{"forks":[{"at":%d,"parent":%q,"was":["a=1"]}],"seed":%d}`, at, parent, seed)
		return &Record{ID: id, Seed: seed, Experiment: text}
	}
	gs := Groups([]*Record{fork("a", 1, "x", 100), fork("b", 2, "y", 100), fork("c", 1, "x", 200)})
	if len(gs) != 2 || len(gs[0].Runs) != 2 {
		t.Errorf("got %+v, want two seeds that branch off at 100 frames and one at 200", gs)
	}
}

func TestEqualSeedsInOneMeanAreAnError(t *testing.T) {
	twice := Group{Label: "mace", Runs: []*Record{ofSettings("a", "mace", 1, ""), ofSettings("b", "mace", 1, "")}}
	_, err := twice.Scores()
	must.Refuse(t, err, "two runs of mace on vmas/balance have seed 1, a and b")
	scores, err := Group{Label: "mace", Runs: twice.Runs[:1]}.Scores()
	if err != nil || !slices.Equal(scores, []float64{1}) {
		t.Errorf("one run scores %v, %v", scores, err)
	}
	if err := (Group{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestTheFirstDifferenceIsNamedWithBothValues(t *testing.T) {
	record := func(score, success, kl float64, other ...Point) *Record {
		return &Record{Evals: []Eval{{Frames: 60, Scores: []float64{1, score}, Success: []float64{0, success}}},
			Scalars: map[string]Points{"kl": {{Frames: 6, Value: 1}, {Frames: 12, Value: kl}}, "entropy": other}}
	}
	want := record(2, 1, 3)
	for _, c := range []struct {
		got  *Record
		says string
	}{
		{record(2, 1, 3), ""},
		{record(4, 0, 5), "the return of episode 2 at 60 frames is 4, not 2"},
		{record(2, 0, 5), "the success of episode 2 at 60 frames is 0, not 1"},
		{record(2, 1, 5, Point{}), "the scalar entropy has 1 values, not 0"},
		{record(2, 1, 5), "the scalar kl at 12 frames is 5, not 3"},
		{&Record{}, "0 evaluations instead of 1"},
	} {
		if says := Difference(want, c.got); says != c.says {
			t.Errorf("%q, want %q", says, c.says)
		}
	}
}

func TestTheLastForkIsWhereARecordBegins(t *testing.T) {
	for experiment, want := range map[string]struct {
		parent string
		at     int
	}{
		`{"forks":[{"at":100,"parent":"a","was":[]},{"at":300,"parent":"b","was":["x=1"]}]}`: {"b", 300},
		`{"seed":1}`: {}, `{"forks":[]}`: {}, `{"forks":3}`: {}, ``: {},
	} {
		r := Record{Experiment: json.RawMessage(experiment)}
		if parent, at := r.Fork(); parent != want.parent || at != want.at {
			t.Errorf("%s: parent %q at %d, want %q at %d", experiment, parent, at, want.parent, want.at)
		}
	}
}

// Older packs have scalars as lists of points; today's have columns.
func TestPackedScalarsAreReadFromPointsAndColumns(t *testing.T) {
	squeezed := func(scalars string) []byte {
		return zipped(`{"id":"0a","task":"vmas/balance","method":"mappo","complete":true,"scalars":` + scalars + `}`)
	}
	want := map[string]Points{"kl": {{10, 0.5}, {20, 0.25}}}
	for _, scalars := range []string{
		`{"kl":[{"frames":10,"value":0.5},{"frames":20,"value":0.25}]}`, `{"kl":{"frames":[10,20],"values":[0.5,0.25]}}`,
	} {
		r, err := Unpack(squeezed(scalars))
		if err != nil || !reflect.DeepEqual(r.Scalars, want) {
			t.Fatalf("%s is read as %v, %v", scalars, r, err)
		}
		data := must.Get(Pack(r))(t)
		if again, err := Unpack(data); err != nil || !reflect.DeepEqual(again.Scalars, want) {
			t.Errorf("packed again they are %v, %v, want %v", again, err, want)
		}
	}
	if _, err := Unpack(squeezed(`{"kl":{"frames":[10,20],"values":[0.5]}}`)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a value too few: %v", err)
	}
}

// packedOf is a packed record with any names of task and method.
func packedOf(t *testing.T, task, method string) []byte {
	t.Helper()
	return must.Get(Pack(&Record{ID: "0a", Task: task, Method: method, Complete: true, Experiment: []byte("{}")}))(t)
}

func TestBadPacksAreRefused(t *testing.T) {
	for _, bad := range [][2]string{
		{"../../x", "mappo"}, {"/etc/x", "mappo"}, {"vmas//x", "mappo"}, {"vmas/./x", "mappo"}, {`vmas\x`, "mappo"},
		{"", "mappo"},
		{"vmas/x\n", "mappo"}, {"vmas/x", ""}, {"vmas/x", "a\x1b[2J"}, {"vmas/x", strings.Repeat("a", maxName+1)},
	} {
		if _, err := Unpack(packedOf(t, bad[0], bad[1])); err == nil {
			t.Errorf("task %.40q, method %.40q: a record with these names is read", bad[0], bad[1])
		}
	}
	if _, err := Unpack(packedOf(t, "vmas/balance", "mappo (learner.lr=1e-3, α=.5)")); err != nil {
		t.Error(err)
	}
	for want, data := range map[string][]byte{
		"not a complete record":              zipped(`{"id":"0a","task":"t","method":"m","complete":false}`),
		"1 bytes follow the gzip file's end": append(packedOf(t, "t", "m"), 0),
		"unpacks to more than":               zipped(strings.Repeat("0", maxPack+1)),
	} {
		if _, err := Unpack(data); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
