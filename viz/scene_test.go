// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"image"
	"image/gif"
	"math"
	"testing"

	"cermic/envs"
)

// lifting is a synthetic episode in which four agents lift a bar with a package towards a target; every role occurs.
func lifting(steps int) []envs.Scene {
	var out []envs.Scene
	for t := range steps {
		f := float64(t) / float64(max(steps-1, 1))
		height, tilt := -0.7+1.2*f, 0.25*math.Sin(5*f)
		s := envs.Scene{MinX: -1.2, MinY: -1.2, MaxX: 1.2, MaxY: 1.2, Shapes: []envs.Shape{
			{Role: envs.RoleObstacle, Agent: -1, Y: -1.1, Width: 6, Height: 0.3},
			{Role: envs.RoleObstacle, Agent: -1, X: 1, Y: 0.2, Angle: math.Pi / 2, Width: 1.2},
			{Role: envs.RoleNoise, Agent: -1, X: -0.7, Y: 0.1, Width: 0.7, Height: 0.6},
			{Role: envs.RoleTarget, Agent: -1, X: 0.3, Y: 0.75, Radius: 0.13},
			{Role: envs.RoleTarget, Agent: -1, X: -0.8, Y: 0.9, Radius: 0.1, Hollow: true, Label: "goal"},
			{Role: envs.RoleObject, Agent: -1, Y: height, Angle: tilt, Width: 1.4},
			{Role: envs.RoleObject, Agent: -1, X: 0.3 * f, Y: height + 0.1, Angle: -3 * f, Radius: 0.1},
		}}
		for i := range 4 {
			x := -0.6 + 0.4*float64(i)
			y := height + x*math.Sin(tilt) - 0.09
			s.Shapes = append(s.Shapes,
				envs.Shape{Role: envs.RoleSensor, Agent: i, X: x, Y: y - 0.15, Angle: math.Pi / 2, Width: 0.3},
				envs.Shape{Role: envs.RoleAgent, Agent: i, X: x, Y: y, Radius: 0.07})
		}
		s.Shapes = append(s.Shapes,
			envs.Shape{Role: envs.RoleJoint, Agent: -1, X: 0.8, Y: -0.5, Angle: 0.9, Width: 0.3},
			envs.Shape{Role: envs.RoleAgent, Agent: 4, X: 0.9, Y: -0.38, Radius: 0.015})
		out = append(out, s)
	}
	return out
}

func TestStripLooksAsBefore(t *testing.T) {
	looksAsBefore(t, "strip")(Strip(lifting(41), 4))
}

func TestFilmPlaysBackWhatWasDrawn(t *testing.T) {
	const steps = 12
	film, err := Animate(lifting(steps), 10)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, film); err != nil {
		t.Fatal(err)
	}
	decoded, err := gif.DecodeAll(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(decoded.Image) != steps || decoded.Delay[0] != 10 || decoded.Delay[steps-1] != 100 {
		t.Errorf("%d frames with delays %v, want %d of 10 and a last one of 100", len(decoded.Image), decoded.Delay, steps)
	}
	area := decoded.Image[1].Rect.Dx() * decoded.Image[1].Rect.Dy()
	if full := decoded.Config.Width * decoded.Config.Height; area >= full {
		t.Errorf("frame 1 holds all %d pixels again, want only what changed", full)
	}
	checkImage(t, "film", decoded.Image[0])
}

// Worlds of cells look the same however large they are drawn: every cell, here of one colour, fills its part of the
// mosaic, and no other colour occurs there; the mosaic fills its part of the scene.
func TestMosaicsAreNotBlurred(t *testing.T) {
	colors := [][3]uint8{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 0}}
	var pixels []uint8
	for _, c := range colors {
		pixels = append(pixels, bytes.Repeat(c[:], 64)...)
	}
	mosaic := envs.Mosaic{MaxX: 2, MaxY: 2, Columns: 2, Cells: []uint16{0, 1, 2, 3}, Pixels: pixels}
	m, err := lastFrame([]envs.Scene{{MaxX: 4, MaxY: 2, Mosaics: []envs.Mosaic{mosaic}}})
	if err != nil {
		t.Fatal(err)
	}
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

func TestDrawingRefusesWhatIsNoScene(t *testing.T) {
	if _, err := Strip(nil, 3); err == nil {
		t.Error("no scenes made a strip")
	}
	if _, err := Animate([]envs.Scene{{}}, 10); err == nil {
		t.Error("an empty rectangle made a film")
	}
	if film, err := Animate(lifting(121), 50); err != nil || len(film.Image) != 61 || film.Delay[0] != 4 {
		t.Errorf("a long episode has %d frames of %d hundredths (%v), want every second step", len(film.Image), film.Delay[0], err)
	}
	if _, err := Animate(lifting(2), 0); err == nil {
		t.Error("a film stands still")
	}
}

func TestAPreviewIsSmall(t *testing.T) {
	scenes := lifting(100)
	preview, err := Preview(scenes, 20)
	if err != nil {
		t.Fatal(err)
	}
	film, err := Animate(scenes[:2], 20)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(preview.Image); n > 32 || n < 20 {
		t.Errorf("a preview of 100 scenes has %d frames, want 20 to 32", n)
	}
	if small, large := preview.Image[0].Rect.Dx(), film.Image[0].Rect.Dx(); 2*small > large {
		t.Errorf("a preview is %d pixels wide, a film %d", small, large)
	}
}

// lastFrame draws the last of some scenes as a film does.
func lastFrame(scenes []envs.Scene) (image.Image, error) {
	view, scenes, err := viewOf(scenes)
	if err != nil {
		return nil, err
	}
	width, height := view.roomy(filmSide)
	m, _ := rendering(scenes[len(scenes)-1], trailsOf(scenes), width, height, filmDPI)
	return m, nil
}

func TestAStripOfWideScenesHasSeveralRows(t *testing.T) {
	scenes := lifting(9)
	square, err := Strip(scenes, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenes {
		scenes[i].MinX, scenes[i].MaxX = -6, 6
	}
	wide, err := Strip(scenes, 4)
	if err != nil {
		t.Fatal(err)
	}
	if s, w := square.Bounds().Size(), wide.Bounds().Size(); s.Y*2 > s.X || w.Y*4 < w.X {
		t.Errorf("a strip of square scenes is %v and one of wide ones %v, want one row and two", s, w)
	}
}

// Somebody who is put elsewhere leaves no line across the picture.
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
	m, err := lastFrame(scenes)
	if err != nil {
		t.Fatal(err)
	}
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
	alone, err := lastFrame(scene(1))
	if err != nil {
		t.Fatal(err)
	}
	both, err := lastFrame(scene(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	b := alone.Bounds()
	for y := b.Dy() * 46 / 100; y < b.Dy()*54/100; y++ { // well inside of the disc
		for x := b.Dx() * 46 / 100; x < b.Dx()*54/100; x++ {
			if got, want := both.At(x, y), alone.At(x, y); got != want {
				t.Fatalf("at %d, %d there is %v, want %v as of the upper agent alone", x, y, got, want)
			}
		}
	}
}
