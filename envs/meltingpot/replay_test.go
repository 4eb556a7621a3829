// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// Repeats every step of every recording from the recorded state before it, with the recorded random outcomes. The
// resulting state, rewards, observations, events and pixels must be equal, without any tolerance. The frequencies of
// recorded outcomes must also agree with the rules' probabilities.
func TestStepsFollowRecordings(t *testing.T) {
	all := envtest.Agreements{Source: "Melting Pot 2.4.1"}
	t.Cleanup(func() {
		if !testing.Short() { // otherwise only the start of each recording is used
			all.Check(t, measured)
		}
	})
	for _, file := range envtest.Recordings(t, "meltingpot", "*.jsonl.gz") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			t.Parallel()
			var f *follower
			var before *moment
			steps, pictures := 0, 0
			readStream(t, file, func(h *header) { f = newFollower(t, h) }, func(m *moment) bool {
				switch {
				case before != nil:
					f.seat(before)
					f.follow(m)
					f.compare(m)
					steps++
				case m.T == 0: // otherwise the recording starts in the middle of an episode
					f.starts(m)
				}
				if m.RGB != nil && (before != nil || f.startLooks(m)) {
					f.comparePixels(m)
					pictures++
				}
				before = m
				return !t.Failed() && (!testing.Short() || steps < 60)
			})
			t.Logf("%d steps and %d sets of pictures, no difference allowed", steps, pictures)
			if steps == 0 || pictures == 0 && envtest.OwnRecordings() {
				t.Fatal("nothing was compared")
			}
			for r, n := range f.drawn {
				if n.draws > 0 {
					binomial(t, [...]string{ruleGrow: "growth", ruleFoul: "new dirt"}[r], n.hits, n.draws, n.expected/n.draws)
				}
			}
			all.Add(f.e.spec.Name, steps, envs.Agreement{}) // no difference is allowed
		})
	}
}

// follower replays a recording in one environment.
type follower struct {
	t       *testing.T
	e       *env
	g       game
	b       *board
	out     *envs.Step
	actions []int32     // our action for each recorded one
	sites   map[int]int // our site number of each recorded object that is a site
	object  []int       // recorded number of each of our sites
	marker  map[int]int // player of each recorded marker
	player  map[int]int // player of each recorded avatar
	water   map[int]int32
	m       *moment // the step whose outcomes are replayed
	// outcomes of each rule, and the sums of our probabilities
	drawn [ruleFoul + 1]struct{ hits, draws, expected float64 }
}

func newFollower(t *testing.T, h *header) *follower {
	t.Helper()
	cfg := must.Value(envs.Default("meltingpot/" + h.Substrate))
	e := must.Value(cfg.WithShared(envs.Common{NumEnvs: 1, Reward: envs.Dense}).Build(1, 1)).(*env)
	f := &follower{
		t: t, e: e, g: e.games[0], b: e.games[0].base(), out: envs.NewStep(e.Spec()),
		sites: map[int]int{}, marker: map[int]int{}, player: map[int]int{}, water: map[int]int32{},
	}
	f.object = make([]int, len(f.b.sites))
	if len(f.b.avatars) != h.Players || e.spec.Act.Choices != len(h.Actions) || e.spec.Horizon != h.MaxFrames {
		t.Fatalf("%d players, %d actions, %d steps; recorded: %d, %d, %d",
			len(f.b.avatars), e.spec.Act.Choices, e.spec.Horizon,
			h.Players, len(h.Actions), h.MaxFrames)
	}
	for y, row := range h.Map {
		for x := range row {
			if f.b.letters[f.b.cell(x, y)] != row[x] {
				t.Fatalf("the map differs in column %d of row %d", x, y)
			}
		}
	}
	e.Reset(nil, f.out)
	f.drawBeamsAs(h.RenderOrder)
	for _, theirs := range h.Actions {
		f.actions = append(f.actions, ourAction(t, theirs))
	}
	for _, raw := range h.Objects {
		f.declare(raw)
	}
	if len(f.sites) != len(f.b.sites) || len(f.player) != h.Players {
		t.Fatalf("%d sites and %d players are recorded, want %d and %d",
			len(f.sites), len(f.player), len(f.b.sites), h.Players)
	}
	return f
}

