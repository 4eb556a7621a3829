// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"image"
	"image/gif"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

func TestFilmPlaysBackWhatWasDrawn(t *testing.T) {
	const steps = 12
	film := must.Get(Animate(lifting(steps), 10))(t)
	var b bytes.Buffer
	must.Do(t, gif.EncodeAll(&b, film))
	decoded := must.Get(gif.DecodeAll(&b))(t)
	if len(decoded.Image) != steps || decoded.Delay[0] != 10 || decoded.Delay[steps-1] != 100 {
		t.Errorf("%d frames with delays %v, want %d of 10 and a last one of 100", len(decoded.Image), decoded.Delay, steps)
	}
	area := decoded.Image[1].Rect.Dx() * decoded.Image[1].Rect.Dy()
	if full := decoded.Config.Width * decoded.Config.Height; area >= full {
		t.Errorf("frame 1 holds all %d pixels again, want only what changed", full)
	}
	if pixelDifference(decoded.Image[0], film.Image[0]) > 0 {
		t.Error("the first frame is another one")
	}
}

// Worlds of cells look the same at every size. Every cell, here of one colour, fills its part of the mosaic, and no
// other colour occurs there. The mosaic fills its part of the scene.
func TestMosaicsAreNotBlurred(t *testing.T) {
	colors := [][3]uint8{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 0}}
	var pixels []uint8
	for _, c := range colors {
		pixels = append(pixels, bytes.Repeat(c[:], 64)...)
	}
	mosaic := envs.Mosaic{MaxX: 2, MaxY: 2, Columns: 2, Cells: []uint16{0, 1, 2, 3}, Pixels: pixels}
	m := must.Get(lastFrame([]envs.Scene{{MaxX: 4, MaxY: 2, Mosaics: []envs.Mosaic{mosaic}}}))(t)
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	colorAt := func(x, y int) [3]uint8 {
		r, g, b, _ := m.At(x, y).RGBA()
		return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
	}
	for k, want := range colors {
		x, y := w/8+k%2*w/4, h/4+k/2*h/2
		for _, off := range []int{0, 20, -20} {
			if got := colorAt(x+off, y+off); got != want {
				t.Errorf("cell %d is drawn as %v at (%d, %d), want %v", k, got, x+off, y+off, want)
			}
		}
	}
	if got, white := colorAt(w*3/4, h/2), [3]uint8{255, 255, 255}; got != white {
		t.Errorf("beside the mosaic the scene is %v, want %v", got, white)
	}
}

func TestLongEpisodesAreShownInFewerSteps(t *testing.T) {
	film, err := Animate(lifting(121), 50)
	if err != nil || len(film.Image) != 61 || film.Delay[0] != 4 {
		t.Fatalf("a film has %d frames of %d hundredths (%v), want every second step", len(film.Image), film.Delay[0], err)
	}
	preview := must.Get(Preview(lifting(100), 20))(t)
	if n, small, large := len(preview.Image), preview.Image[0].Rect.Dx(), film.Image[0].Rect.Dx(); n > 32 || n < 20 || 2*small > large {
		t.Errorf("a preview of 100 scenes has %d frames, want 20 to 32, of %d pixels where a film has %d", n, small, large)
	}
}

// lastFrame draws the last of some scenes as a film does.
func lastFrame(scenes []envs.Scene) (image.Image, error) {
	scenes, err := inOneView(scenes)
	if err != nil {
		return nil, err
	}
	width, height := roomy(scenes[0], filmSide)
	m, _ := rendering(scenes, width, height, filmDPI)
	return m, nil
}

func TestAStripOfWideScenesHasSeveralRows(t *testing.T) {
	scenes := lifting(9)
	square := must.Get(Strip(scenes, 4))(t)
	for i := range scenes {
		scenes[i].MinX, scenes[i].MaxX = -6, 6
	}
	wide := must.Get(Strip(scenes, 4))(t)
	if s, w := square.Bounds().Size(), wide.Bounds().Size(); s.Y*2 > s.X || w.Y*4 < w.X {
		t.Errorf("a strip of square scenes is %v and one of wide ones %v, want one row and two", s, w)
	}
}

// An agent that is moved elsewhere at once leaves no line across the picture.
func TestATrailEndsWhereSomebodyIsPutElsewhere(t *testing.T) {
	var scenes []envs.Scene
	for k := range 20 {
		x := -0.9 + 0.01*float64(k)
		if k >= 10 {
			x += 1.6
		}
		scenes = append(scenes, envs.Scene{MinX: -1, MinY: -1, MaxX: 1, MaxY: 1,
			Shapes: []envs.Shape{{Role: envs.RoleAgent, X: x, Radius: 0.03}}})
	}
	m := must.Get(lastFrame(scenes))(t)
	b := m.Bounds()
	middle, aside := m.At(b.Dx()/2, b.Dy()/2), m.At(b.Dx()/2, b.Dy()/4)
	if middle != aside {
		t.Errorf("the middle of the leap is %v, the ground beside it %v", middle, aside)
	}
}

// Two numerals over one another are read as neither.
func TestTheUpperOfTwoAgentsHidesTheNumberOfTheOther(t *testing.T) {
	scene := func(agents ...int) []envs.Scene {
		s := envs.Scene{MinX: -1, MinY: -1, MaxX: 1, MaxY: 1}
		for _, a := range agents {
			s.Shapes = append(s.Shapes, envs.Shape{Role: envs.RoleAgent, Agent: a, Radius: 0.2})
		}
		return []envs.Scene{s}
	}
	alone := must.Get(lastFrame(scene(1)))(t)
	both := must.Get(lastFrame(scene(0, 1)))(t)
	b := alone.Bounds()
	for y := b.Dy() * 46 / 100; y < b.Dy()*54/100; y++ { // well inside of the disc
		for x := b.Dx() * 46 / 100; x < b.Dx()*54/100; x++ {
			if got, want := both.At(x, y), alone.At(x, y); got != want {
				t.Fatalf("at %d, %d there is %v, want %v as of the upper agent alone", x, y, got, want)
			}
		}
	}
}
