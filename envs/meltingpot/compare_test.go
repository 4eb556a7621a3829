// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"fmt"
	"slices"
)

// compare checks all data of a step except pixels.
func (f *follower) compare(m *moment) {
	f.t.Helper()
	if last := m.StepType == 2; last && !f.e.mayEnd(f.b.frame) || !last && int(f.b.frame) >= f.e.spec.Horizon {
		f.t.Errorf("step %d: unexpected step type %d", m.T, m.StepType)
	}
	if !slices.Equal(f.b.reward, m.Reward) {
		f.differ("reward", f.b.reward, m.Reward)
	}
	f.comparePlayers(m)
	for _, o := range m.Objs {
		f.compareObject(o)
	}
	f.compareEvents(m)
	f.compareNumbers(m)
	if x, ok := f.g.(*cleanUp); ok {
		f.differ("number of dirty cells", x.dirty(), m.Dirt)
	}
}

func (f *follower) comparePlayers(m *moment) {
	f.t.Helper()
	for i := range m.Avatars {
		a, got := &m.Avatars[i], &f.b.avatars[i]
		name := func(what string) string { return fmt.Sprintf("%s of player %d", what, i) }
		f.differ(name("life"), got.alive, a.Alive)
		f.differ(name("age"), f.b.frame+1-got.since, a.Age)
		f.differ(name("freedom"), got.free, a.CanMove)
		f.differ(name("life in Step"), f.out.Alive[i] == 1, a.Alive)
		if a.Alive {
			x, y := f.b.place(got.cell)
			f.differ(name("place"), [3]int{x, y, int(got.face)}, [3]int{a.X, a.Y, int(facings[a.O])})
		}
		switch g := f.g.(type) {
		case *matrix:
			p := &g.purses[i]
			f.differ(name("counters"), [3]int32{p.cool, p.freeze, p.pending}, [3]int32{a.Cool, a.Freeze, a.Pending})
			f.differ(name("readiness"), p.collected, a.Collected)
			f.differ(name("indicator"), p.indicator, markers[a.Indicator])
			f.differ(name("effects"), p.zapped, a.Effects > 0)
			f.differ(name("pay"), p.pay, a.ColorReward)
		case *cleanUp:
			f.differ(name("timers"), [2]int32{g.tools[i].zap, g.tools[i].clean}, [2]int32{a.Cool, a.CleanCool})
		}
	}
}

func (f *follower) compareObject(o tuple) {
	f.t.Helper()
	k := o.int(0)
	if s, ok := f.sites[k]; ok {
		got := f.b.sites[s]
		if got.state != siteState(o[1]) || got.since != f.b.frame+1-int32(o.int(2)) {
			f.differ(fmt.Sprintf("site %d (state, age)", s), [2]int32{int32(got.state), f.b.frame + 1 - got.since}, o[1:])
		}
		if g, ok := f.g.(*matrix); ok && int(g.health[s]) != o.int(3) {
			f.differ(fmt.Sprintf("health of site %d", s), g.health[s], o[3])
		}
	} else if cell, ok := f.water[k]; ok {
		if got := f.g.(*cleanUp).waterAt(cell); got != o[1][len(o[1])-1]-'1' {
			f.differ(fmt.Sprintf("water of object %d", k), got+1, o[1])
		}
	} else if i, ok := f.marker[k]; ok {
		f.differ(fmt.Sprintf("marker of player %d", i), f.b.avatars[i].marker, markers[o[1]])
	}
}

// compareEvents compares events in order. Only the order of clean_up's two beams is open, because it differs between
// processes of the original.
func (f *follower) compareEvents(m *moment) {
	f.t.Helper()
	var want []event
	for _, raw := range m.Events {
		if e := readEvent(f.t, raw); e.kind != 255 {
			want = append(want, e)
		}
	}
	got := slices.Clone(f.b.events)
	zapsFirst := func(a, b event) int {
		if a.kind == eventZap && b.kind == eventCleaned {
			return -1
		}
		if a.kind == eventCleaned && b.kind == eventZap {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(got, zapsFirst)
	slices.SortStableFunc(want, zapsFirst)
	f.differ("list of events", got, want)
}

// compareNumbers compares the observations besides the view.
func (f *follower) compareNumbers(m *moment) {
	f.t.Helper()
	x, sum := f.e.spec.Scalars, 0.0
	for _, r := range m.Reward {
		sum += r
	}
	for i := range m.Avatars {
		var want []float32
		add := func(numbers ...float64) {
			for _, v := range numbers {
				want = append(want, float32(v))
			}
		}
		if len(m.Obs.Inventory) > 0 {
			add(m.Obs.Inventory[i]...)
		}
		add(m.Obs.Ready[i])
		if len(m.Obs.Inventories) > 0 {
			add(m.Obs.Inventories[i][0]...)
			add(m.Obs.Inventories[i][1]...)
		}
		if len(m.Obs.OthersClean) > 0 {
			add(m.Obs.OthersClean[i])
		}
		add(sum)
		if got := f.out.Obs[i*x : (i+1)*x]; !slices.Equal(got, want) {
			f.differ(fmt.Sprintf("observation of player %d", i), got, want)
		}
		if got, want := f.out.Dense[i], float32(m.Reward[i]); got != want || f.out.Sparse[i] != want {
			f.differ(fmt.Sprintf("dense reward of player %d", i), got, want)
		}
	}
}

// starts compares the result of our own reset with the recorded start: only positions and pictures are random.
func (f *follower) starts(m *moment) {
	f.m = m
	f.compareNumbers(m)
	for i := range m.Avatars {
		f.differ(fmt.Sprintf("life of player %d", i), f.out.Alive[i] == 1, m.Avatars[i].Alive)
	}
	if x, ok := f.g.(*cleanUp); ok {
		f.differ("number of dirty cells", x.dirty(), m.Dirt)
	}
}

// startLooks compares the pictures of the recorded start.
func (f *follower) startLooks(m *moment) bool {
	f.m = m
	f.seat(m)
	f.e.writeObs(0, f.out)
	return true
}

// comparePixels compares the view of every player and that of the whole world.
func (f *follower) comparePixels(m *moment) {
	f.t.Helper()
	s := f.e.Spec()
	got, cells := make([]uint8, s.CellLen()*192), s.CellLen()
	for i, file := range m.RGB.Players {
		s.RGB(got, f.out.Cells[i*cells:(i+1)*cells])
		f.comparePicture(fmt.Sprintf("view of player %d", i), got, rgbOf(f.t, file))
	}
	world := f.e.world(0)
	_, _, all := world.RGB()
	f.comparePicture("world", all, rgbOf(f.t, m.RGB.World))
}

func (f *follower) comparePicture(what string, got, want []uint8) {
	f.t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	wrong := 0
	for k := range min(len(got), len(want)) {
		if got[k] != want[k] {
			wrong++
		}
	}
	f.t.Errorf("step %d: %s differs in %d of %d numbers (recorded: %d)", f.m.T, what, wrong, len(got), len(want))
}
