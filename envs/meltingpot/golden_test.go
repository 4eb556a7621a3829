// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"encoding/json"
	"image"
	"image/draw"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
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
		Inventory   [][]float64   `json:"INVENTORY"`
		Ready       []float64     `json:"READY_TO_SHOOT"`
		Inventories [][][]float64 `json:"INTERACTION_INVENTORIES"`
		OthersClean []float64     `json:"NUM_OTHERS_WHO_CLEANED_THIS_STEP"`
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
	Objs []tuple
	Ops  []tuple
	Dirt int
	RGB  *struct {
		World   []byte
		Players [][]byte
	}
}

// tuple is a list of numbers and plain strings, as text.
type tuple []string

// UnmarshalJSON splits the list; strings in such lists contain no commas or escapes.
func (t *tuple) UnmarshalJSON(raw []byte) error {
	parts := strings.Split(strings.Trim(string(raw), "[]"), ",")
	for k := range parts {
		parts[k] = strings.Trim(parts[k], " \"")
	}
	*t = parts
	return nil
}

func (t tuple) int(k int) int {
	return must.Value(strconv.Atoi(t[k]))
}

// readStream calls visit for each step of a recording until it returns false.
func readStream(t *testing.T, file string, begin func(*header), visit func(*moment) bool) {
	t.Helper()
	decode := func(line []byte, into any) {
		if err := json.Unmarshal(line, into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	first := true
	envtest.EachLine(t, file, func(line []byte) bool {
		if first {
			first = false
			var h header
			decode(line, &h)
			begin(&h)
			return true
		}
		m := new(moment)
		decode(line, m)
		return visit(m)
	})
}

// rgbOf decodes a picture into [height,width,3].
func rgbOf(t *testing.T, file []byte) []uint8 {
	t.Helper()
	m := must.Value(png.Decode(bytes.NewReader(file)))
	b := m.Bounds()
	all := image.NewRGBA(b)
	draw.Draw(all, b, m, b.Min, draw.Src)
	out := make([]uint8, 0, 3*b.Dx()*b.Dy())
	for at := 0; at < len(all.Pix); at += 4 {
		out = append(out, all.Pix[at:at+3]...)
	}
	return out
}
