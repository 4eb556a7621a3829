// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"math"
	"reflect"

	"cermic/envs"
)

// state lists pointers to all numbers of the board's state.
func (b *board) state() []any {
	all := []any{&b.frame}
	for i := range b.avatars {
		a := &b.avatars[i]
		all = append(all, &a.cell, &a.face, &a.alive, &a.free, &a.since, &a.marker)
	}
	for i := range b.sites {
		all = append(all, &b.sites[i].state, &b.sites[i].since)
	}
	return all
}

// stand recomputes the occupied cells and clears the data of the last step.
func (b *board) stand() {
	b.forget()
	for cell := range b.who {
		b.who[cell] = -1
	}
	for i := range b.avatars {
		if a := &b.avatars[i]; a.alive {
			b.who[a.cell] = int8(i)
		}
	}
}

func (m *matrix) state() (all []any) {
	for i := range m.purses {
		p := &m.purses[i]
		all = append(all, &p.inventory[0], &p.inventory[1], &p.collected, &p.cool, &p.freeze, &p.pending, &p.pay, &p.zapped,
			&p.indicator)
	}
	for s := range m.class {
		all = append(all, &m.class[s], &m.health[s])
	}
	return all
}

func (x *cleanUp) state() (all []any) {
	for i := range x.tools {
		all = append(all, &x.tools[i].zap, &x.tools[i].clean, &x.tools[i].cleaned)
	}
	for _, cell := range x.river.water {
		all = append(all, &x.phase[cell])
	}
	return all
}

// state lists pointers to the numbers of all environments.
func (e *env) state() []any {
	all := []any{&e.seed}
	for c, g := range e.games {
		all = append(append(append(all, &e.episode[c]), g.base().state()...), g.state()...)
	}
	return all
}

// Save appends the complete state that later steps and resets depend on, with 64 bits per number.
func (e *env) Save(dst []byte) []byte {
	var words []uint64
	for _, p := range e.state() {
		word := uint64(0)
		switch v := reflect.ValueOf(p).Elem(); {
		case v.CanInt():
			word = uint64(v.Int())
		case v.CanUint():
			word = v.Uint()
		case v.CanFloat():
			word = math.Float64bits(v.Float())
		case v.Bool():
			word = 1
		}
		words = append(words, word)
	}
	return envs.SaveParts(dst, e.fingerprint(), words)
}

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	all := e.state()
	words := make([]uint64, len(all))
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), words); err != nil {
		return err
	}
	for i, word := range words {
		switch v := reflect.ValueOf(all[i]).Elem(); {
		case v.CanInt():
			v.SetInt(int64(word))
		case v.CanUint():
			v.SetUint(word)
		case v.CanFloat():
			v.SetFloat(math.Float64frombits(word))
		default:
			v.SetBool(word != 0)
		}
	}
	for _, g := range e.games {
		g.base().stand()
		g.restore()
	}
	return nil
}

// fingerprint identifies the configuration, so that a state loads only into an equally configured environment.
func (e *env) fingerprint() uint64 {
	return envs.Fingerprint(fmt.Sprint(e.spec.Name, e.spec.NumEnvs, e.spec.Sparse, e.settings))
}
