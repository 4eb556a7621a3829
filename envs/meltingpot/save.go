// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"encoding/binary"
	"fmt"
	"math"

	"cermic/envs"
)

// codec writes or reads a state. One list of fields serves both directions, so that they cannot differ.
type codec struct {
	bytes   []byte
	reading bool
}

// number passes one number of 64 bits.
func (c *codec) number(v uint64) uint64 {
	if c.reading {
		v = binary.LittleEndian.Uint64(c.bytes)
		c.bytes = c.bytes[8:]
		return v
	}
	c.bytes = binary.LittleEndian.AppendUint64(c.bytes, v)
	return v
}

func (c *codec) int32(v *int32) { *v = int32(c.number(uint64(*v))) }
func (c *codec) uint8(v *uint8) { *v = uint8(c.number(uint64(*v))) }

func (c *codec) float(v *float64) { *v = math.Float64frombits(c.number(math.Float64bits(*v))) }

func (c *codec) bool(v *bool) {
	bit := uint64(0)
	if *v {
		bit = 1
	}
	*v = c.number(bit) != 0
}

// state passes the complete state of the board.
func (b *board) state(c *codec) {
	c.int32(&b.frame)
	for i := range b.avatars {
		a := &b.avatars[i]
		c.int32(&a.cell)
		c.uint8((*uint8)(&a.face))
		c.bool(&a.alive)
		c.bool(&a.free)
		c.int32(&a.since)
		c.uint8(&a.marker)
	}
	for i := range b.sites {
		c.uint8(&b.sites[i].state)
		c.int32(&b.sites[i].since)
	}
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

func (m *matrix) state(c *codec) {
	for i := range m.purses {
		p := &m.purses[i]
		for k := range p.inventory {
			c.float(&p.inventory[k])
		}
		c.bool(&p.collected)
		for _, v := range []*int32{&p.cool, &p.freeze, &p.pending} {
			c.int32(v)
		}
		c.float(&p.pay)
		c.bool(&p.zapped)
		c.uint8(&p.indicator)
	}
	for s := range m.class {
		c.uint8(&m.class[s])
		c.int32(&m.health[s])
	}
}

func (x *cleanUp) state(c *codec) {
	for i := range x.tools {
		t := &x.tools[i]
		c.int32(&t.zap)
		c.int32(&t.clean)
		c.bool(&t.cleaned)
	}
	for _, cell := range x.river.water {
		c.uint8(&x.phase[cell])
	}
}

// state passes all environments.
func (e *env) state(c *codec) {
	e.seed = c.number(e.seed)
	for k, g := range e.games {
		e.episode[k] = uint32(c.number(uint64(e.episode[k])))
		g.base().state(c)
		g.state(c)
	}
}

// Save appends the complete state that later steps and resets depend on, after a fingerprint of the configuration.
func (e *env) Save(dst []byte) []byte {
	var c codec
	e.state(&c)
	return envs.SaveParts(dst, e.fingerprint(), c.bytes)
}

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	body, err := envs.SavedBody(e.spec.Name, state, e.fingerprint(), len(e.Save(nil))-8)
	if err != nil {
		return err
	}
	e.state(&codec{bytes: body, reading: true})
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
