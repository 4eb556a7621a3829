// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot"
)

var regen = flag.Bool("regen", false, "rewrite the golden images in testdata")

// looksAsBefore compares a plot, panels or an image with testdata/name.png.
func looksAsBefore(t *testing.T, name string) func(figure any, err error) {
	t.Helper()
	return func(figure any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		switch f := figure.(type) {
		case *plot.Plot:
			checkImage(t, name, Image(f, Width, Height))
		case Panels:
			checkImage(t, name, f.Image())
		case image.Image:
			checkImage(t, name, f)
		}
	}
}

// checkImage compares a picture with testdata/name.png.
func checkImage(t *testing.T, name string, got image.Image) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *regen {
		if err := WritePNG(path, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./viz -regen", err)
	}
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	// Processors with and without fused multiply-add round edges differently: a few pixels of anti-aliasing may move.
	if part := pixelDifference(got, want); part > 0.002 {
		t.Errorf("%s: %.2f %% of the picture differs from %s", name, 100*part, path)
	}
}

// pixelDifference is the mean difference of two pictures over all channels, 1 if their sizes differ.
func pixelDifference(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 1
	}
	sum, n := 0.0, 0
	ao, bo := a.Bounds().Min, b.Bounds().Min
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, _ := a.At(ao.X+x, ao.Y+y).RGBA()
			r2, g2, bl2, _ := b.At(bo.X+x, bo.Y+y).RGBA()
			for _, d := range [3]int{int(r) - int(r2), int(g) - int(g2), int(bl) - int(bl2)} {
				sum += float64(max(d, -d)) / 0xffff
				n++
			}
		}
	}
	return sum / float64(n)
}
