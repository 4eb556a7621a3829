// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"math"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// limited has a setting of each kind that tags limit.
type limited struct {
	shared
	Width  int          `json:"width" range:"1..4096" help:"width of the layer; 64"`
	Rays   uint32       `json:"rays" range:"2..9"`
	Hidden []int        `json:"hidden" range:"1..8"`
	Keep   float64      `json:"keep" range:"[0..1)"`
	Mass   float32      `json:"mass" range:"0.1..0.3"`
	Scale  float64      `json:"scale" range:"(0..)" help:"scale of the bonus"`
	Free   float64      `json:"free"`
	Mode   mode         `json:"mode" oneof:"fast,,slow"`
	Seed   uint64       `json:"seed"`
	Memory ModuleConfig `json:"memory"`
}

type mode string

func (limited) Kind() string { return "test/limited" }

func usual() limited {
	return limited{shared: shared{60, "sparse"}, Width: 64, Rays: 2, Hidden: []int{8, 8}, Mass: 0.1, Scale: 1, Memory: none{}}
}

func TestCheckNamesSettingValueAndAllowedValues(t *testing.T) {
	for want, change := range map[string]func(c *limited){
		"": func(c *limited) {
			c.Width, c.Rays, c.Hidden, c.Mass, c.Scale, c.Mode, c.Seed = 4096, 9, []int{1, 8}, 0.3, 1e300, "slow", math.MaxUint64
		},
		"width is 0, want 1 to 4096 (width of the layer; 64)":                 func(c *limited) { c.Width = 0 },
		"width is 4097, want 1 to 4096 (width of the layer; 64)":              func(c *limited) { c.Width = 4097 },
		"rays is 4294967295, want 2 to 9":                                     func(c *limited) { c.Rays = math.MaxUint32 },
		"rays is 1, want 2 to 9":                                              func(c *limited) { c.Rays = 1 },
		"hidden[1] is 9, want 1 to 8":                                         func(c *limited) { c.Hidden[1] = 9 },
		"hidden has 65 entries, want 64 at most":                              func(c *limited) { c.Hidden = make([]int, 65) },
		"keep is 1, want at least 0 and below 1":                              func(c *limited) { c.Keep = 1 },
		"keep is -0.5, want at least 0 and below 1":                           func(c *limited) { c.Keep = -0.5 },
		"keep is NaN, want at least 0 and below 1":                            func(c *limited) { c.Keep = math.NaN() },
		"mass is 0.31, want 0.1 to 0.3":                                       func(c *limited) { c.Mass = 0.31 },
		"scale is 0, want above 0 (scale of the bonus)":                       func(c *limited) { c.Scale = 0 },
		"scale is +Inf, want above 0 (scale of the bonus)":                    func(c *limited) { c.Scale = math.Inf(1) },
		"free is NaN, want a finite number":                                   func(c *limited) { c.Free = math.NaN() },
		`mode is "slo", want one of fast, "" (empty), slow`:                   func(c *limited) { c.Mode = "slo" },
		"memory.width is 1000000000, want 1 to 4096 (width of the layer; 64)": func(c *limited) { m := *c; m.Width = 1e9; c.Memory = m },
		"memory.memory.keep is 2, want at least 0 and below 1":                func(c *limited) { m := *c; i := *c; i.Keep = 2; m.Memory = i; c.Memory = m },
		"memory.hidden[0] is -1, want 1 to 8":                                 func(c *limited) { m := *c; m.Hidden = []int{-1}; c.Memory = m },
	} {
		c := usual()
		change(&c)
		got := ""
		if err := Check(c); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	must.Do(t, Check(nil))
}

func TestKeysTellWhatTagsSay(t *testing.T) {
	kinds, sentences := map[string]string{}, map[string]string{}
	quick := usual()
	quick.Mode = "fast"
	for _, k := range Keys(quick) {
		if k.Key == "mode" && k.Value != "fast" {
			t.Errorf("a text of its own type has the value %s", k.Value)
		}
		kinds[k.Key], sentences[k.Key] = k.Type, k.Sentence()
	}
	for key, want := range map[string][2]string{
		"width":  {"a whole number", "width of the layer; 64; 1 to 4096"},
		"rays":   {"a whole number, 0 or more", "2 to 9"},
		"hidden": {"a list, each entry a whole number", "each 1 to 8"},
		"keep":   {"a finite number", "at least 0 and below 1"},
		"scale":  {"a finite number", "scale of the bonus; above 0"},
		"free":   {"a finite number", "a finite number"},
		"mode":   {`one of fast, "" (empty), slow`, `one of fast, "" (empty), slow`},
		"seed":   {"a whole number, 0 or more", "a whole number, 0 or more"},
		"memory": {"a module", "one of bonus, none"},
	} {
		if kinds[key] != want[0] || sentences[key] != want[1] {
			t.Errorf("%s is %q and %q, want %q", key, kinds[key], sentences[key], want)
		}
	}
	if half := (&Bounds{0, 1, true, false}).String(); half != "above 0 and at most 1" {
		t.Error(half)
	}
	want := `width is "wide", want a whole number (width of the layer; 64)`
	if err := Set(&quick, "width", "wide"); err == nil || err.Error() != want {
		t.Errorf("an error of Set is %v, want %s", err, want)
	}
}

type (
	left  struct{ X int }
	right struct{ X int }
)

func TestMistakesInTheProgramPanic(t *testing.T) {
	for want, v := range map[string]any{
		`field Width has the range "3..1"`: struct {
			Width int `range:"3..1"`
		}{},
		`has two fields for the key "X"`: struct {
			left
			right
		}{},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			_ = Check(v)
		}()
	}
}

// A Go name hides an embedded one only if the keys are the same, too.
func TestAKeyHidesThatOfAnEmbeddedStruct(t *testing.T) {
	var names []string
	for _, k := range Keys(struct {
		shared
		Copies bool   `json:"copies"`
		Reward string `json:"prize"`
	}{}) {
		names = append(names, k.Key+" "+k.Type)
	}
	if got := strings.Join(names, ", "); got != "reward text, copies true or false, prize text" {
		t.Error(got)
	}
}
