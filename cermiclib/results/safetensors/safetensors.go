// SPDX-License-Identifier: Apache-2.0

// Package safetensors reads and writes named arrays in the format of Hugging Face
// (https://github.com/huggingface/safetensors), with a checksum of the whole file in its metadata. A file has eight
// bytes with the length of the header, a JSON header, and the data.
package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Tensors are the arrays of a safetensors file by name, which is any text but "__metadata__".
type Tensors map[string]Tensor

// Tensor is one array.
type Tensor struct {
	DType string // "F32", "F64", "I32", …: see dtypeBytes
	Shape []int  // empty for a scalar
	Data  []byte // row-major, little-endian
}

// dtypeBytes lists the element types of the format and the bytes of one element.
var dtypeBytes = map[string]int{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1,
	"I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4,
	"I64": 8, "U64": 8, "F64": 8,
}

// ChecksumKey is the key of the metadata for the SHA-256 of the whole file with its own 64 digits as zeros.
const ChecksumKey = "sha256"

const (
	metadataKey = "__metadata__"
	maxHeader   = 100 << 20
)

// entry is a tensor in the header.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // from the end of the header
}

// Write writes tensors in the order of their names, and metadata: equal content gives equal bytes. It adds the key
// "sha256" to the metadata, which Read checks.
func Write(w io.Writer, tensors Tensors, meta map[string]string) error {
	names := slices.Sorted(maps.Keys(tensors))
	header, err := makeHeader(names, tensors, meta)
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(header)
	for _, name := range names {
		sum.Write(tensors[name].Data)
	}
	zeros, digits := checksum(strings.Repeat("0", 64)), checksum(hex.EncodeToString(sum.Sum(nil)))
	if _, err := w.Write(bytes.Replace(header, zeros, digits, 1)); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := w.Write(tensors[name].Data); err != nil {
			return err
		}
	}
	return nil
}

// checksum is the text of the checksum's entry in a header. It occurs once, since quotes inside other text are escaped.
func checksum(digits string) []byte { return fmt.Appendf(nil, `"%s":"%s"`, ChecksumKey, digits) }

// makeHeader encodes the length and the header for tensors in the order of names, with zeros for the checksum.
func makeHeader(names []string, tensors Tensors, meta map[string]string) ([]byte, error) {
	all := map[string]string{ChecksumKey: strings.Repeat("0", 64)}
	for key, value := range meta {
		if key == ChecksumKey {
			return nil, fmt.Errorf("the metadata key %q is reserved", key)
		}
		all[key] = value
	}
	head := map[string]any{metadataKey: all}
	offset := 0
	for _, name := range names {
		if name == metadataKey {
			return nil, fmt.Errorf("tensor name %q is taken", name)
		}
		t := tensors[name]
		if err := checkSize(name, t.DType, t.Shape, len(t.Data)); err != nil {
			return nil, err
		}
		shape := append([]int{}, t.Shape...) // [] rather than null for a scalar
		head[name] = entry{t.DType, shape, [2]int{offset, offset + len(t.Data)}}
		offset += len(t.Data)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out) // sorts the keys of a map
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
	text = append(text, bytes.Repeat([]byte{' '}, (8-len(text)%8)%8)...) // the data starts at a multiple of 8
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), nil
}

// checkSize returns an error unless a tensor of that type and shape has size bytes.
func checkSize(name, dtype string, shape []int, size int) error {
	want, ok := dtypeBytes[dtype]
	if !ok {
		return fmt.Errorf("tensor %q has the unknown type %q", name, dtype)
	}
	for _, n := range shape {
		if n < 0 || n > 0 && want > (1<<62)/n {
			return fmt.Errorf("tensor %q has the impossible shape %v", name, shape)
		}
		want *= n
	}
	if size != want {
		return fmt.Errorf("tensor %q of type %s and shape %v has %d bytes, want %d", name, dtype, shape, size, want)
	}
	return nil
}

