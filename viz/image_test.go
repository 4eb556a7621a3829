// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFigureIsWrittenInEveryFormat(t *testing.T) {
	p, err := Curves(Figure{Title: "ε-greedy below zero", X: "frames", Y: "r^i (√nats)"}, Line("MAPPO-ε-greedy", []float64{0, 1}, []float64{-2, -1}))
	if err != nil {
		t.Fatal(err)
	}
	for ext, begin := range map[string]string{".png": "\x89PNG", ".svg": "<?xml"} {
		path := filepath.Join(t.TempDir(), "figure"+ext)
		if err := os.WriteFile(path, []byte("an older figure"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, p, Width, Height); err != nil {
			t.Errorf("%s: %v", ext, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), begin) || len(data) < 4000 {
			t.Errorf("%s: %d bytes that begin with %.8q, %v", ext, len(data), data, err)
		}
		if families := []byte("font-family:Liberation Sans, Arial, sans-serif;"); ext == ".svg" && !bytes.Contains(data, families) {
			t.Error("the letters of an SVG have no other family to fall back on")
		}
		if texts := bytes.Count(data, []byte("<text ")); ext == ".svg" && (texts < 4 || bytes.Count(data, []byte("<text textLength=")) != texts) {
			t.Errorf("%d texts of an SVG, of which %d say how long they are", texts, bytes.Count(data, []byte("<text textLength=")))
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "figure.gif"), p, Width, Height); err == nil || !strings.Contains(err.Error(), ".png or .svg") {
		t.Errorf("a format that there is not: %v", err)
	}
}
