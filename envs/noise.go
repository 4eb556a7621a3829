// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"fmt"

	"cermic/envs/rng"
)

// Noise is a "random box": a rectangle in which agents observe noise only. While an agent's centre is inside,
// independent normal numbers replace its whole observation, and its part of a state made of observations, at every
// step. Physics, rewards, episode ends and labels do not change. The zero value is no noise.
//
// An agent that is curious about unpredictable observations never loses interest in it.
//
// paper:noise  "environments augmented with random box noise" (appendix, robustness to noise)
// Reading: the paper says no more. Position, size and scale are settings. The box does not move, so that agents can
// learn to avoid it.
type Noise struct {
	X      float32 `json:"x" range:"-1000000..1000000" help:"centre of the noise region along x, in world units"`
	Y      float32 `json:"y" range:"-1000000..1000000" help:"centre of the noise region along y, in world units"`
	Width  float32 `json:"width" range:"0..1000000" help:"width of the noise region along x, in world units; 0: no noise"`
	Height float32 `json:"height" range:"0..1000000" help:"height of the noise region along y, in world units; 0: no noise"`
	Scale  float32 `json:"scale" range:"0..1000000" help:"standard deviation of the noise that replaces observations inside; 0: all zero"`
}

// DefaultNoise returns the box of our noise figure: a square of side 1 around the origin. It covers a quarter of the
// starting area of the figure's tasks, and its standard deviation of 1 matches their observations.
func DefaultNoise() Noise { return Noise{Width: 1, Height: 1, Scale: 1} }

// validate rejects settings of noise without effect.
func (n *Noise) validate(task string) error {
	if (n.Width == 0) != (n.Height == 0) {
		return fmt.Errorf("%s: noise.width is %g and noise.height is %g; want both above 0, or both 0 for no noise",
			task, n.Width, n.Height)
	}
	if !n.On() && *n != (Noise{}) { // would change the run's hash only
		return fmt.Errorf("%s: noise has a position or scale but no size; "+
			"set noise.width and noise.height above 0, or leave out noise.x, noise.y and noise.scale",
			task)
	}
	return nil
}

// On reports whether there is a noise region.
func (n *Noise) On() bool { return n.Width > 0 }

// Cover replaces obs by noise if (x, y) lies in the noise region. The noise depends only on the seed and the indices,
// which identify the step and the observer.
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

// Shape returns the noise region as a shape to draw.
func (n *Noise) Shape() Shape {
	return Shape{
		Role: RoleNoise, Agent: -1, X: float64(n.X), Y: float64(n.Y), Width: float64(n.Width), Height: float64(n.Height),
	}
}

func abs(x float32) float32 { return max(x, -x) }
