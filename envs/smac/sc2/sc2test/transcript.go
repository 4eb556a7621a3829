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
	Kind string // name in the API, such as "step"
	Data []byte `json:"b64"`
}

// Transcript is a Game that replays recorded answers. Requests that change the game must match the recording, in
// order; read-only requests may be omitted or repeated.
type Transcript struct {
	Rows []Row
	at   int            // next row
	seen map[string]int // last answer of each kind
}

// reads are the read-only requests.
var reads = []string{"ping", "observation", "data", "game_info"}

// Answer returns the recorded answer.
func (t *Transcript) Answer(req *sc2api.Request) ([]byte, error) {
	kind := req.Kind()
	look := slices.Contains(reads, kind)
	at := t.at
	for at < len(t.Rows) && t.Rows[at].Kind != kind {
		if !slices.Contains(reads, t.Rows[at].Kind) { // the recorded client changed the game here
			break
		}
		at += 2
	}
	if at >= len(t.Rows) || t.Rows[at].Kind != kind {
		if last, ok := t.seen[kind]; ok && look {
			return t.Rows[last].Data, nil
		}
		return nil, fmt.Errorf("got request %s, the recording has %s", kind, t.next())
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

// Left returns the number of recorded requests that changed the game and were not received.
func (t *Transcript) Left() int {
	left := 0
	for _, row := range t.Rows[t.at:] {
		if row.Dir == "req" && !slices.Contains(reads, row.Kind) {
			left++
		}
	}
	return left
}

// same compares two requests, ignoring their ids and the order in which units are removed.
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
