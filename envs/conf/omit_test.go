// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"reflect"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// rayed is balance with settings that were added later and whose defaults are not zero.
type rayed struct {
	shared
	Rays int       `json:"rays" conf:"omitdefault"`
	Fog  []float32 `json:"fog" conf:"omitdefault,scalar"`
	Cov  []float32 `json:"cov" conf:"scalar"`
}

func (rayed) Kind() string { return "test/rayed" }

func init() {
	Register[TaskConfig](rayed{shared{60, "sparse"}, 12, []float32{0.5}, []float32{0.05}})
}

// A setting tagged omitdefault is left out while it has its default's value. Zero is a value like any other. Omitted
// settings are read as the default.
func TestDefaultsOfSettingsAddedLaterAreLeftOut(t *testing.T) {
	usual := must.Get(New[TaskConfig]("test/rayed"))(t)
	for _, c := range []struct {
		cfg  TaskConfig
		want string
	}{
		{usual, `{"copies":60,"cov":0.05,"kind":"test/rayed","reward":"sparse"}`},
		{rayed{shared{60, "sparse"}, 0, []float32{0.5}, []float32{0.05}}, `{"copies":60,"cov":0.05,"kind":"test/rayed","rays":0,"reward":"sparse"}`},
		{rayed{shared{60, "dense"}, 12, []float32{0.5, 1}, []float32{}}, `{"copies":60,"cov":[],"fog":[0.5,1],"kind":"test/rayed","reward":"dense"}`},
		{rayed{shared{60, "dense"}, 7, []float32{2}, []float32{1, 2}}, `{"copies":60,"cov":[1,2],"fog":2,"kind":"test/rayed","rays":7,"reward":"dense"}`},
	} {
		data, err := Marshal(c.cfg)
		if err != nil || string(data) != c.want {
			t.Errorf("got %s, %v, want %s", data, err, c.want)
		}
		var back TaskConfig
		if err := Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, c.cfg) {
			t.Errorf("%s reads back as %+v, %v, want %+v", data, back, err, c.cfg)
		}
	}
}

func TestScalarsStandForListsOfOne(t *testing.T) {
	var cfg TaskConfig
	must.Do(t, Unmarshal([]byte(`{"kind":"test/rayed","cov":[0.25],"fog":1}`), &cfg))
	if data, _ := Marshal(cfg); !strings.Contains(string(data), `"cov":0.25,"fog":1,`) {
		t.Errorf("written as %s, want without brackets", data)
	}
	for text, want := range map[string][]float32{"0.75": {0.75}, "1,2": {1, 2}, "[3]": {3}} {
		if err := Set(&cfg, "cov", text); err != nil || !reflect.DeepEqual(cfg.(rayed).Cov, want) {
			t.Errorf("set to %s it is %v, %v", text, cfg.(rayed).Cov, err)
		}
	}
	for _, doc := range Keys(cfg) {
		if doc.Key == "fog" && doc.Value != "1" {
			t.Errorf("listed as %+v", doc)
		}
	}
	must.Refuse(t, Unmarshal([]byte(`{"cov":"much"}`), &cfg), `cov is ["much"], want a list, each entry a finite number`)
}

// walled is balance with a setting that was added later.
type walled struct {
	shared
	Wall plain `json:"wall,omitzero"`
	Push push  `json:"push,omitzero"`
}

// push is a number whose default is not zero.
type push float64

func (p push) IsZero() bool { return p == 2 }

func (walled) Kind() string { return "test/walled" }

func init() { Register[TaskConfig](walled{shared: shared{60, "sparse"}, Push: 2}) }

// late is a config whose default got a setting that older ones did not have.
type late struct {
	shared
	Peers bool `json:"peers,omitzero"`
	Push  push `json:"push,omitzero"`
}

func (late) Kind() string { return "test/late" }

func init() { Register[TaskConfig](late{shared: shared{60, "sparse"}, Peers: true, Push: 2}) }

// Text written by Marshal keeps its meaning after the default of an omitted setting has changed. Text written by hand
// leaves out more, and takes defaults.
func TestOmittedSettingsOfAStoredConfigAreZero(t *testing.T) {
	for text, want := range map[string]late{
		`{"task":{"kind":"test/late","copies":1,"reward":"dense"}}`:              {shared{1, "dense"}, false, 2},
		`{"task":{"kind":"test/late","copies":1,"reward":"dense","peers":true}}`: {shared{1, "dense"}, true, 2},
		`{"task":{"kind":"test/late","copies":1}}`:                               {shared{1, "sparse"}, true, 2},
	} {
		var e experiment
		if err := Unmarshal([]byte(text), &e); err != nil || e.Task != TaskConfig(want) {
			t.Errorf("%s is read as %+v, %v, want %+v", text, e.Task, err, want)
		}
	}
}

// A setting tagged omitzero changes nothing about configs that leave it off, and is an ordinary setting when it is on.
func TestSettingsAddedLaterLeaveOlderConfigsTheirIdentity(t *testing.T) {
	off := experiment{Task: walled{shared: shared{1, "dense"}, Push: 2}}
	data, err := Marshal(off)
	if err != nil || strings.Contains(string(data), "wall\"") || strings.Contains(string(data), "push") {
		t.Errorf("off: %s, %v", data, err)
	}
	on := experiment{Task: walled{shared{1, "dense"}, plain{0.5}, 0}}
	data, err = Marshal(on)
	if want := `{"copies":1,"kind":"test/walled","push":0,"reward":"dense","wall":{"rate":0.5}}`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("on: %s, %v, want %s", data, err, want)
	}
	var back experiment
	if err := Unmarshal(data, &back); err != nil || back.Task != on.Task {
		t.Errorf("read back %+v, %v, want %+v", back.Task, err, on.Task)
	}
	if err := Set(&off, "task.wall.rate", "0.25"); err != nil || off.Task.(walled).Wall.Rate != 0.25 {
		t.Errorf("set to %+v, %v", off.Task, err)
	}
}

// frozen is balance with two former settings.
type frozen struct {
	shared
	_ Constant `key:"norm" value:"per_dim"`
	_ Constant `key:"epochs" value:"0"`
}

func (frozen) Kind() string { return "test/frozen" }

func init() { Register[TaskConfig](frozen{shared: shared{60, "sparse"}}) }

// A former setting stays in the JSON, is read with its last value alone, and is no key.
func TestFormerSettingsKeepTheirLastValue(t *testing.T) {
	cfg := must.Get(New[TaskConfig]("test/frozen"))(t)
	const want = `{"copies":60,"epochs":0,"kind":"test/frozen","norm":"per_dim","reward":"sparse"}`
	data, err := Marshal(cfg)
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	must.Do(t, Unmarshal([]byte(want), &cfg))
	must.Do(t, Set(&cfg, "norm", "per_dim"))
	must.Do(t, Set(&cfg, "epochs", "0"))
	for text, err := range map[string]error{
		`norm is "none", want per_dim, the only value that is left`: Unmarshal([]byte(`{"norm":"none"}`), &cfg),
		`epochs is false, want 0, the only value that is left`:      Unmarshal([]byte(`{"epochs":false}`), &cfg),
		`epochs is "2", want 0, the only value that is left`:        Set(&cfg, "epochs", "2"),
	} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %s", err, text)
		}
	}
	if _, ok := Get(cfg, "norm"); ok {
		t.Error("norm is listed as a setting")
	}
	must.Do(t, Check(cfg))
}