// ourAction returns the action with the same effect as a recorded one.
func ourAction(t *testing.T, theirs map[string]int) int32 {
	t.Helper()
	walk := []int32{actNoop, actForward, actRight, actBackward, actLeft}
	switch {
	case theirs["interact"]+theirs["fireZap"] > 0:
		return actFire
	case theirs["fireClean"] > 0:
		return actClean
	case theirs["turn"] < 0:
		return actTurnLeft
	case theirs["turn"] > 0:
		return actTurnRight
	}
	return walk[theirs["move"]]
}

// drawBeamsAs draws the beams in the recorded order, which differs between processes of the original.
func (f *follower) drawBeamsAs(order []string) {
	if slices.Index(order, "beamZap") >= slices.Index(order, "beamClean") {
		return // our own order; matrix games have one beam
	}
	look, _ := cleanUpLooks()
	slices.Reverse(look.beams)
	p := newPalette(look, sprites().Substrates["clean_up"].Sprites)
	for viewer, table := range p.table {
		swapped := slices.Clone(table)
		for code, v := range table {
			swapped[code&^3|code&1<<1|code>>1&1] = v
		}
		p.table[viewer] = swapped
	}
	l := *f.b.layout
	l.palette = p
	f.b.layout = &l
	f.e.spec.Pixels = p.pixels
}

// declare maps a recorded object to ours.
func (f *follower) declare(raw json.RawMessage) {
	var fields []any
	must.Do(f.t, json.Unmarshal(raw, &fields))
	k, name := int(fields[0].(float64)), fields[1].(string)
	cell := f.b.cell(int(fields[2].(float64)), int(fields[3].(float64)))
	switch {
	case name == "avatarReadyToInteractMarker":
		f.marker[k] = len(f.marker)
	case strings.HasPrefix(name, "avatar"):
		f.player[k] = len(f.player)
	case name == "water_background":
		f.water[k] = cell
	case strings.HasPrefix(name, "resource_class"), name == "DirtContainer", name == "potentialApple":
		s := int(f.b.siteAt[cell])
		f.sites[k], f.object[s] = s, k
		if m, ok := f.g.(*matrix); ok {
			m.class[s] = name[len(name)-1] - '1'
		}
	}
}

var facings = map[string]facing{"N": north, "E": east, "S": south, "W": west}

// markers maps the recorded names to our markers.
var markers = map[string]uint8{
	"notReady": markerNone, "avatarMarkingWait": markerNone, "ready": markerReady,
	"resultIndicatorColor1": markerResult, "resultIndicatorColor2": markerResult + 1,
	"resultIndicatorColor3": markerResult + 2,
	"resultIndicatorColor4": markerResult + 3, "resultIndicatorColor5": markerResult + 4,
}

// siteState reports whether a recorded site is full.
func siteState(name string) uint8 {
	if strings.HasSuffix(name, "_wait") || strings.HasSuffix(name, "Wait") {
		return siteEmpty
	}
	return siteFull
}

// seat sets the environment to the state after a recorded step.
func (f *follower) seat(m *moment) {
	b := f.b
	b.frame = int32(m.T)
	now := b.frame + 1 // reference of ages
	for i, a := range m.Avatars {
		cell := b.spawns[0] // arbitrary for a player that is away
		if a.Alive {
			cell = b.cell(a.X, a.Y)
		}
		b.avatars[i] = avatar{cell: cell, face: facings[a.O], alive: a.Alive, free: a.CanMove, since: now - a.Age}
		switch g := f.g.(type) {
		case *matrix:
			g.purses[i] = purse{
				inventory: [2]float64(m.Obs.Inventory[i]), collected: a.Collected, cool: a.Cool, freeze: a.Freeze,
				pending: a.Pending, pay: a.ColorReward, zapped: a.Effects > 0, indicator: markers[a.Indicator],
			}
		case *cleanUp:
			g.tools[i] = tools{zap: a.Cool, clean: a.CleanCool}
		}
	}
	for _, raw := range m.Events {
		if e := readEvent(f.t, raw); e.kind == eventCleaned {
			f.g.(*cleanUp).tools[e.a].cleaned = true
		}
	}
	for _, o := range m.Objs {
		f.seatObject(o, now)
	}
	b.stand()
	f.g.restore()
}

