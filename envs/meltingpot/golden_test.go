// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// header is the first line of a recording; testdata/golden/README.md describes every field.
type header struct {
	Substrate   string
	Players     int
	Map         []string
	Actions     []map[string]int
	RenderOrder []string `json:"render_order"`
	MaxFrames   int      `json:"max_frames"`
	Objects     []json.RawMessage
}

// moment is one recorded step.
type moment struct {
	T        int
	Actions  []int32
	Reward   []float64
	StepType int `json:"step_type"`
	Obs      struct {
		Inventory    [][]float64   `json:"INVENTORY"`
		Ready        []float64     `json:"READY_TO_SHOOT"`
		Inventories  [][][]float64 `json:"INTERACTION_INVENTORIES"`
		OthersClean  []float64     `json:"NUM_OTHERS_WHO_CLEANED_THIS_STEP"`
		InteractedIn []float64     `json:"INTERACTED_THIS_STEP"`
	}
	Events  []json.RawMessage
	Avatars []struct {
		K, X, Y      int
		O            string
		Alive        bool
		Age          int32
		CanMove      bool `json:"can_move"`
		Freeze, Cool int32
		CleanCool    int32 `json:"clean_cool"`
		Pending      int32
		Effects      int32
		Indicator    string
		Collected    bool
		ColorReward  float64 `json:"color_reward"`
	}
	Objs        []tuple
	Ops         []tuple
	Dirt, Clean int
	RGB         *struct {
		World   []byte
		Players [][]byte
	}
}

// tuple is a list of numbers and plain strings, as text.
type tuple []string

// UnmarshalJSON splits the list; recordings hold no strings with commas or escapes in such lists.
func (t *tuple) UnmarshalJSON(raw []byte) error {
	parts := strings.Split(strings.Trim(string(raw), "[]"), ",")
	for k := range parts {
		parts[k] = strings.Trim(parts[k], " \"")
	}
	*t = parts
	return nil
}

func (t tuple) int(k int) int {
	n, err := strconv.Atoi(t[k])
	if err != nil {
		panic(err)
	}
	return n
}

// goldenFolder is the folder of recordings: our own copy, or another one of the same layout.
func goldenFolder() string {
	if other := os.Getenv("CERMIC_GOLDEN_DIR"); other != "" {
		return filepath.Join(other, "meltingpot")
	}
	return filepath.Join("testdata", "golden")
}

// goldenFiles lists the files of the folder that match a pattern.
func goldenFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldenFolder(), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s (%v)", pattern, goldenFolder(), err)
	}
	return files
}

// statistics lists files with statistics of many episodes: our own copy if the folder of other recordings holds none.
func statistics(t *testing.T, pattern string) []string {
	t.Helper()
	if files, _ := filepath.Glob(filepath.Join(goldenFolder(), pattern)); len(files) > 0 {
		return files
	}
	t.Setenv("CERMIC_GOLDEN_DIR", "")
	return goldenFiles(t, pattern)
}

// readStream hands the steps of a recording to visit, one after the other, until it returns false.
func readStream(t *testing.T, file string, begin func(*header), visit func(*moment) bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for first := true; lines.Scan(); first = false {
		if first {
			var h header
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			begin(&h)
			continue
		}
		m := new(moment)
		if err := json.Unmarshal(lines.Bytes(), m); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !visit(m) {
			return
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// readJSON reads a file of plain JSON.
func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// rgbOf decodes a picture into [height,width,3].
func rgbOf(t *testing.T, file []byte) []uint8 {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bounds()
	all := image.NewRGBA(b)
	draw.Draw(all, b, m, b.Min, draw.Src)
	out := make([]uint8, 0, 3*b.Dx()*b.Dy())
	for at := 0; at < len(all.Pix); at += 4 {
		out = append(out, all.Pix[at:at+3]...)
	}
	return out
}
