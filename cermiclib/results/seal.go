// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A sealed file is {"crc":"9f3a12bc","v":{…}} and a line feed: JSON for any reader, with a CRC-32C over the bytes of v.
const (
	sealHead = `{"crc":"%08x","v":`
	sealTail = "}\n"
)

// seal returns the content of a file for v.
func seal(v any) ([]byte, error) {
	body, err := compact(v)
	if err != nil {
		return nil, err
	}
	return append(append(fmt.Appendf(nil, sealHead, sum(body)), body...), sealTail...), nil
}

// unseal returns v's bytes; ok is false if a single bit is wrong.
func unseal(data []byte) (body []byte, ok bool) {
	head := len(fmt.Sprintf(sealHead, 0))
	if len(data) < head+len(sealTail) {
		return nil, false
	}
	body = data[head : len(data)-len(sealTail)]
	return body, string(data[:head]) == fmt.Sprintf(sealHead, sum(body)) && bytes.HasSuffix(data, []byte(sealTail))
}

func sum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

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
