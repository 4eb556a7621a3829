// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"maps"
	"math"
	"slices"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"cermic/envs"
)

// sheet lays pictures of one size out in rows, each with a caption below it.
type sheet struct {
	columns       int
	width, height vg.Length // of a picture
	foot          vg.Length // height of the room for a caption
	drop          vg.Length // from a picture to its caption, which is aligned vertically like that
	align         text.YAlignment
}

func (s sheet) draw(frames int, caption func(k int) string, picture func(k int) image.Image) image.Image {
	const gap, margin = 8, 6
	rows := (frames + s.columns - 1) / s.columns
	total, tall := (s.width+gap)*vg.Length(s.columns)-gap, (s.height+s.foot)*vg.Length(rows)
	img := vgimg.NewWith(vgimg.UseWH(total+2*margin, tall+2*margin), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	c := vgdraw.New(img)
	style := typeface(9, false)
	style.YAlign = s.align
	for k := range frames {
		left, top := margin+vg.Length(k%s.columns)*(s.width+gap), margin+vg.Length(k/s.columns)*(s.height+s.foot)
		one := picture(k)
		draw.Draw(img.Image(), one.Bounds().Add(image.Pt(pixels(left), pixels(top))), one, image.Point{}, draw.Src)
		c.FillText(style, vg.Point{X: left + s.width/2, Y: tall + 2*margin - top - s.height - s.drop}, caption(k))
	}
	return img.Image()
}

// Strip draws a few scenes of an episode side by side, evenly spaced from the first to the last, each with its step and
// the ways that agents and objects came. scenes holds one a step, the reset first. Wide scenes stand in several rows.
func Strip(scenes []envs.Scene, frames int) (image.Image, error) {
	view, scenes, err := viewOf(scenes)
	if err != nil {
		return nil, err
	}
	if frames < 1 {
		return nil, fmt.Errorf("strip of %d frames, want at least 1", frames)
	}
	frames = min(frames, len(scenes))
	s := sheet{columns: view.columns(frames), foot: 16, drop: 2, align: text.YTop}
	side := max(7.6*vg.Inch/vg.Length(s.columns)-8, 1.3*vg.Inch)
	s.width, s.height = view.size(min(side, 4*vg.Inch))
	step := func(k int) int { return int(math.Round(float64(k*(len(scenes)-1)) / float64(max(frames-1, 1)))) }
	return s.draw(frames, func(k int) string { return fmt.Sprintf("t = %d", step(k)) }, func(k int) image.Image {
		m, _ := rendering(scenes[step(k)], trailsOf(scenes[:step(k)+1]), s.width, s.height, dpi)
		return m
	}), nil
}

// columns is how many scenes stand beside each other, so that a wide one does not become a thread.
func (v view) columns(frames int) int {
	if ratio := (v.maxX - v.minX) / (v.maxY - v.minY); ratio > 2 {
		return max(1, int(math.Ceil(float64(frames)/math.Ceil(ratio/2))))
	}
	return frames
}

func pixels(l vg.Length) int { return int(math.Round(float64(l) / 72 * dpi)) }

// Animate plays scenes, one a step, as an endless film with the step and a bar that shows how far it is. The last frame
// stands for a second. A longer episode than 120 steps is shown in every second, third, … step, so that a notebook
// stays small.
func Animate(scenes []envs.Scene, stepsPerSecond float64) (*gif.GIF, error) {
	return animate(scenes, stepsPerSecond, format{120, filmSide, filmDPI, 255})
}

// The longer side of a film, and its resolution.
const (
	filmSide = 3.6 * vg.Inch
	filmDPI  = 110
)

// Preview is a film like Animate's with a fifth of its area and a quarter of its frames: many fit into one notebook.
func Preview(scenes []envs.Scene, stepsPerSecond float64) (*gif.GIF, error) {
	return animate(scenes, stepsPerSecond, format{32, 1.9 * vg.Inch, 90, 127})
}

// tail is how many steps of its way an agent draws behind it in a film.
const tail = 40

// format is what the size of a film depends on.
type format struct {
	frames     int       // at most
	side       vg.Length // the longer one
	resolution int       // dots an inch
	colors     int       // at most 255
}

func animate(scenes []envs.Scene, stepsPerSecond float64, f format) (*gif.GIF, error) {
	view, scenes, err := viewOf(scenes)
	if err != nil {
		return nil, err
	}
	if !(stepsPerSecond > 0) {
		return nil, fmt.Errorf("film of %g steps a second, want more than 0", stepsPerSecond)
	}
	every := (len(scenes) + f.frames - 1) / f.frames
	width, height := view.roomy(f.side)
	var pictures []draw.Image
	for i := 0; i < len(scenes); i += every {
		m, p := rendering(scenes[i], trailsOf(scenes[max(0, i-tail):i+1]), width, height, f.resolution)
		p.caption(width, height, i, len(scenes))
		pictures = append(pictures, m)
	}
	delay := math.Round(100 * float64(every) / stepsPerSecond)
	return film(pictures, int(max(delay, 2)), f.colors), nil // browsers slow down anything shorter
}

// caption writes the step into the upper left corner and draws the bar at the lower edge.
func (p painter) caption(width, height vg.Length, step, steps int) {
	style := typeface(9, false)
	style.XAlign, style.YAlign = text.XLeft, text.YTop
	p.FillText(style, vg.Point{X: 6, Y: height - 6}, fmt.Sprintf("t = %d", step))
	done := width * vg.Length(step) / vg.Length(max(steps-1, 1))
	p.FillPolygon(stone, rectangle(0, 0, done, 2))
}

// rendering draws one scene, with trails beneath its shapes, into a picture of its own, whose edges cut off what lies
// outside.
func rendering(s envs.Scene, trails []trail, width, height vg.Length, resolution int) (draw.Image, painter) {
	return layered(s, width, height, resolution, func(p painter) {
		for _, t := range trails {
			p.trail(t)
		}
	})
}

// layered is rendering with other drawings beneath the shapes; the painter can draw more above them.
func layered(s envs.Scene, width, height vg.Length, resolution int, under func(painter)) (draw.Image, painter) {
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution), vgimg.UseBackgroundColor(paper))
	for _, mosaic := range s.Mosaics {
		project(img.Image(), s, &mosaic)
	}
	return img.Image(), drawScene(vgdraw.New(img), s, under)
}

