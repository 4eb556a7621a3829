// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/draw"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// thumbnailWidth is in pixels. The height follows, up to as much.
const thumbnailWidth = 200

// Sizes beyond which no notebook and no picture is what it should be, in bytes and in pixels.
const (
	maxNotebook = 256 << 20
	maxPixels   = 64 << 20
)

// thumbnails draws reproduce/jupyter/thumbnails anew, which the index of notebooks shows: the first picture of each notebook or, where it is
// kept without its outputs, of its executed copy, if there is one. Thumbnails of notebooks without any picture stay as they are.
func (s setup) thumbnails(books []string) error {
	folder := s.path("reproduce", "jupyter", "thumbnails")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, book := range books {
		data, err := firstPicture(book)
		if err == nil && data == nil {
			data, err = firstPicture(s.path("notebooks", ".executed", filepath.Base(book)))
		}
		if os.IsNotExist(err) || err == nil && data == nil {
			continue
		}
		if err != nil {
			return err
		}
		small, err := thumbnail(data)
		if err != nil {
			return fmt.Errorf("%s: %w", book, err)
		}
		name := strings.TrimSuffix(filepath.Base(book), ".ipynb") + ".png"
		if err := viz.WritePNG(filepath.Join(folder, name), small); err != nil {
			return err
		}
		fmt.Fprintln(s.out, filepath.Join("reproduce", "jupyter", "thumbnails", name))
	}
	return nil
}

// firstPicture is the first PNG among the outputs of a notebook, nil if there is none.
func firstPicture(path string) ([]byte, error) {
	outputs, err := outputsOf(path)
	if err != nil {
		return nil, err
	}
	for _, data := range outputs {
		if raw, ok := data["image/png"]; ok {
			return decodePicture(raw, path)
		}
	}
	return nil, nil
}

// decodePicture reads a picture among a notebook's outputs: base64, in lines or not.
func decodePicture(raw json.RawMessage, path string) ([]byte, error) {
	var encoded string
	if err := json.Unmarshal(raw, &encoded); err != nil {
		return nil, fmt.Errorf("%s: a picture is no text: %w", path, err)
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(encoded, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("%s: a picture is not in base64: %w", path, err)
	}
	return data, nil
}

// outputsOf is what the cells of a notebook show, in their order, each by its media types.
func outputsOf(path string) ([]map[string]json.RawMessage, error) {
	text, err := results.ReadFile(path, maxNotebook)
	if err != nil {
		return nil, err
	}
	return readOutputs(text, path)
}

// readOutputs is outputsOf for the text of a notebook.
func readOutputs(text []byte, path string) ([]map[string]json.RawMessage, error) {
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

// thumbnail is the upper part of a picture, as wide as it is and at most as high, made small.
func thumbnail(data []byte) (image.Image, error) {
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if size.Width > maxPixels/max(1, size.Height) {
		return nil, fmt.Errorf("the picture has %d × %d pixels, want at most %d in all", size.Width, size.Height, maxPixels)
	}
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	from := full.Bounds()
	from.Max.Y = min(from.Max.Y, from.Min.Y+from.Dx())
	small := image.NewRGBA(image.Rect(0, 0, thumbnailWidth, max(1, thumbnailWidth*from.Dy()/from.Dx())))
	draw.CatmullRom.Scale(small, small.Bounds(), full, from, draw.Src, nil)
	return viz.Paletted(small), nil
}
