// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/draw"

	"cermic/viz"
)

// thumbnailWidth is in pixels; thumbnails are at most as high.
const thumbnailWidth = 200

// thumbnails draws reproduce/jupyter/thumbnails, which the index of notebooks shows: the first figure of each notebook,
// or of its executed copy if the notebook is committed without outputs. Other thumbnails do not change.
func (s setup) thumbnails(books []string) error {
	for _, book := range books {
		figure, err := firstFigure(book)
		if err == nil && figure == nil {
			figure, err = firstFigure(s.path("notebooks", ".executed", filepath.Base(book)))
		}
		if os.IsNotExist(err) || err == nil && figure == nil {
			continue
		}
		if err != nil {
			return err
		}
		file := s.path("reproduce", "jupyter", "thumbnails", strings.TrimSuffix(filepath.Base(book), ".ipynb")+".png")
		if err := viz.WritePNG(file, thumbnail(figure)); err != nil {
			return err
		}
		fmt.Fprintln(s.out, file)
	}
	return nil
}

// firstFigure decodes the first PNG among the outputs of a notebook, nil if there is none.
func firstFigure(path string) (image.Image, error) {
	outputs, err := outputsOf(path)
	if err != nil {
		return nil, err
	}
	for _, data := range outputs {
		var encoded string
		if json.Unmarshal(data["image/png"], &encoded) != nil {
			continue
		}
		figure, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)))
		if err != nil {
			return nil, fmt.Errorf("%s: a figure cannot be read: %w", path, err)
		}
		return figure, nil
	}
	return nil, nil
}

// outputsOf returns the outputs of a notebook's cells in order, each by media type.
func outputsOf(path string) ([]map[string]json.RawMessage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var book struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &book); err != nil {
		return nil, fmt.Errorf("%s is no notebook: %w", path, err)
	}
	var all []map[string]json.RawMessage
	for _, cell := range book.Cells {
		for _, out := range cell.Outputs {
			all = append(all, out.Data)
		}
	}
	return all, nil
}

// thumbnail scales down the upper part of a figure, at most as high as wide.
func thumbnail(figure image.Image) image.Image {
	from := figure.Bounds()
	from.Max.Y = min(from.Max.Y, from.Min.Y+from.Dx())
	small := image.NewRGBA(image.Rect(0, 0, thumbnailWidth, max(1, thumbnailWidth*from.Dy()/from.Dx())))
	draw.CatmullRom.Scale(small, small.Bounds(), figure, from, draw.Src, nil)
	return viz.Paletted(small)
}