// Read reads a safetensors file. The tensors share memory with data. If the metadata has a checksum it must match; a
// file that other software wrote has none, and then meta["sha256"] is missing.
func Read(data []byte) (tensors Tensors, meta map[string]string, err error) {
	if len(data) < 8 {
		return nil, nil, fmt.Errorf("the file has %d bytes, too few for a safetensors header", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	if n > maxHeader || n > uint64(len(data)-8) {
		return nil, nil, fmt.Errorf("the header should have %d bytes, but the file has %d in all", n, len(data))
	}
	header, body := data[8:8+n], data[8+n:]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	if text, ok := raw[metadataKey]; ok {
		if err := json.Unmarshal(text, &meta); err != nil {
			return nil, nil, fmt.Errorf("the metadata is not an object of texts: %w", err)
		}
		delete(raw, metadataKey)
	}
	if digits, ok := meta[ChecksumKey]; ok {
		if err := verify(data[:8+n], body, digits); err != nil {
			return nil, nil, err
		}
	}
	if tensors, err = cut(raw, body); err != nil {
		return nil, nil, err
	}
	return tensors, meta, nil
}

// verify compares the file with the checksum in its header.
func verify(head, body []byte, digits string) error {
	zeroed := bytes.Replace(head, checksum(digits), checksum(strings.Repeat("0", 64)), 1)
	sum := sha256.New()
	sum.Write(zeroed)
	sum.Write(body)
	if hex.EncodeToString(sum.Sum(nil)) != digits {
		return errors.New("the checksum does not match")
	}
	return nil
}

// cut divides body among the tensors of the header; together they must cover it without gap or overlap.
func cut(raw map[string]json.RawMessage, body []byte) (Tensors, error) {
	entries := map[string]entry{}
	for name, text := range raw {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("the header's entry of tensor %q cannot be read: %w", name, err)
		}
		entries[name] = e
	}
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		x, y := entries[a].Offsets, entries[b].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	tensors, at := make(Tensors, len(names)), 0
	for _, name := range names {
		e := entries[name]
		begin, end := e.Offsets[0], e.Offsets[1]
		if begin != at || end < begin || end > len(body) {
			return nil, fmt.Errorf("tensor %q is at bytes %d to %d of %d, want a start at %d", name, begin, end, len(body), at)
		}
		if err := checkSize(name, e.DType, e.Shape, end-begin); err != nil {
			return nil, err
		}
		tensors[name], at = Tensor{e.DType, e.Shape, body[begin:end:end]}, end
	}
	if at != len(body) {
		return nil, fmt.Errorf("%d bytes follow the last tensor", len(body)-at)
	}
	return tensors, nil
}

// Element is a Go type that a Tensor can hold.
type Element interface {
	float32 | float64 | int32 | int64 | uint8 | uint16 | uint64
}

// dtypeOf returns the format's name of E: "F32" for float32, "I64" for int64.
func dtypeOf[E Element]() string {
	t := reflect.TypeFor[E]()
	return strings.ToUpper(t.Name()[:1]) + strconv.Itoa(t.Bits())
}

// New returns values, row-major with the given shape, as a tensor; no shape means one dimension.
func New[E Element](values []E, shape ...int) Tensor {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic("results: " + err.Error()) // every Element has a fixed size
	}
	return Tensor{dtypeOf[E](), shape, data}
}

// Values copies the elements of the tensor called name, which must be of type E, into a new slice.
func Values[E Element](tensors Tensors, name string) ([]E, error) {
	t := tensors[name]
	if want := dtypeOf[E](); t.DType != want {
		return nil, fmt.Errorf("tensor %q has type %q, want %s", name, t.DType, want)
	}
	values := make([]E, len(t.Data)/dtypeBytes[t.DType])
	_, err := binary.Decode(t.Data, binary.LittleEndian, values)
	return values, err
}
