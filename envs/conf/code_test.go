// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strings"
	"testing"
)

const ownTask = `package main

import "fmt"

const (
	near = iota
	far
)

const seed = 1

// Meet is a task.
type Meet struct{ N int }

func (m Meet) Reward(dst []float32) { seed := 2; dst[seed] = -away(m) * far }

func (m *Meet) state() state { return state{} }

type state struct{ x int }

func (s state) Save() []byte { return nil }

func away(m Meet) float32 { return 1 }

func frames() int { return seed }

func main() { fmt.Println(Meet{}, frames()) }
`

func hashed(t *testing.T, source, name string) string {
	t.Helper()
	hash := hashes([]byte(source))[name]
	if hash == "" {
		t.Fatalf("no %s in %s", name, source)
	}
	return hash
}

func TestCodeIsWhatATypeReaches(t *testing.T) {
	was := hashed(t, ownTask, "Meet")
	for name, c := range map[string]struct {
		old, new string
		changes  bool
	}{
		"a sign in a method":             {"= -away", "= +away", true},
		"a function that it calls":       {"return 1", "return 2", true},
		"a method of a type it makes":    {"return nil", "return []byte{1}", true},
		"a constant that counts on":      {"near = iota", "near = iota + 1", true},
		"a field":                        {"N int", "N, M int", true},
		"a comment":                      {"// Meet is a task.", "// Meet is another\n// task.", false},
		"layout":                         {"{ seed := 2; dst", "{\n\n\tseed := 2\n\tdst", false},
		"what main does":                 {"fmt.Println(Meet{}", "fmt.Println(Meet{N: 3}", false},
		"a function that it never calls": {"return seed", "return 2 * seed", false},
		"a constant that it hides":       {"const seed = 1", "const seed = 7", false},
	} {
		source := strings.Replace(ownTask, c.old, c.new, 1)
		if source == ownTask {
			t.Fatalf("%s: nothing to replace", name)
		}
		if now := hashed(t, source, "Meet"); (now != was) != c.changes {
			t.Errorf("%s: the hash was %s and is %s, want a change: %v", name, was, now, c.changes)
		}
	}
}

func TestCodeOfOtherPackagesIsNoPartOfAnIdentity(t *testing.T) {
	Program([]byte("package main\ntype balance struct{}"))
	defer Program(nil)
	for _, v := range []any{balance{}, bonus{}} {
		if text, err := Marshal(v); err != nil || strings.Contains(string(text), codeKey) {
			t.Errorf("got %s, %v", text, err)
		}
	}
}
