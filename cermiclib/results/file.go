// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// maxPack is the largest size of an unpacked record or checkpoint in bytes, far above genuine ones.
const maxPack = 64 << 20

// Inflate unpacks a single gzip stream to at most limit bytes.
func Inflate(data []byte, limit int64) (text []byte, err error) {
	in := bytes.NewReader(data)
	z, err := gzip.NewReader(in)
	if err == nil {
		z.Multistream(false)
		text, err = io.ReadAll(io.LimitReader(z, limit+1)) // reads on to gzip's own checksum
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the gzip file is damaged: %w", err)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("the gzip file unpacks to more than the %d bytes that such a file may have", limit)
	case in.Len() > 0:
		return nil, fmt.Errorf("%d bytes follow the gzip file's end", in.Len())
	}
	return text, nil
}

// WriteFile replaces the content of a file atomically and durably. After an error, a crash or a loss of power, the file
// is the old or the new one. It makes the folder, follows a link to the file behind it, and writes to a pipe or a
// device directly. Several processes may write a file at once.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o666)
	}
	return replace(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

const tempSuffix = ".tmp"

// removeTemps removes the temporary files that dead processes left in a folder.
func removeTemps(dir string) error {
	left, err := fs.Glob(os.DirFS(dir), "*"+tempSuffix)
	for _, name := range left {
		err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
	}
	return err
}

// replace writes a temporary file beside path and renames it, both durably where the system can do that. After an error
// there is no temporary file.
func replace(path string, write func(io.Writer) error) error {
	temp := fmt.Sprintf("%s.%016x%s", path, rand.Uint64(), tempSuffix)
	f, err := os.Create(temp) // with the permissions of the umask, unlike os.CreateTemp
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // frees its space; err is the error to report
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// A sealed file is {"crc":"9f3a12bc","v":{…}} and a line feed: JSON with a CRC-32C of the bytes of v.
const (
	sealHead = `{"crc":"%08x","v":`
	sealTail = "}\n"
)

// seal encodes v as the content of a sealed file.
func seal(v any) ([]byte, error) {
	body, err := compact(v)
	if err != nil {
		return nil, err
	}
	return append(append(fmt.Appendf(nil, sealHead, crc(body)), body...), sealTail...), nil
}

// unseal returns the bytes of v; ok is false if a single bit is wrong.
func unseal(data []byte) (body []byte, ok bool) {
	head := len(fmt.Sprintf(sealHead, 0))
	if len(data) < head+len(sealTail) {
		return nil, false
	}
	body = data[head : len(data)-len(sealTail)]
	return body, string(data[:head]) == fmt.Sprintf(sealHead, crc(body)) && bytes.HasSuffix(data, []byte(sealTail))
}

func crc(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// compact is json.Marshal without the escapes for HTML, so that an experiment is stored byte for byte.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}
