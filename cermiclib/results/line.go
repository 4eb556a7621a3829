// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A sealed line is {"crc":"9f3a12bc","v":{…}} and a line feed: JSON for any reader, with a CRC-32C over the bytes of v
// and of the lines before it. A changed, missing, added or moved line therefore breaks the chain where it happened.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	sealHead = `{"crc":"%08x","v":`
	sealTail = "}\n"
)

// seal returns the line for v that follows a line whose checksum is chain (0 for the first), and its own checksum.
func seal(chain uint32, v any) (line []byte, next uint32, err error) {
	body, err := compact(v)
	if err != nil {
		return nil, 0, err
	}
	next = crc32.Update(chain, castagnoli, body)
	line = fmt.Appendf(nil, sealHead, next)
	line = append(line, body...)
	return append(line, sealTail...), next, nil
}

// unseal returns v's bytes of a line that follows a line whose checksum is chain; ok is false if a single bit is wrong.
func unseal(chain uint32, line []byte) (body []byte, next uint32, ok bool) {
	head := len(fmt.Sprintf(sealHead, 0))
	if len(line) < head+len(sealTail) {
		return nil, 0, false
	}
	body = line[head : len(line)-len(sealTail)]
	next = crc32.Update(chain, castagnoli, body)
	ok = string(line[:head]) == fmt.Sprintf(sealHead, next) && bytes.HasSuffix(line, []byte(sealTail))
	return body, next, ok
}

// compact is json.Marshal without the escapes for HTML, so that an experiment is stored byte for byte.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// mark is a place in a file of sealed lines: after a line, or at the start.
type mark struct {
	bytes int
	chain uint32
}

func (m mark) String() string { return fmt.Sprintf("%d %08x", m.bytes, m.chain) }

// lines is what a file of sealed lines holds.
type lines struct {
	data   []byte            // as it was read
	bodies []json.RawMessage // v of each good line, up to the first bad one
	marks  []mark            // len(bodies)+1 places, from the start
	torn   bool              // the last line has no end: its writer was stopped
	bad    bool              // a line that has an end is damaged
}

// readLines checks data line by line and stops at the first line that is not good.
func readLines(data []byte) lines {
	l := lines{data: data, marks: []mark{{}}}
	for at := (mark{}); at.bytes < len(data); {
		end := bytes.IndexByte(data[at.bytes:], '\n') + 1
		if end == 0 {
			l.torn = true
			break
		}
		body, next, ok := unseal(at.chain, data[at.bytes:at.bytes+end])
		if !ok {
			l.bad = true
			break
		}
		at = mark{at.bytes + end, next}
		l.bodies, l.marks = append(l.bodies, body), append(l.marks, at)
	}
	return l
}

// readSealed reads a file that is one sealed line into v.
func readSealed(data []byte, v any) error {
	body, _, ok := unseal(0, data)
	if !ok {
		return fmt.Errorf("its checksum does not match")
	}
	return json.Unmarshal(body, v)
}
