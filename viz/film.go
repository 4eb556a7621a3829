// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"cermic/envs"
)

// Strip draws a few scenes of an episode side by side, evenly spaced from the first to the last, each with its step.
// scenes holds one a step, the reset first.
func Strip(scenes []envs.Scene, frames int) (image.Image, error) {
	view, err := viewOf(scenes)
	if err != nil {
		return nil, err
	}
	if frames < 1 {
		return nil, fmt.Errorf("strip of %d frames, want at least 1", frames)
	}
	frames = min(frames, len(scenes))
	const gap, foot, margin = 8, 16, 6
	side := max(8.2*vg.Inch/vg.Length(frames)-gap, 1.3*vg.Inch)
	width, height := view.size(min(side, 3.2*vg.Inch))
	total := (width+gap)*vg.Length(frames) - gap
	img := vgimg.NewWith(vgimg.UseWH(total+2*margin, height+foot+2*margin), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	out := img.Image()
	c := vgdraw.New(img)
	for k := range frames {
		step := 0
		if frames > 1 {
			step = int(math.Round(float64(k*(len(scenes)-1)) / float64(frames-1)))
		}
		left := margin + vg.Length(k)*(width+gap)
		scene := rendering(view.of(scenes[step]), width, height, dpi)
		at := image.Pt(pixels(left), pixels(margin))
		draw.Draw(out, scene.Bounds().Add(at), scene, image.Point{}, draw.Src)
		style := typeface(9, false)
		style.YAlign = text.YTop
		c.FillText(style, vg.Point{X: left + width/2, Y: margin + foot - 4}, fmt.Sprintf("t = %d", step))
	}
	return out, nil
}

func pixels(l vg.Length) int { return int(math.Round(float64(l) / 72 * dpi)) }

// frames is the largest number of frames in a film: a longer episode is shown in every second, third, … step, so that a
// notebook stays small.
const frames = 120

// Animate plays scenes, one a step, as an endless film with the step and a bar that shows how far it is. The last frame
// stands for a second.
func Animate(scenes []envs.Scene, stepsPerSecond float64) (*gif.GIF, error) {
	view, err := viewOf(scenes)
	if err != nil {
		return nil, err
	}
	if !(stepsPerSecond > 0) {
		return nil, fmt.Errorf("film of %g steps a second, want more than 0", stepsPerSecond)
	}
	every := (len(scenes) + frames - 1) / frames
	const resolution = 110
	width, height := view.size(3.6 * vg.Inch)
	var pictures []draw.Image
	for i := 0; i < len(scenes); i += every {
		m := rendering(view.of(scenes[i]), width, height, resolution)
		caption(m, width, height, resolution, i, len(scenes))
		pictures = append(pictures, m)
	}
	delay := math.Round(100 * float64(every) / stepsPerSecond)
	return film(pictures, int(max(delay, 2))), nil // browsers slow down anything shorter
}

// caption writes the step into the upper left corner and draws the bar at the lower edge.
func caption(m draw.Image, width, height vg.Length, resolution, step, steps int) {
	c := vgdraw.New(vgimg.NewWith(vgimg.UseImage(m), vgimg.UseDPI(resolution)))
	style := typeface(9, false)
	style.XAlign, style.YAlign = text.XLeft, text.YTop
	c.FillText(style, vg.Point{X: 6, Y: height - 6}, fmt.Sprintf("t = %d", step))
	done := width * vg.Length(step) / vg.Length(max(steps-1, 1))
	c.FillPolygon(stone, rectangle(0, 0, done, 2))
}

// rendering draws one scene into a picture of its own, whose edges cut off what lies outside.
func rendering(s envs.Scene, width, height vg.Length, resolution int) draw.Image {
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution), vgimg.UseBackgroundColor(paper))
	drawScene(vgdraw.New(img), s)
	return img.Image()
}

// view is the smallest rectangle that holds the rectangles of all scenes, so that a film does not jump.
type view struct{ minX, minY, maxX, maxY float64 }

