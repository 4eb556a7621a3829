// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"cermic/envs/envtest/must"
)

func exampleTensors() Tensors {
	return Tensors{
		"b/weights":     New([]float32{1, -2.5, float32(math.NaN()), 0, 1e-45, 3}, 2, 3),
		"a/steps":       New([]int64{1 << 40}),
		"c/scalar":      {DType: "F64", Data: make([]byte, 8)},
		"c/empty":       {DType: "BF16", Shape: []int{0, 4}, Data: []byte{}},
		"\"sha256\":\"": New([]uint8{1, 2, 3}),
	}
}

func writeTensors(t testing.TB, tensors Tensors, meta map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, tensors, meta))
	return b.Bytes()
}

func TestTensorsReadBack(t *testing.T) {
	meta := map[string]string{"frames": "7", "text": `"sha256":"00"`}
	data := writeTensors(t, exampleTensors(), meta)
	if n := binary.LittleEndian.Uint64(data); n%8 != 0 {
		t.Errorf("the data starts at %d, want a multiple of 8", 8+n)
	}
	tensors, got, err := Read(data)
	must.Do(t, err)
	delete(got, ChecksumKey)
	if !reflect.DeepEqual(got, meta) {
		t.Errorf("metadata %v, want %v", got, meta)
	}
	for name, want := range exampleTensors() {
		x := tensors[name]
		if x.DType != want.DType || len(x.Shape) != len(want.Shape) || !bytes.Equal(x.Data, want.Data) {
			t.Errorf("got %+v, want %+v", x, want)
		}
	}
	if values, err := Values[float32](tensors, "b/weights"); err != nil || values[1] != -2.5 || values[4] != 1e-45 {
		t.Errorf("values %v, %v", values, err)
	}
	if _, err := Values[int32](tensors, "b/weights"); err == nil {
		t.Error("float32 data is read as int32")
	}
	if !bytes.Equal(writeTensors(t, exampleTensors(), meta), data) {
		t.Error("the order of the tensors changes the file")
	}
}

func TestForeignTensorFilesAreRead(t *testing.T) {
	// Written with the safetensors package for Python 0.8.0:
	// save({"b": np.array([[1, 2]], "float32"), "a": np.array([3], "int64")}, {"k": "v"}).
	data, err := hex.DecodeString("88000000000000007b225f5f6d657461646174615f5f223a7b226b223a2276227d2c2261223a7b226474797065223a224936" +
		"34222c227368617065223a5b315d2c22646174615f6f666673657473223a5b302c385d7d2c2262223a7b226474797065223a" +
		"22463332222c227368617065223a5b312c325d2c22646174615f6f666673657473223a5b382c31365d7d7d20030000000000" +
		"00000000803f00000040")
	must.Do(t, err)
	tensors, meta, err := Read(data)
	if err != nil || len(tensors) != 2 || meta["k"] != "v" {
		t.Fatalf("%+v, %v, %v", tensors, meta, err)
	}
	a, err := Values[int64](tensors, "a")
	if err != nil || a[0] != 3 {
		t.Errorf("a is %v, %v", a, err)
	}
	b, err := Values[float32](tensors, "b")
	if err != nil || !reflect.DeepEqual(tensors["b"].Shape, []int{1, 2}) || b[1] != 2 {
		t.Errorf("b is %v, %v", b, err)
	}
}

func TestEveryFlippedByteOfATensorFileIsFound(t *testing.T) {
	data := writeTensors(t, exampleTensors(), map[string]string{"frames": "7"})
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			_, meta, err := Read(bad)
			if err == nil && meta[ChecksumKey] != "" { // without a checksum a checkpoint is refused
				t.Fatalf("bit %d of byte %d is flipped, and the file is accepted", bit, i)
			}
		}
	}
	for n := range len(data) {
		if _, _, err := Read(data[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes, and the file is accepted", n, len(data))
		}
	}
}

// file makes a file with that header and so many bytes of data.
func file(header string, size int) []byte {
	data := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(data, header...), make([]byte, size)...)
}

func TestTensorErrorsSayWhatIsWrong(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for want, data := range map[string][]byte{
		"too few":              {1, 2, 3},
		"the header should":    append(huge, "{}"...),
		"not JSON":             file(`{"a`, 0),
		"not an object":        file(`{"__metadata__":{"a":1}}`, 0),
		"cannot be read":       file(`{"a":{"dtype":"F32","shape":"x","data_offsets":[0,4]}}`, 4),
		"unknown type":         file(`{"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, 4),
		"want 8":               file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4),
		"impossible shape":     file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4),
		"shape [4611686018":    file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, 0),
		"want a start at 0":    file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8),
		"at bytes 0 to 4 of 3": file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 3),
		"want a start at 4": file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
			`"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4),
		"5 bytes follow": file(`{}`, 5),
		"does not match": file(`{"__metadata__":{"sha256":"00"}}`, 0),
	} {
		_, _, err := Read(data)
		must.Refuse(t, err, want)
	}
	for want, tensors := range map[string]Tensors{
		`"__metadata__" is taken`: {"__metadata__": New([]int32{1})},
		"want 12":                 {"a": New([]int32{1}, 3)},
		"unknown type":            {"a": {DType: "int"}},
	} {
		must.Refuse(t, Write(new(bytes.Buffer), tensors, nil), want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(writeTensors(f, exampleTensors(), map[string]string{"k": "v"}))
	f.Add(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}`, 4))
	f.Add(file(`{"__metadata__":null,"a":null}`, 0))
	f.Add(file(`{"a":{"dtype":"U8","shape":[],"data_offsets":[9223372036854775807,-1]}}`, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, meta, err := Read(data)
		if err != nil {
			return
		}
		delete(meta, ChecksumKey)
		again, back, err := Read(writeTensors(t, tensors, meta))
		if err != nil || len(again) != len(tensors) || len(back) != len(meta)+1 {
			t.Fatalf("accepted %+v, %v, but wrote %+v, %v, %v", tensors, meta, again, back, err)
		}
	})
}
