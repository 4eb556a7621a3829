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

	"cermic/viz"
)

// thumbnailWidth is in pixels. The height follows, up to as much.
const thumbnailWidth = 200

// thumbnails draws notebooks/thumbnails anew, which the index of notebooks shows: the first picture of each notebook or, where it is
// kept without its outputs, of its executed copy, if there is one. Thumbnails of notebooks without any picture stay as they are.
func (s setup) thumbnails(books []string) error {
	folder := s.path("notebooks", "thumbnails")
	if err := os.MkdirAll(folder, 0o755); err != nil {
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
		fmt.Fprintln(s.out, filepath.Join("notebooks", "thumbnails", name))
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
			var encoded string
			if err := json.Unmarshal(raw, &encoded); err != nil {
				return nil, fmt.Errorf("%s: a picture is no text: %w", path, err)
			}
			return base64.StdEncoding.DecodeString(strings.ReplaceAll(encoded, "\n", ""))
		}
	}
	return nil, nil
}

// outputsOf is what the cells of a notebook show, in their order, each by its media types.
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

// thumbnail is the upper part of a picture, as wide as it is and at most as high, made small.
func thumbnail(data []byte) (image.Image, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	from := full.Bounds()
	from.Max.Y = min(from.Max.Y, from.Min.Y+from.Dx())
	small := image.NewRGBA(image.Rect(0, 0, thumbnailWidth, max(1, thumbnailWidth*from.Dy()/from.Dx())))
	draw.CatmullRom.Scale(small, small.Bounds(), full, from, draw.Src, nil)
	return small, nil
}
