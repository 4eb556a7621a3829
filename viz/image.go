// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
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

// Image draws one plot at the given size.
func Image(p *plot.Plot, width, height vg.Length) image.Image {
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	onto(c, p)
	return c.Image()
}

// onto draws a plot with the margins that every format has.
func onto(c vg.CanvasSizer, p *plot.Plot) {
	inner := draw.Crop(draw.New(c), vg.Points(6), -vg.Points(8), vg.Points(5), -vg.Points(6))
	arranged(p, inner.Size().X, inner.Size().Y).Draw(inner)
}

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

// Write draws a plot into a file of the format that its name ends in: .png with the dots of a dense screen, or .svg or
// .pdf. An existing file is replaced only once the whole figure is drawn.
func Write(path string, p *plot.Plot, width, height vg.Length) error {
	if filepath.Ext(path) == ".png" {
		return WritePNG(path, Image(p, width, height))
	}
	return writeVector(path, width, height, func(c vg.CanvasSizer) { onto(c, p) })
}

// WritePanels is Write for panels.
func WritePanels(path string, p Panels) error {
	if filepath.Ext(path) == ".png" {
		return WritePNG(path, p.Image())
	}
	width, height, paint := p.layout()
	return writeVector(path, width, height, func(c vg.CanvasSizer) { paint(draw.New(c)) })
}

func writeVector(path string, width, height vg.Length, paint func(vg.CanvasSizer)) error {
	format, ok := map[string]func(vg.Length, vg.Length, func(vg.CanvasSizer)) ([]byte, error){".svg": paintSVG, ".pdf": paintPDF}[filepath.Ext(path)]
	if !ok {
		return fmt.Errorf("%s: a figure's name must end in .png, .svg or .pdf", path)
	}
	data, err := format(width, height, paint)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return results.WriteFile(path, data)
}

// SVG draws a plot as one, to stand in a page.
func SVG(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	return paintSVG(width, height, func(c vg.CanvasSizer) { onto(c, p) })
}

// SVG draws all panels as one, to stand in a page.
func (p Panels) SVG() ([]byte, error) {
	width, height, paint := p.layout()
	return paintSVG(width, height, func(c vg.CanvasSizer) { paint(draw.New(c)) })
}

// whiten fills a canvas with the background.
func whiten(c vg.Canvas, width, height vg.Length) {
	c.SetColor(paper)
	c.Fill(vg.Rectangle{Max: vg.Point{X: width, Y: height}}.Path())
}