// project draws a mosaic of s into m, which shows all of s. Every pixel takes the colour of the one of the mosaic that
// it lies in: blurred ones would show what no agent sees, and have too many colours for a film.
func project(m draw.Image, s envs.Scene, mosaic *envs.Mosaic) {
	wide, high, rgb := mosaic.RGB()
	cells := image.NewRGBA(image.Rect(0, 0, wide, high))
	for i := range wide * high {
		copy(cells.Pix[4*i:], []uint8{rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255})
	}
	b := m.Bounds()
	at := func(x, y float64) image.Point {
		return image.Pt(int(math.Round((x-s.MinX)*float64(b.Dx())/(s.MaxX-s.MinX))), int(math.Round((s.MaxY-y)*float64(b.Dy())/(s.MaxY-s.MinY))))
	}
	part := image.Rectangle{Min: at(mosaic.MinX, mosaic.MaxY), Max: at(mosaic.MaxX, mosaic.MinY)}.Add(b.Min)
	xdraw.NearestNeighbor.Scale(m, part, cells, cells.Bounds(), xdraw.Src, nil)
}

// view is the smallest rectangle that holds the rectangles of all scenes, so that a film does not jump.
type view struct{ minX, minY, maxX, maxY float64 }

// mostLength is how many times as long as the other a side of a scene may be: a longer one would be a thread.
const mostLength = 1000

