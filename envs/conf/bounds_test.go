// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// layered is bonus with bounds.
type layered struct {
	shared
	Width  int          `json:"width" range:"1..4096"`
	Rays   uint32       `json:"rays" range:"2..9"`
	Hidden []int        `json:"hidden" range:"1..8"`
	Delay  int          `json:"delay,omitzero" range:"0..1000"`
	Seed   uint64       `json:"seed"`
	Memory ModuleConfig `json:"memory"`
}

func (layered) Kind() string { return "test/layered" }

// LayerConfig is a group of its own: what other tests expect of theirs stays.
type LayerConfig interface{ Kind() string }

func init() {
	Register[LayerConfig](layered{shared: shared{60, "sparse"}, Width: 64, Rays: 2, Hidden: []int{8, 8}, Memory: none{}})
}

func TestNumbersOutsideTheirBoundsAreNamedWithBoth(t *testing.T) {
	usual, err := New[LayerConfig]("test/layered")
	if err != nil {
		t.Fatal(err)
	}
	if err := InRange(usual); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	of := func(change func(*layered)) layered {
		c := usual.(layered)
		c.Hidden = []int{8, 8}
		change(&c)
		return c
	}
	for want, c := range map[string]layered{
		"width is 0, want 1 to 4096":                   of(func(c *layered) { c.Width = 0 }),
		"width is 9223372036854775807, want 1 to 4096": of(func(c *layered) { c.Width = math.MaxInt }),
		"rays is 4294967295, want 2 to 9":              of(func(c *layered) { c.Rays = math.MaxUint32 }),
		"rays is 1, want 2 to 9":                       of(func(c *layered) { c.Rays = 1 }),
		"hidden[1] is 9, want 1 to 8":                  of(func(c *layered) { c.Hidden[1] = 9 }),
		"hidden has 65 entries, want 64 at most":       of(func(c *layered) { c.Hidden = make([]int, 65) }),
		"delay is -1, want 0 to 1000":                  of(func(c *layered) { c.Delay = -1 }),
		"memory.width is 1000000000, want 1 to 4096":   of(func(c *layered) { m := *c; m.Width = 1e9; c.Memory = m }),
		"memory.memory.delay is 1001, want 0 to 1000":  of(func(c *layered) { m := *c; i := *c; i.Delay = 1001; m.Memory = i; c.Memory = m }),
		"memory.hidden[0] is -1, want 1 to 8":          of(func(c *layered) { m := *c; m.Hidden = []int{-1}; c.Memory = &pointed{m} }),
		"": of(func(c *layered) {
			c.Width, c.Rays, c.Hidden, c.Delay, c.Seed = 4096, 9, []int{1, 8}, 1000, math.MaxUint64
		}),
	} {
		got := ""
		if err := InRange(c); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

type pointed struct{ layered }

func TestBoundsAreListedAndChangeNoJSON(t *testing.T) {
	c, _ := New[LayerConfig]("test/layered")
	types := map[string]string{}
	for _, k := range Keys(c) {
		types[k.Key] = k.Type
		if numbers := k.Key == "width" || k.Key == "rays" || k.Key == "hidden" || k.Key == "delay"; (k.Bounds != nil) != numbers {
			t.Errorf("%s has the bounds %v", k.Key, k.Bounds)
		}
	}
	for key, want := range map[string]string{
		"width": "a whole number from 1 to 4096", "rays": "a whole number from 2 to 9", "hidden": "a list, each entry a whole number from 1 to 8",
		"seed": "a whole number, 0 or more", "copies": "a whole number",
	} {
		if types[key] != want {
			t.Errorf("%s is described as %q, want %q", key, types[key], want)
		}
	}
	const want = `{"copies":60,"hidden":[8,8],"kind":"test/layered","memory":{"kind":"none"},"rays":2,"reward":"sparse","seed":0,"width":64}`
	if got, err := Marshal(c); string(got) != want || err != nil {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestAnUnreadableRangeIsFoundAtTheStart(t *testing.T) {
	for _, tag := range []string{"", "1", "1..", "9..1", "a..b"} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "want something like 1..4096") {
					t.Errorf("range %q is read without a word: %q", tag, text)
				}
			}()
			bounds(reflect.StructField{Name: "Width", Tag: reflect.StructTag(`range:"` + tag + `"`)})
		}()
	}
}
