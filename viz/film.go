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

// Strip draws a few scenes of an episode side by side, evenly spaced from the first to the last. Each has its step
// and the trails of agents and objects. scenes holds one scene per step, the reset first. Wide scenes are arranged in
// several rows.
func Strip(scenes []envs.Scene, frames int) (image.Image, error) {
	scenes, err := inOneView(scenes)
	if err != nil {
		return nil, err
	}
	if frames < 1 {
		return nil, fmt.Errorf("strip of %d frames, want at least 1", frames)
	}
	frames = min(frames, len(scenes))
	s := sheet{columns: frames, foot: 16, drop: 2, align: text.YTop}
	if ratio := aspect(scenes[0]); ratio > 2 { // side by side, a wide scene would become a thread
		s.columns = max(1, int(math.Ceil(float64(frames)/math.Ceil(ratio/2))))
	}
	side := max(7.6*vg.Inch/vg.Length(s.columns)-8, 1.3*vg.Inch)
	s.width, s.height = size(scenes[0], min(side, 4*vg.Inch))
	step := func(k int) int { return int(math.Round(float64(k*(len(scenes)-1)) / float64(max(frames-1, 1)))) }
	return s.draw(frames, func(k int) string { return fmt.Sprintf("t = %d", step(k)) }, func(k int) image.Image {
		m, _ := rendering(scenes[:step(k)+1], s.width, s.height, dpi)
		return m
	}), nil
}

func pixels(l vg.Length) int { return int(math.Round(float64(l) / 72 * dpi)) }

// Animate plays scenes, one per step, as an endless film with the step and a progress bar. The last frame stands for
// a second. An episode longer than 120 steps is shown in every second, third, … step, so that a notebook stays small.
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

// tail is the number of steps of an agent's trail in a film.
const tail = 40

// format is what the size of a film depends on.
type format struct {
	frames     int       // at most
	side       vg.Length // the longer one
	resolution int       // dots an inch
	colors     int       // at most 255
}

func animate(scenes []envs.Scene, stepsPerSecond float64, f format) (*gif.GIF, error) {
	scenes, err := inOneView(scenes)
	if err != nil {
		return nil, err
	}
	if !(stepsPerSecond > 0) {
		return nil, fmt.Errorf("film of %g steps a second, want more than 0", stepsPerSecond)
	}
	every := (len(scenes) + f.frames - 1) / f.frames
	width, height := roomy(scenes[0], f.side)
	var pictures []draw.Image
	for i := 0; i < len(scenes); i += every {
		m, p := rendering(scenes[max(0, i-tail):i+1], width, height, f.resolution)
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

// rendering draws the last of scenes, over the trails up to it, into a new picture.
func rendering(scenes []envs.Scene, width, height vg.Length, resolution int) (draw.Image, painter) {
	return layered(scenes[len(scenes)-1], width, height, resolution, func(p painter) { p.trails(scenes) })
}

// layered is rendering with other drawings beneath the shapes; the painter can draw more above them.
func layered(s envs.Scene, width, height vg.Length, resolution int, under func(painter)) (draw.Image, painter) {
	img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution), vgimg.UseBackgroundColor(paper))
	for _, mosaic := range s.Mosaics {
		project(img.Image(), s, &mosaic)
	}
	return img.Image(), drawScene(vgdraw.New(img), s, under)
}

// project draws a mosaic of s into m, which shows all of s, without blurring: blurred cells show what no agent sees.
func project(m draw.Image, s envs.Scene, mosaic *envs.Mosaic) {
	wide, high, rgb := mosaic.RGB()
	cells := image.NewRGBA(image.Rect(0, 0, wide, high))
	for i := range wide * high {
		copy(cells.Pix[4*i:], []uint8{rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255})
	}
	b := m.Bounds()
	at := func(x, y float64) image.Point {
		return image.Pt(int(math.Round((x-s.MinX)*float64(b.Dx())/(s.MaxX-s.MinX))),
			int(math.Round((s.MaxY-y)*float64(b.Dy())/(s.MaxY-s.MinY))))
	}
	part := image.Rectangle{Min: at(mosaic.MinX, mosaic.MaxY), Max: at(mosaic.MaxX, mosaic.MinY)}.Add(b.Min)
	xdraw.NearestNeighbor.Scale(m, part, cells, cells.Bounds(), xdraw.Src, nil)
}

// mostLength is the largest ratio of a scene's sides. A longer scene would be too thin to see.
const mostLength = 1000

