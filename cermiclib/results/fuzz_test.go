// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"cermic/cermiclib/results/safetensors"
)

// saidOnce fails unless an error that a file's content causes is one sentence.
func saidOnce(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\n\r\x1b") {
		t.Errorf("not one sentence: %q", text)
	}
}

// zipped is text as gzip packs it.
func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// FuzzUnpack reads any packed record: what is accepted survives being packed again, and its head is its own.
func FuzzUnpack(f *testing.F) {
	want := testHeader()
	want.ID, want.Experiment, want.Complete, want.Frames = testID, []byte(testExperiment), true, 200
	want.Scalars = map[string]Points{"loss": {{100, 1.5}, {200, -0.25}}}
	want.AddEval(Eval{Frames: 200, Scores: []float64{1, 2}, Lengths: []int{5, 6}})
	data, err := Pack(&want)
	if err != nil {
		f.Fatal(err)
	}
	text, err := Inflate(data, maxPack)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.ReplaceAll(text, []byte("vmas/balance"), []byte("../../x")))
	f.Add([]byte(`{"id":"0a","task":"t","method":"m","complete":true,"experiment":{},"scalars":{"a":{"frames":[1],"values":[]}}}`))
	f.Add([]byte(`{"id":"0a","task":"t","method":"m","complete":true,"scalars":{"a":[{"frames":1,"value":1e308}]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		data := zipped(string(text))
		r, err := Unpack(data)
		head, failed := unpack(data, false)
		if failed != nil && !errors.Is(failed, ErrDamaged) {
			t.Error(failed)
		}
		if failed == nil && (head.CheckNames() != nil || len(head.Evals) > 1 || len(head.Scalars) > 0) {
			t.Errorf("the head is %+v", head)
		}
		if err != nil {
			if saidOnce(t, err); !errors.Is(err, ErrDamaged) {
				t.Error(err)
			}
			return
		}
		again, err := Pack(r)
		if err != nil {
			return // JSON within the record that is not JSON alone
		}
		back, err := Unpack(again)
		if err != nil || back.ID != r.ID || back.Task != r.Task || len(back.Evals) != len(r.Evals) {
			t.Errorf("%+v is read back as %+v, %v", r, back, err)
		}
	})
}

// FuzzCheckpoint reads any checkpoint with the right checksum: an accepted one has a frame count, a record and a run.
func FuzzCheckpoint(f *testing.F) {
	f.Add(`{"run.id":"0a","run.frames":"100","run.record":"{\"id\":\"0a\",\"task\":\"t\",\"method\":\"m\"}","note":"x"}`, "weights/w", []byte{0, 0, 128, 63})
	f.Add(`{"run.id":"0a","run.frames":"-1"}`, "", []byte{1})
	f.Add(`{"run.id":"0a","run.frames":"1e9","a":"\u0000"}`, "__metadata__", []byte(nil))
	f.Fuzz(func(t *testing.T, text, name string, data []byte) {
		var meta map[string]string
		if json.Unmarshal([]byte(text), &meta) != nil {
			return
		}
		var file bytes.Buffer
		if err := safetensors.Write(&file, []safetensors.Tensor{safetensors.New(name, data)}, meta); err != nil {
			saidOnce(t, err)
			return
		}
		c, record, err := parseCheckpoint(file.Bytes(), "0a")
		if err != nil {
			saidOnce(t, err)
			return
		}
		if c.Frames < 0 || len(c.Tensors) != 1 || record.CheckNames() != nil {
			t.Errorf("%q is read as %+v of %+v", text, c, record)
		}
		if _, _, err := parseCheckpoint(file.Bytes(), "0b"); err == nil {
			t.Error("it is taken for another run's")
		}
	})
}