func (f *follower) seatObject(o tuple, now int32) {
	k := o.int(0)
	if s, ok := f.sites[k]; ok {
		f.b.sites[s] = site{siteState(o[1]), now - int32(o.int(2))}
		if g, ok := f.g.(*matrix); ok {
			g.health[s] = int32(o.int(3))
		}
	} else if cell, ok := f.water[k]; ok {
		phase := int32(o[1][len(o[1])-1]-'1') - f.b.frame/waterPeriod
		f.g.(*cleanUp).phase[cell] = uint8((phase%waterPhases + waterPhases) % waterPhases)
	} else if i, ok := f.marker[k]; ok {
		f.b.avatars[i].marker = markers[o[1]]
	}
}

// follow takes the recorded step.
func (f *follower) follow(m *moment) {
	f.m = m
	act := make([]int32, len(m.Actions))
	for i, k := range m.Actions {
		act[i] = f.actions[k]
	}
	f.b.step(act, f)
	f.e.writeObs(0, f.out)
}

// order returns the players with recorded operations in their order, then the others.
func (f *follower) order(s stage, dst []int8) {
	want := map[stage][]string{stageMove: {"move", "turn"}, stageFire: {"gameInteraction", "zapHit"},
		stageClean: {"cleanHit"}}[s]
	var got []int8
	for _, o := range f.m.Ops {
		kind := o[0]
		if kind == "beam" {
			kind = o[2]
		}
		if i, ok := f.player[o.int(1)]; ok && slices.Contains(want, kind) && !slices.Contains(got, int8(i)) {
			got = append(got, int8(i))
		}
	}
	for i := range dst {
		if !slices.Contains(got, int8(i)) {
			got = append(got, int8(i))
		}
	}
	copy(dst, got)
}

// chance returns whether the operation was recorded.
func (f *follower) chance(r rule, at int, p float64) bool {
	happened := false
	switch r {
	case ruleGrow:
		happened = f.grew(f.object[at])
	case ruleFoul:
		happened = f.fouled() >= 0
	default:
		panic("recordings do not contain this draw")
	}
	n := &f.drawn[r]
	n.draws, n.expected = n.draws+1, n.expected+p
	if happened {
		n.hits++
	}
	return happened
}

func (f *follower) grew(k int) bool {
	return slices.ContainsFunc(f.m.Ops, func(o tuple) bool {
		return o[0] == "state" && o.int(1) == k && siteState(o[2]) == siteFull
	})
}

// fouled is the site that got dirty, or -1.
func (f *follower) fouled() int {
	for _, o := range f.m.Ops {
		if o[0] == "state" && o[2] == "dirt" {
			return f.sites[o.int(1)]
		}
	}
	return -1
}

// pick is the index, among the clean sites, of the one that got dirty.
func (f *follower) pick(_ rule, _, _ int) int {
	x, to, n := f.g.(*cleanUp), f.fouled(), 0
	for _, s := range x.river.dirt {
		if int(s) == to {
			break
		}
		if x.sites[s].state == siteEmpty {
			n++
		}
	}
	return n
}

// home is the position of the recorded player after the step.
func (f *follower) home(i int, free []int32) (int32, facing) {
	a := f.m.Avatars[i]
	cell := f.b.cell(a.X, a.Y)
	if !slices.Contains(free, cell) {
		f.t.Errorf("step %d: player %d arrives at a cell that is not free", f.m.T, i)
	}
	return cell, facings[a.O]
}

