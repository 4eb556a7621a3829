// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/viz"
)

func TestIndexLeadsToEveryNotebookAndItsThumbnail(t *testing.T) {
	folder := filepath.Join("..", "notebooks")
	text := must.Get(os.ReadFile(filepath.Join(folder, "README.md")))(t)
	books, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil || len(books) == 0 {
		t.Fatalf("%d notebooks: %v", len(books), err)
	}
	for _, book := range books {
		if name := filepath.Base(book); !strings.Contains(string(text), "]("+name+")") {
			t.Errorf("notebooks/README.md does not link to %s", name)
		}
	}
	for _, link := range regexp.MustCompile(`(?:\]\(|src=")([\w./]+)[)"]`).FindAllStringSubmatch(string(text), -1) {
		info, err := os.Stat(filepath.Join(folder, link[1]))
		if err != nil {
			t.Errorf("notebooks/README.md shows what is not there: %v", err)
		} else if strings.HasSuffix(link[1], ".png") && info.Size() > 30_000 { // a page of them loads at once
			t.Errorf("%s has %d bytes, want at most 30,000", link[1], info.Size())
		}
	}
}

func TestThumbnailsAreOfTheFirstPictureAlsoOfAnExecutedCopy(t *testing.T) {
	s := emptyRepository(t)
	picture := image.NewRGBA(image.Rect(0, 0, 600, 1500))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	picture.Set(0, 0, color.Black)
	data := must.Get(viz.PNG(picture))(t)
	encoded := base64.StdEncoding.EncodeToString(data)
	full := `{"cells":[{"outputs":[{"name":"stdout"},{"data":{"image/png":"` + encoded + `\n"}}]}]}`
	var books []string
	for _, name := range []string{"kept.ipynb", "bare.ipynb", "none.ipynb"} {
		books = append(books, s.path("notebooks", name))
	}
	write(t, books[0], full, 0o666)
	write(t, books[1], `{"cells":[]}`, 0o666)
	write(t, books[2], `{"cells":[]}`, 0o666)
	write(t, s.path("notebooks", ".executed", "bare.ipynb"), full, 0o666)
	must.Do(t, s.thumbnails(books))
	made, err := filepath.Glob(s.path("reproduce", "jupyter", "thumbnails", "*"))
	if err != nil || len(made) != 2 {
		t.Fatalf("thumbnails %v: %v, want those of the two notebooks with a picture", made, err)
	}
	f := must.Get(os.Open(made[0]))(t)
	defer f.Close()
	small, _, err := image.Decode(f)
	if err != nil || small.Bounds().Dx() != thumbnailWidth || small.Bounds().Dy() != thumbnailWidth {
		t.Errorf("a thumbnail of %v: %v, want a square of %d pixels", small.Bounds(), err, thumbnailWidth)
	}
	must.Do(t, os.WriteFile(books[0], []byte("no JSON"), 0o666))
	must.Refuse(t, s.thumbnails(books), "is no notebook")
}
