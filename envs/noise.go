// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"

	"cermic/envs/rng"
)

// Noise is a "random box": a rectangle of the world in which agents perceive nothing but noise. While an agent's centre is
// inside, its whole observation is replaced by independent normal numbers, drawn anew at every step; so is its part of a
// state that is made of observations. Motion, rewards, ends and labels are as ever. The zero value is no noise.
//
// Whoever is curious about what it cannot predict finds something new there for ever.
//
// paper:noise  "environments augmented with random box noise" (appendix, robustness to noise)
// Reading: the paper says no more than that. Where the box lies, how large and how loud it is are settings; it lies still,
// so that avoiding it can be learned.
type Noise struct {
	X      float32 `json:"x" range:"-1000000..1000000" help:"centre of the noise region along x, in world units"`
	Y      float32 `json:"y" range:"-1000000..1000000" help:"centre of the noise region along y, in world units"`
	Width  float32 `json:"width" range:"0..1000000" help:"width of the noise region along x, in world units; 0: no noise"`
	Height float32 `json:"height" range:"0..1000000" help:"height of the noise region along y, in world units; 0: no noise"`
	Scale  float32 `json:"scale" range:"0..1000000" help:"standard deviation of the noise that replaces observations inside; 0: all zero"`
}

// DefaultNoise returns the box of our noise figure: a square of side 1 round the origin, a quarter of the area in which the
// figure's tasks start, with the standard deviation 1 that is about the size of their observations.
func DefaultNoise() Noise { return Noise{Width: 1, Height: 1, Scale: 1} }

// validate refuses settings of noise that have no effect.
func (n *Noise) validate(task string) error {
	if (n.Width == 0) != (n.Height == 0) {
		return fmt.Errorf("%s: noise.width is %g and noise.height is %g; want both above 0, or both 0 for no noise",
			task, n.Width, n.Height)
	}
	if !n.On() && *n != (Noise{}) { // it would change nothing but the identity of the run
		return fmt.Errorf("%s: noise has a place or a scale but no box; set noise.width and noise.height above 0, or leave out noise.x, noise.y and noise.scale",
			task)
	}
	return nil
}

// On reports whether there is a box.
func (n *Noise) On() bool { return n.Width > 0 }

// Cover replaces obs by noise if there is a box and (x, y) lies in it. The noise depends on nothing but the seed and the
// indices, which name the moment and the observer.
func (n *Noise) Cover(obs []float32, x, y float32, seed uint64, index ...uint64) {
	if !n.On() || abs(x-n.X) > n.Width/2 || abs(y-n.Y) > n.Height/2 {
		return
	}
	var r rng.Rand
	r.Seed(seed, "observation noise", index...)
	for i := range obs {
		obs[i] = n.Scale * r.Norm()
	}
}

// Shape is how the box is drawn.
func (n *Noise) Shape() Shape {
	return Shape{
		Role: RoleNoise, Agent: -1, X: float64(n.X), Y: float64(n.Y), Width: float64(n.Width), Height: float64(n.Height),
	}
}

func abs(x float32) float32 { return max(x, -x) }