// readEvent reads a recorded event; ignored events have the kind 255.
func readEvent(t *testing.T, raw json.RawMessage) event {
	t.Helper()
	var name string
	must.Do(t, json.Unmarshal(raw, &[]any{&name}))
	if name == "AvatarStarted" {
		return event{kind: 255}
	}
	var v map[string]any
	must.Do(t, json.Unmarshal(raw, &[]any{&name, &v}))
	at := func(key string) int8 { return int8(v[key].(float64)) - 1 }
	switch name {
	case "collected_resource":
		return event{eventCollected, at("player_index"), at("class")}
	case "destroyed_resource":
		return event{eventDestroyed, at("player_index"), at("class")}
	case "interaction":
		return event{eventInteraction, at("row_player_idx"), at("col_player_idx")}
	case "zap":
		return event{eventZap, at("source"), at("target")}
	case "player_cleaned":
		return event{eventCleaned, at("player_index"), 0}
	case "edible_consumed":
		return event{eventEaten, at("player_index"), 0}
	}
	t.Fatalf("unknown event %s", raw)
	return event{}
}

// differ reports a difference.
func (f *follower) differ(what string, got, want any) {
	f.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Errorf("step %d: %s is %v, recorded %v", f.m.T, what, got, want)
	}
}

// header is the first line of a recording; testdata/golden/README.md describes every field.
type header struct {
	Substrate   string
	Players     int
	Map         []string
	Actions     []map[string]int
	RenderOrder []string `json:"render_order"`
	MaxFrames   int      `json:"max_frames"`
	Objects     []json.RawMessage
}

// moment is one recorded step.
type moment struct {
	T        int
	Actions  []int32
	Reward   []float64
	StepType int `json:"step_type"`
	Obs      struct {
		Inventory   [][]float64   `json:"INVENTORY"`
		Ready       []float64     `json:"READY_TO_SHOOT"`
		Inventories [][][]float64 `json:"INTERACTION_INVENTORIES"`
		OthersClean []float64     `json:"NUM_OTHERS_WHO_CLEANED_THIS_STEP"`
	}
	Events  []json.RawMessage
	Avatars []struct {
		K, X, Y      int
		O            string
		Alive        bool
		Age          int32
		CanMove      bool `json:"can_move"`
		Freeze, Cool int32
		CleanCool    int32 `json:"clean_cool"`
		Pending      int32
		Effects      int32
		Indicator    string
		Collected    bool
		ColorReward  float64 `json:"color_reward"`
	}
	Objs []tuple
	Ops  []tuple
	Dirt int
	RGB  *struct {
		World   []byte
		Players [][]byte
	}
}

// tuple is a list of numbers and plain strings, as text.
type tuple []string

// UnmarshalJSON splits the list; strings in such lists contain no commas or escapes.
func (t *tuple) UnmarshalJSON(raw []byte) error {
	parts := strings.Split(strings.Trim(string(raw), "[]"), ",")
	for k := range parts {
		parts[k] = strings.Trim(parts[k], " \"")
	}
	*t = parts
	return nil
}

func (t tuple) int(k int) int {
	return must.Value(strconv.Atoi(t[k]))
}

// readStream calls visit for each step of a recording until it returns false.
func readStream(t *testing.T, file string, begin func(*header), visit func(*moment) bool) {
	t.Helper()
	decode := func(line []byte, into any) {
		if err := json.Unmarshal(line, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	first := true
	envtest.EachLine(t, file, func(line []byte) bool {
		if first {
			first = false
			var h header
			decode(line, &h)
			begin(&h)
			return true
		}
		m := new(moment)
		decode(line, m)
		return visit(m)
	})
}

// rgbOf decodes a picture into [height,width,3].
func rgbOf(t *testing.T, file []byte) []uint8 {
	t.Helper()
	m := must.Value(png.Decode(bytes.NewReader(file)))
	b := m.Bounds()
	all := image.NewRGBA(b)
	draw.Draw(all, b, m, b.Min, draw.Src)
	out := make([]uint8, 0, 3*b.Dx()*b.Dy())
	for at := 0; at < len(all.Pix); at += 4 {
		out = append(out, all.Pix[at:at+3]...)
	}
	return out
}