// viewOf returns the view of scenes, and the scenes as seen through it: without the shapes that are nowhere near.
func viewOf(all []envs.Scene) (v view, seen []envs.Scene, err error) {
	if len(all) == 0 {
		return v, nil, errors.New("no scenes to draw")
	}
	v = view{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for i, s := range all {
		ratio := (s.MaxX - s.MinX) / (s.MaxY - s.MinY)
		if !(s.MaxX > s.MinX && ratio <= mostLength && ratio >= 1./mostLength) {
			return v, nil, fmt.Errorf("scene %d spans [%g, %g] × [%g, %g], want a rectangle with sides of at most %d to 1",
				i, s.MinX, s.MaxX, s.MinY, s.MaxY, mostLength)
		}
		v.minX, v.minY = min(v.minX, s.MinX), min(v.minY, s.MinY)
		v.maxX, v.maxY = max(v.maxX, s.MaxX), max(v.maxY, s.MaxY)
	}
	for _, s := range all {
		s.MinX, s.MinY, s.MaxX, s.MaxY = v.minX, v.minY, v.maxX, v.maxY
		s.Shapes = slices.DeleteFunc(slices.Clone(s.Shapes), v.misses)
		seen = append(seen, s)
	}
	return v, seen, nil
}

// misses reports whether a shape is far from the view, or so large that its dashes would be drawn without end, or at no
// place at all.
func (v view) misses(s envs.Shape) bool {
	reach := math.Abs(s.X-v.minX) + math.Abs(s.Y-v.minY) + math.Abs(s.Radius) + math.Abs(s.Width) + math.Abs(s.Height)
	return !(reach <= 20*(v.maxX-v.minX+v.maxY-v.minY)) || s.Angle-s.Angle != 0
}

// size keeps the proportions of the view; its longer side is given.
func (v view) size(side vg.Length) (width, height vg.Length) {
	ratio := vg.Length((v.maxY - v.minY) / (v.maxX - v.minX))
	if ratio > 1 {
		return side / ratio, side
	}
	return side, side * ratio
}

// roomy is size for a single picture: a wide one may be longer than side, so that its height is not lost.
func (v view) roomy(side vg.Length) (width, height vg.Length) {
	ratio := (v.maxX - v.minX) / (v.maxY - v.minY)
	return v.size(side * vg.Length(math.Sqrt(max(1, ratio/2))))
}

// film packs pictures of equal size into a GIF with one palette of at most so many colours, 255. A frame holds only
// what differs from the frame before: the rest is cut off or transparent, which compresses to next to nothing. delay is
// in hundredths of a second.
func film(pictures []draw.Image, delay, colors int) *gif.GIF {
	palette, index := paletteOf(pictures, colors)
	out := &gif.GIF{}
	var before *image.Paletted
	for _, m := range pictures {
		full := indexed(m, palette, index)
		frame := full
		if before != nil {
			frame = difference(before, full)
		}
		out.Image, out.Delay = append(out.Image, frame), append(out.Delay, delay)
		before = full
	}
	out.Delay[len(out.Delay)-1] = 100
	return out
}

// Paletted is a picture in its 255 most frequent colours, the nearest of them for others, which takes a PNG fewer
// bytes.
func Paletted(m draw.Image) *image.Paletted {
	palette, index := paletteOf([]draw.Image{m}, 255)
	return indexed(m, palette, index)
}

// indexed is m in the colours of a palette, of which index finds the nearest.
func indexed(m image.Image, palette color.Palette, index func(color.Color) uint8) *image.Paletted {
	out := image.NewPaletted(m.Bounds(), palette)
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			out.SetColorIndex(x, y, index(m.At(x, y)))
		}
	}
	return out
}

// difference is the part of a frame that differs from the one before: the smallest rectangle that holds all of it, at
// least one pixel, in which equal pixels are transparent.
func difference(before, now *image.Paletted) *image.Paletted {
	out := image.NewPaletted(now.Rect, now.Palette) // transparent
	var changed image.Rectangle
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
			if i := now.ColorIndexAt(x, y); i != before.ColorIndexAt(x, y) {
				out.SetColorIndex(x, y, i)
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if changed.Empty() {
		changed = image.Rect(0, 0, 1, 1).Add(now.Rect.Min)
	}
	return out.SubImage(changed).(*image.Paletted)
}

// paletteOf takes the most frequent colours after rounding to 6 bits a channel, behind the transparent one, and returns
// them with a function that finds the nearest one. Scenes have few colours; only edges have more, and rounding them
// cannot be seen.
func paletteOf(pictures []draw.Image, colors int) (color.Palette, func(color.Color) uint8) {
	count := map[[3]uint8]int{}
	for _, m := range pictures {
		b := m.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[rounded(m.At(x, y))]++
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(count), func(a, b [3]uint8) int { // ties in a fixed order, so that a film is reproducible
		return cmp.Or(count[b]-count[a], slices.Compare(a[:], b[:]))
	})
	palette := color.Palette{color.Transparent}
	for _, k := range keys[:min(colors, len(keys))] {
		palette = append(palette, color.RGBA{k[0], k[1], k[2], 0xff})
	}
	known := map[[3]uint8]uint8{}
	return palette, func(c color.Color) uint8 {
		k := rounded(c)
		i, ok := known[k]
		if !ok {
			i = uint8(1 + palette[1:].Index(color.RGBA{k[0], k[1], k[2], 0xff}))
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