// inOneView gives all scenes one view, the smallest rectangle that holds all their views, so that a film does not
// jump. It leaves out shapes at no place, far away, or so large that their dashes would be drawn without end.
func inOneView(all []envs.Scene) (seen []envs.Scene, err error) {
	if len(all) == 0 {
		return nil, errors.New("no scenes to draw")
	}
	for i, s := range all {
		if ratio := aspect(s); !(s.MaxX > s.MinX && ratio <= mostLength && ratio >= 1./mostLength) {
			return nil, fmt.Errorf("scene %d spans [%g, %g] × [%g, %g], want a rectangle with sides of at most %d to 1",
				i, s.MinX, s.MaxX, s.MinY, s.MaxY, mostLength)
		}
	}
	seen = slices.Clone(all)
	SameView(seen)
	for i, s := range seen {
		seen[i].Shapes = slices.DeleteFunc(slices.Clone(s.Shapes), func(o envs.Shape) bool {
			size := math.Abs(o.Radius) + math.Abs(o.Width) + math.Abs(o.Height)
			reach := math.Abs(o.X-s.MinX) + math.Abs(o.Y-s.MinY) + size
			return !(reach <= 20*(s.MaxX-s.MinX+s.MaxY-s.MinY)) || o.Angle-o.Angle != 0
		})
	}
	return seen, nil
}

// SameView gives the scenes of several films the smallest view that holds all their views, so that the films can be
// compared.
func SameView(films ...[]envs.Scene) {
	view := envs.Scene{MinX: math.Inf(1), MinY: math.Inf(1), MaxX: math.Inf(-1), MaxY: math.Inf(-1)}
	for _, s := range slices.Concat(films...) {
		view.MinX, view.MinY = min(view.MinX, s.MinX), min(view.MinY, s.MinY)
		view.MaxX, view.MaxY = max(view.MaxX, s.MaxX), max(view.MaxY, s.MaxY)
	}
	for _, film := range films {
		for i := range film {
			s := &film[i]
			s.MinX, s.MinY, s.MaxX, s.MaxY = view.MinX, view.MinY, view.MaxX, view.MaxY
		}
	}
}

// aspect is the width of a scene over its height.
func aspect(s envs.Scene) float64 { return (s.MaxX - s.MinX) / (s.MaxY - s.MinY) }

// size keeps the proportions of a scene; its longer side is given.
func size(s envs.Scene, side vg.Length) (width, height vg.Length) {
	if ratio := vg.Length(aspect(s)); ratio < 1 {
		return side * ratio, side
	}
	return side, side / vg.Length(aspect(s))
}

// roomy is size for a single picture: a wide one may be longer than side, so that its height is not lost.
func roomy(s envs.Scene, side vg.Length) (width, height vg.Length) {
	return size(s, side*vg.Length(math.Sqrt(max(1, aspect(s)/2))))
}

// film packs pictures of equal size into a GIF with one palette of at most so many colours, 255. A frame holds only the
// difference from the frame before. The rest is cut off or transparent and takes almost no bytes. delay is in
// hundredths of a second.
func film(pictures []draw.Image, delay, colors int) *gif.GIF {
	out := &gif.GIF{}
	all := paletted(pictures, colors)
	for i, frame := range all {
		if i > 0 {
			frame = difference(all[i-1], frame)
		}
		out.Image, out.Delay = append(out.Image, frame), append(out.Delay, delay)
	}
	out.Delay[len(out.Delay)-1] = 100
	return out
}

// Paletted reduces a picture to its 255 most frequent colours and replaces others by the nearest of them. A PNG of it
// is smaller.
func Paletted(m draw.Image) *image.Paletted { return paletted([]draw.Image{m}, 255)[0] }

// difference is the least rectangle of a frame that holds all changes; pixels as in the frame before are transparent.
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

// paletted are pictures in one palette, of the transparent colour and so many of the most frequent ones. Colours are
// rounded to 6 bits a channel; others are replaced by the nearest of the palette.
func paletted(pictures []draw.Image, most int) (out []*image.Paletted) {
	count := map[[3]uint8]int{}
	for _, m := range pictures {
		b := m.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[rounded(m.At(x, y))]++
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(count), func(a, b [3]uint8) int { // ties in a fixed order, for reproducible films
		return cmp.Or(count[b]-count[a], slices.Compare(a[:], b[:]))
	})
	palette, index := color.Palette{color.Transparent}, map[[3]uint8]uint8{}
	for _, k := range keys {
		c := color.RGBA{k[0], k[1], k[2], 0xff}
		if len(palette) <= most {
			palette = append(palette, c)
		}
		index[k] = uint8(1 + palette[1:].Index(c))
	}
	for _, m := range pictures {
		p := image.NewPaletted(m.Bounds(), palette)
		for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
			for x := p.Rect.Min.X; x < p.Rect.Max.X; x++ {
				p.SetColorIndex(x, y, index[rounded(m.At(x, y))])
			}
		}
		out = append(out, p)
	}
	return out
}

// rounded keeps the 6 upper bits of each channel and repeats the first two below, so that white stays white.
func rounded(c color.Color) [3]uint8 {
	r, g, b, _ := c.RGBA()
	keep := func(v uint32) uint8 { return uint8(v>>8)&0xfc | uint8(v>>14) }
	return [3]uint8{keep(r), keep(g), keep(b)}
}
