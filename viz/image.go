// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"cermic/cermiclib/results"
)

// dpi of every bitmap: letters stay crisp on a dense screen, and a figure of 6 inches is 840 pixels wide.
const dpi = 140

// The size of a single figure.
const (
	Width  = 6.2 * vg.Inch
	Height = 3.5 * vg.Inch
)

// drawing is a figure of one size.
type drawing struct {
	width, height vg.Length
	paint         func(draw.Canvas)
}

// plotted is a plot with the margins that every format has.
func plotted(p *plot.Plot, width, height vg.Length) drawing {
	return drawing{width, height, func(c draw.Canvas) {
		inner := draw.Crop(c, vg.Points(6), -vg.Points(8), vg.Points(5), -vg.Points(6))
		arranged(p, inner.Size().X, inner.Size().Y).Draw(inner)
	}}
}

func (d drawing) image() image.Image {
	c := vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	d.paint(draw.New(c))
	return c.Image()
}

// onPaper draws on white ground.
func (d drawing) onPaper(sizer vg.CanvasSizer) {
	c := draw.New(sizer)
	c.FillPolygon(paper, rectangle(0, 0, d.width, d.height))
	d.paint(c)
}

// write draws into a file of the format that its name ends in.
func (d drawing) write(path string) (err error) {
	var data []byte
	switch filepath.Ext(path) {
	case ".png":
		return WritePNG(path, d.image())
	case ".svg":
		data, err = d.svg()
	default:
		err = errors.New("a figure's name must end in .png or .svg")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return results.WriteFile(path, data)
}

// Image draws one plot at the given size.
func Image(p *plot.Plot, width, height vg.Length) image.Image {
	return plotted(p, width, height).image()
}

// SVG draws one plot as SVG, to stand in a page.
func SVG(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	return plotted(p, width, height).svg()
}

// Write draws a plot into a file of the format that its name ends in: .png or .svg. An existing
// file is replaced only once the whole figure is drawn.
func Write(path string, p *plot.Plot, width, height vg.Length) error {
	return plotted(p, width, height).write(path)
}

// WritePanels is Write for panels.
func WritePanels(path string, p Panels) error { return p.layout().write(path) }

// Image draws all panels with equal data areas.
func (p Panels) Image() image.Image { return p.layout().image() }

// SVG draws all panels as SVG, to stand in a page.
func (p Panels) SVG() ([]byte, error) { return p.layout().svg() }

// PNG encodes an image.
func PNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression} // a notebook keeps every picture
	if err := encoder.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("encoding a figure: %w", err)
	}
	return b.Bytes(), nil
}

// WritePNG writes an image to a file.
func WritePNG(path string, m image.Image) error {
	data, err := PNG(m)
	if err != nil {
		return err
	}
	return results.WriteFile(path, data)
}