func viewOf(scenes []envs.Scene) (view, error) {
	if len(scenes) == 0 {
		return view{}, errors.New("no scenes to draw")
	}
	v := view{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for i, s := range scenes {
		if !(s.MaxX > s.MinX && s.MaxY > s.MinY) || math.IsInf(s.MaxX-s.MinX+s.MaxY-s.MinY, 0) {
			return v, fmt.Errorf("scene %d spans [%g, %g] × [%g, %g], want a rectangle", i, s.MinX, s.MaxX, s.MinY, s.MaxY)
		}
		v.minX, v.minY = min(v.minX, s.MinX), min(v.minY, s.MinY)
		v.maxX, v.maxY = max(v.maxX, s.MaxX), max(v.maxY, s.MaxY)
	}
	return v, nil
}

// of is the scene as seen through the view.
func (v view) of(s envs.Scene) envs.Scene {
	s.MinX, s.MinY, s.MaxX, s.MaxY = v.minX, v.minY, v.maxX, v.maxY
	return s
}

// size keeps the proportions of the view; its longer side is given.
func (v view) size(side vg.Length) (width, height vg.Length) {
	ratio := vg.Length((v.maxY - v.minY) / (v.maxX - v.minX))
	if ratio > 1 {
		return side / ratio, side
	}
	return side, side * ratio
}

// film packs pictures of equal size into a GIF with one palette. A frame holds only the rectangle that differs from the
// frame before. delay is in hundredths of a second.
func film(pictures []draw.Image, delay int) *gif.GIF {
	palette, index := paletteOf(pictures)
	out := &gif.GIF{}
	var before *image.Paletted
	for _, m := range pictures {
		full := image.NewPaletted(m.Bounds(), palette)
		for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
			for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
				full.SetColorIndex(x, y, index(m.At(x, y)))
			}
		}
		frame := full
		if before != nil {
			frame = full.SubImage(changed(before, full)).(*image.Paletted)
		}
		out.Image, out.Delay = append(out.Image, frame), append(out.Delay, delay)
		before = full
	}
	out.Delay[len(out.Delay)-1] = 100
	return out
}

// changed is the smallest rectangle that holds every pixel in which two frames differ; at least one pixel, because a
// frame may not be empty.
func changed(a, b *image.Paletted) image.Rectangle {
	r := image.Rectangle{Min: a.Rect.Min, Max: a.Rect.Min.Add(image.Pt(1, 1))}
	first := true
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		for x := a.Rect.Min.X; x < a.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) == b.ColorIndexAt(x, y) {
				continue
			}
			pixel := image.Rect(x, y, x+1, y+1)
			if first {
				r, first = pixel, false
			}
			r = r.Union(pixel)
		}
	}
	return r
}

// paletteOf takes the 256 most frequent colours, after rounding to 6 bits a channel, and returns them with a function
// that finds the nearest one. Scenes have few colours; only edges have more, and rounding them cannot be seen.
func paletteOf(pictures []draw.Image) (color.Palette, func(color.Color) uint8) {
	count := map[[3]uint8]int{}
	for _, m := range pictures {
		b := m.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[rounded(m.At(x, y))]++
			}
		}
	}
	keys := make([][3]uint8, 0, len(count))
	for k := range count {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [3]uint8) int { // ties in a fixed order, so that a film is reproducible
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return slices.Compare(a[:], b[:])
	})
	var palette color.Palette
	for _, k := range keys[:min(256, len(keys))] {
		palette = append(palette, color.RGBA{k[0], k[1], k[2], 0xff})
	}
	known := map[[3]uint8]uint8{}
	return palette, func(c color.Color) uint8 {
		k := rounded(c)
		i, ok := known[k]
		if !ok {
			i = uint8(palette.Index(color.RGBA{k[0], k[1], k[2], 0xff}))
			known[k] = i
		}
		return i
	}
}

// rounded keeps the 6 upper bits of each channel and repeats the first two below, so that white stays white.
func rounded(c color.Color) [3]uint8 {
	r, g, b, _ := c.RGBA()
	keep := func(v uint32) uint8 { return uint8(v>>8)&0xfc | uint8(v>>14) }
	return [3]uint8{keep(r), keep(g), keep(b)}
}
