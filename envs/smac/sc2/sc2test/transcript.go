// SPDX-License-Identifier: Apache-2.0

package sc2test

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// Row is one message of a recorded session.
type Row struct {
	Dir  string // "req" or "res"
	Kind string // as the interface calls it: "step"
	Data []byte `json:"b64"`
}

// Transcript is a Game that answers with the recorded bytes. Requests that change the game must come as they were recorded,
// and in that order; those that only look may be left out or come more often.
type Transcript struct {
	Rows []Row
	at   int            // next row
	seen map[string]int // last answer of each kind
}

// reads are the requests that change nothing.
var reads = []string{"ping", "observation", "data", "game_info"}

// Answer returns the recorded answer.
func (t *Transcript) Answer(req *sc2api.Request) ([]byte, error) {
	kind := req.Kind()
	look := slices.Contains(reads, kind)
	at := t.at
	for at < len(t.Rows) && t.Rows[at].Kind != kind {
		if !slices.Contains(reads, t.Rows[at].Kind) { // the recorded client changed something here
			break
		}
		at += 2
	}
	if at >= len(t.Rows) || t.Rows[at].Kind != kind {
		if last, ok := t.seen[kind]; ok && look {
			return t.Rows[last].Data, nil
		}
		return nil, fmt.Errorf("%s comes where the recording has %s", kind, t.next())
	}
	if !look {
		want := new(sc2api.Request)
		if err := proto.Unmarshal(t.Rows[at].Data, want); err != nil {
			return nil, err
		}
		if !same(req, want) {
			return nil, fmt.Errorf("request %v, want %v", req, want)
		}
	}
	if t.seen == nil {
		t.seen = map[string]int{}
	}
	t.seen[kind] = at + 1
	t.at = at + 2
	return t.Rows[at+1].Data, nil
}

// next is the kind of the next row.
func (t *Transcript) next() string {
	if t.at >= len(t.Rows) {
		return "its end"
	}
	return t.Rows[t.at].Kind
}

// Left is the number of recorded requests that changed the game and did not come.
func (t *Transcript) Left() int {
	left := 0
	for _, row := range t.Rows[t.at:] {
		if row.Dir == "req" && !slices.Contains(reads, row.Kind) {
			left++
		}
	}
	return left
}

// same compares two requests but for their ids and for the order in which units are removed.
func same(a, b *sc2api.Request) bool {
	a, b = proto.Clone(a).(*sc2api.Request), proto.Clone(b).(*sc2api.Request)
	for _, x := range []*sc2api.Request{a, b} {
		x.Id = nil
		for _, d := range x.GetDebug().GetDebug() {
			if kill := d.GetKillUnit(); kill != nil {
				slices.Sort(kill.Tag)
			}
		}
	}
	return proto.Equal(a, b)
}
