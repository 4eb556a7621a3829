// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
)

// FuzzNotebook reads any notebook and the pictures that it shows: the answer is a small picture or one sentence.
func FuzzNotebook(f *testing.F) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 3, 5))); err != nil {
		f.Fatal(err)
	}
	const book = `{"cells":[{"outputs":[{"data":{"text/html":["<p>"],"image/png":%q}}]}]}`
	f.Add(fmt.Sprintf(book, base64.StdEncoding.EncodeToString(picture.Bytes())), picture.Bytes())
	endless := bytes.Clone(picture.Bytes())
	copy(endless[16:], []byte{0, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff}) // width and height
	f.Add(fmt.Sprintf(book, "%%%"), endless)
	f.Add(`{"cells":[{"outputs":[{"data":null}]},null,{"outputs":[{"data":{"image/png":3}}]}]}`, []byte("\x89PNG\r\n\x1a\n"))
	f.Add(`[]`, []byte(nil))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		pictures := [][]byte{data}
		outputs, err := readOutputs([]byte(text), "a notebook")
		oneLine(t, err)
		for _, out := range outputs {
			if raw, ok := out["image/png"]; ok {
				decoded, err := decodePicture(raw, "a notebook")
				oneLine(t, err)
				pictures = append(pictures, decoded)
			}
		}
		for _, data := range pictures {
			small, err := thumbnail(data)
			oneLine(t, err)
			if err == nil && (small.Bounds().Dx() != thumbnailWidth || small.Bounds().Dy() > thumbnailWidth) {
				t.Errorf("a thumbnail of %v", small.Bounds())
			}
		}
	})
}

// oneLine fails if an error is more than one line.
func oneLine(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("not one sentence: %q", err)
	}
}
