// SPDX-License-Identifier: Apache-2.0

package viz

import "gonum.org/v1/plot/vg"

// boxes are the places of a picture that are taken.
type boxes []vg.Rectangle

// add takes the box around a centre.
func (b *boxes) add(centre vg.Point, halfWidth, halfHeight vg.Length) {
	*b = append(*b, around(centre, halfWidth, halfHeight))
}

func around(centre vg.Point, halfWidth, halfHeight vg.Length) vg.Rectangle {
	half := vg.Point{X: halfWidth, Y: halfHeight}
	return vg.Rectangle{Min: centre.Sub(half), Max: centre.Add(half)}
}

// covered is the occupied area of r; overlaps count several times.
func (b *boxes) covered(r vg.Rectangle) vg.Length {
	sum := vg.Length(0)
	for _, o := range *b {
		width, height := min(r.Max.X, o.Max.X)-max(r.Min.X, o.Min.X), min(r.Max.Y, o.Max.Y)-max(r.Min.Y, o.Min.Y)
		if width > 0 && height > 0 {
			sum += width * height
		}
	}
	return sum
}

// beside finds a place for a short text next to a disc, below it if that is free, and takes it. Where everything around
// is taken it is the place that hides least; the text never leaves the canvas.
func (p painter) beside(centre vg.Point, radius, size, width vg.Length) vg.Point {
	best, least := centre, vg.Length(-1)
	for _, d := range [8][2]vg.Length{{0, -1}, {1, 0}, {-1, 0}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}} {
		at := vg.Point{X: centre.X + d[0]*(radius+width*0.8), Y: centre.Y + d[1]*(radius+size*0.6)}
		box := around(at, width/2, size*0.4)
		outside := box.Min.X < p.Min.X || box.Max.X > p.Max.X || box.Min.Y < p.Min.Y || box.Max.Y > p.Max.Y
		if hidden := p.taken.covered(box); !outside && (least < 0 || hidden < least) {
			best, least = at, hidden
		}
	}
	p.taken.add(best, width/2, size*0.4)
	return best
}
