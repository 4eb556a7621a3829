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

// A setting tagged omitdefault is left out while it has its default's value, zero is a value like any other, and what
// is left out is read as the default.
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
