// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"testing"

	"cermic/envs/envtest/must"
)

// zipped is text as gzip packs it.
func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// Python's json writes whole numbers with a point, and NaN where an episode has no value. In a name, NaN is a name.
func TestFilesOfOtherProgramsAreReadInEveryForm(t *testing.T) {
	const text = `{"vmas": {"Balance": {"NaN \"NaN": {"seed_2": {"step_0": {"step_count": 6000.0, "return": [1.5, NaN, 2.5]},
		"step_1": {"step_count": 12000, "return": [NaN]}}}}}}`
	for _, data := range [][]byte{[]byte(text), zipped(text)} {
		rs, err := Import(data)
		if err != nil || len(rs) != 1 || rs[0].Method != `NaN "NaN` || rs[0].Seed != 2 || len(rs[0].Evals) != 1 ||
			rs[0].Evals[0].Frames != 6000 || !slices.Equal(rs[0].Evals[0].Scores, []float64{1.5, 2.5}) {
			t.Errorf("got %+v, %v", rs, err)
		}
	}
	const curve = `{"schema": "benchmarl-curves/1", "algorithm": "mappo", "task": "balance",
		"runs": [{"seed": 1, "evals": [{"frames": 6000, "returns": [1, NaN]}]}]}`
	for _, data := range [][]byte{[]byte(curve), zipped(curve), recordedFile(t)} {
		rs, err := Import(data)
		if err != nil || rs[0].Method != "BenchMARL mappo" || rs[0].Task != "vmas/balance" || rs[0].Evals[0].Frames != 6000 {
			t.Errorf("recorded curves: %+v, %v", rs, err)
		}
	}
	for want, data := range map[string][]byte{
		`schema is "benchmarl-curves/2", want "benchmarl-curves/1"`: []byte(`{"schema": "benchmarl-curves/2"}`),
		"the gzip file is damaged":                                  zipped(text)[:30],
		"which nests environment":                                   []byte("frames,return"),
		"seed and step: unexpected end":                             {},
		"holds no returns":                                          []byte("{}"),
		"cannot unmarshal string":                                   []byte(`{"e":{"t":{"m":{"seed_1":{"step_1":{"return":"x"}}}}}}`),
	} {
		_, err := Import(data)
		must.Refuse(t, err, want)
	}
}
