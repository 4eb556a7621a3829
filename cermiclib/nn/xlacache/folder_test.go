// SPDX-License-Identifier: Apache-2.0

package xlacache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cermic/envs/envtest/must"
)

// plugin makes a file that stands for a plug-in.
func plugin(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.so")
	must.Do(t, os.WriteFile(path, []byte("code"), 0o600))
	return path
}

func TestEntriesComeBackWhole(t *testing.T) {
	dir, so := filepath.Join(t.TempDir(), "kept"), plugin(t)
	f := must.Value(open(dir, so))
	key, code := f.key([]byte("program"), []byte("options")), bytes.Repeat([]byte("code"), 1000)
	if f.read(key) != nil {
		t.Error("an entry that was never written is read")
	}
	f.write(key, code)
	if !bytes.Equal(f.read(key), code) {
		t.Error("what was written is not what is read")
	}
	whole := must.Value(os.ReadFile(f.file(key)))
	for name, damaged := range map[string][]byte{
		"cut short":   whole[:len(whole)-1],
		"empty":       {},
		"one bit off": append(append([]byte{}, whole[:100]...), append([]byte{whole[100] ^ 1}, whole[101:]...)...),
	} {
		must.Do(t, os.WriteFile(f.file(key), damaged, 0o600))
		if f.read(key) != nil {
			t.Errorf("an entry that is %s is read", name)
		}
	}
}

func TestKeysTellApartWhatCodeDependsOn(t *testing.T) {
	dir, so := t.TempDir(), plugin(t)
	f := must.Value(open(dir, so))
	seen := map[string]string{f.key([]byte("ab"), []byte("c")): "the first"}
	check := func(name, key string) {
		if other, found := seen[key]; found {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[key] = name
	}
	check("another program", f.key([]byte("a"), []byte("bc")))
	check("other options", f.key([]byte("ab"), []byte("d")))
	t.Setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
	check("another flag", must.Value(open(dir, so)).key([]byte("ab"), []byte("c")))
	t.Setenv("XLA_FLAGS", "")
	must.Do(t, os.WriteFile(so, []byte("another plug-in"), 0o600))
	check("another plug-in", must.Value(open(dir, so)).key([]byte("ab"), []byte("c")))
	if _, err := open(dir, filepath.Join(dir, "none.so")); err == nil {
		t.Error("a plug-in that does not exist is accepted")
	}
}

func TestOldestEntriesAreRemovedBeyondTheLimit(t *testing.T) {
	dir := t.TempDir()
	f := must.Value(open(dir, plugin(t)))
	now := time.Now()
	for i, name := range []string{"old", "used", "new"} {
		path := f.file(name)
		must.Do(t, os.WriteFile(path, nil, 0o600))
		if err := os.Truncate(path, limit/2); err != nil { // a hole: takes no room
			t.Skip(err)
		}
		at := now.Add(time.Duration(i-5) * time.Hour)
		must.Do(t, os.Chtimes(path, at, at))
	}
	part := filepath.Join(dir, "x.part")
	must.Do(t, os.WriteFile(part, nil, 0o600))
	must.Do(t, os.Chtimes(part, now.Add(-2*time.Hour), now.Add(-2*time.Hour)))
	f.prune()
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 2 || filepath.Base(left[0]) != "new.xla" || filepath.Base(left[1]) != "used.xla" {
		t.Errorf("left are %v, want the two used last", left)
	}
}
