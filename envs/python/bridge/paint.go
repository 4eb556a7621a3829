// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"errors"
	"sync/atomic"

	"cermic/envs"
	"cermic/envs/internal/pool"
)

// painter renders views made of cells as images, on several cores at once.
type painter struct {
	job    *pool.Job
	failed atomic.Bool

	// of the call in progress
	spec   *envs.Spec
	pixels []uint8
	cells  []uint16
	mask   []uint8
}

func newPainter(numEnvs, workers int) *painter {
	p := &painter{}
	p.job = pool.New(numEnvs, 1, workers, p.advance)
	return p
}

// paint writes pixels [E,N,8H,8W,3] of the environments in mask (nil: all); it does nothing if pixels is empty.
func (p *painter) paint(s *envs.Spec, pixels []uint8, cells []uint16, mask []uint8) error {
	if pixels == nil {
		return nil
	}
	p.failed.Store(false)
	p.spec, p.pixels, p.cells, p.mask = s, pixels, cells, mask
	p.job.Run()
	p.pixels, p.cells, p.mask = nil, nil, nil
	if p.failed.Load() {
		return errors.New("a cell has an unknown tile number; do not write to its array during a step")
	}
	return nil
}

// advance renders environments [from, to).
func (p *painter) advance(from, to int) {
	defer func() { // cells are the caller's memory, and a panic on another goroutine could not be recovered
		if recover() != nil {
			p.failed.Store(true)
		}
	}()
	cells := p.spec.Agents * p.spec.CellLen()
	bytes := cells * envs.CellPixels * envs.CellPixels * 3
	for c := from; c < to; c++ {
		if p.mask == nil || p.mask[c] != 0 {
			p.spec.RGB(p.pixels[c*bytes:(c+1)*bytes], p.cells[c*cells:(c+1)*cells])
		}
	}
}
