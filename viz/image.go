// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
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
	dc := draw.New(c)
	p.Draw(draw.Crop(dc, vg.Points(6), -vg.Points(8), vg.Points(5), -vg.Points(6)))
	return c.Image()
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
	return os.WriteFile(path, data, 0o666)
}

// Write draws a plot into a file of the format that its name ends in: .png with the dots of a dense screen, or .svg or .pdf.
func Write(path string, p *plot.Plot, width, height vg.Length) error {
	switch ext := filepath.Ext(path); ext {
	case ".png":
		return WritePNG(path, Image(p, width, height))
	case ".svg", ".pdf":
		return p.Save(width, height, path)
	default:
		return fmt.Errorf("%s: a figure's name must end in .png, .svg or .pdf, not %q", path, ext)
	}
}
