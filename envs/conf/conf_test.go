// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// The groups and configs below have one of everything that a config may hold.

type TaskConfig interface{ Kind() string }
type ModuleConfig interface{ Kind() string }

type shared struct {
	NumEnvs int    `json:"copies"`
	Reward  string `json:"reward"`
}

type balance struct {
	shared
	Agents int       `json:"n_agents"`
	Mass   float32   `json:"mass"`
	Noise  []float64 `json:"noise"`
}

func (balance) Kind() string    { return "test/balance" }
func (balance) Validate() error { return errors.New("Validate was called") }

type wheel struct {
	shared
	Width uint8 `json:"width"`
}

func (wheel) Kind() string { return "test/wheel" }

type none struct{}

func (none) Kind() string { return "none" }

type bonus struct {
	Alpha  float64      `json:"alpha"`
	Warm   bool         `json:"warm"`
	Hidden []int        `json:"hidden"`
	Span   [2]float32   `json:"span"`
	Layers []string     `json:"layers"`
	Memory ModuleConfig `json:"memory"`
}

func (bonus) Kind() string { return "bonus" }

type plain struct {
	Rate float64 `json:"rate"`
}

type experiment struct {
	Task    TaskConfig   `json:"task"`
	Explore ModuleConfig `json:"explore"`
	Budget  plain        `json:"budget"`
	Seed    uint64       `json:"seed"`
	Skipped func()       `json:"-"`
}

func init() {
	Register[TaskConfig](balance{shared{60, "sparse"}, 4, 5, nil})
	Register[TaskConfig](wheel{shared{60, "sparse"}, 3})
	Register[ModuleConfig](none{})
	Register[ModuleConfig](bonus{Alpha: 0.1, Hidden: []int{256, 256}, Memory: none{}})
}

func example(t testing.TB) experiment {
	t.Helper()
	task := must.Get(New[TaskConfig]("test/balance"))(t)
	explore := must.Get(New[ModuleConfig]("bonus"))(t)
	return experiment{Task: task, Explore: explore, Budget: plain{0.5}, Seed: 1}
}

const exampleJSON = `{"budget":{"rate":0.5},` +
	`"explore":{"alpha":0.1,"hidden":[256,256],"kind":"bonus","layers":[],"memory":{"kind":"none"},"span":[0,0],"warm":false},` +
	`"seed":1,"task":{"copies":60,"kind":"test/balance","mass":5,"n_agents":4,"noise":[],"reward":"sparse"}}`

func TestMarshalIsCanonical(t *testing.T) {
	got, err := Marshal(example(t))
	if err != nil || string(got) != exampleJSON {
		t.Fatalf("got %s, %v\nwant %s", got, err, exampleJSON)
	}
	pointer := example(t)
	again, err := Marshal(&pointer)
	if err != nil || string(again) != exampleJSON {
		t.Errorf("a pointer gives %s, %v", again, err)
	}
}

func TestHashIsPinned(t *testing.T) {
	// printf '%s' "$exampleJSON" | sha256sum: a change of the canonical form would orphan every stored run.
	const want = "5cf0f808c3fbb74c"
	if got, err := Hash(example(t)); got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	changed := example(t)
	changed.Seed = 2
	if got, _ := Hash(changed); got == want {
		t.Error("another seed has the same hash")
	}
}

func TestFloatsAreShortestAndReadBack(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", 600000: "600000", 0.1: "0.1", 3e-4: "0.0003", 1e-7: "1e-7", -2.5: "-2.5",
		1e21: "1e21", 123456789012345678: "123456789012345680", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e308",
	} {
		got, err := Marshal(plain{x})
		if string(got) != `{"rate":`+want+`}` || err != nil {
			t.Errorf("%g: got %s, %v, want %s", x, got, err, want)
		}
		var back plain
		if err := Unmarshal(got, &back); err != nil || back.Rate != x {
			t.Errorf("%g reads back as %g, %v", x, back.Rate, err)
		}
	}
	if got, _ := Marshal(balance{Mass: 0.1}); !strings.Contains(string(got), `"mass":0.1,`) {
		t.Errorf("a float32 is not written in its own precision: %s", got)
	}
}

func TestMarshalRefusesWhatJSONCannotHold(t *testing.T) {
	e := example(t)
	e.Explore = bonus{Alpha: math.NaN()}
	for _, c := range map[string]struct {
		v    any
		want string
	}{
		"NaN":      {e, "explore.alpha is NaN, want a finite number"},
		"infinity": {bonus{Span: [2]float32{0, float32(math.Inf(-1))}}, "span[1] is -Inf, want a finite number"},
		"a map":    {struct{ M map[string]int }{}, "M has type map[string]int, which a config cannot hold"},
	} {
		_, err := Marshal(c.v)
		must.Refuse(t, err, c.want)
	}
}

func TestUnmarshalOverlays(t *testing.T) {
	e := example(t)
	must.Do(t, Unmarshal([]byte(`{"task":{"n_agents":8,"copies":60},"explore":{"hidden":[32],"memory":{"kind":"bonus","alpha":2}}}`), &e))
	if task := e.Task.(balance); task.Agents != 8 || task.Mass != 5 || task.Reward != "sparse" {
		t.Errorf("task is %+v", task)
	}
	explore := e.Explore.(bonus)
	if explore.Alpha != 0.1 || !reflect.DeepEqual(explore.Hidden, []int{32}) {
		t.Errorf("explore is %+v", explore)
	}
	if memory := explore.Memory.(bonus); memory.Alpha != 2 || !reflect.DeepEqual(memory.Hidden, []int{256, 256}) {
		t.Errorf("a new kind does not start from its default: %+v", memory)
	}
	if err := Unmarshal([]byte(`{"explore":{"kind":"bonus","warm":true}}`), &e); err != nil || e.Explore.(bonus).Hidden[0] != 32 {
		t.Errorf("the kind that it already is starts anew: %+v, %v", e.Explore, err)
	}
	if err := Unmarshal([]byte(`{"task":{"kind":"test/wheel"}}`), &e); err != nil || e.Task != TaskConfig(wheel{shared{60, "sparse"}, 3}) {
		t.Errorf("another kind: %+v, %v", e.Task, err)
	}
	var task TaskConfig
	if err := Unmarshal([]byte(`{"width":7,"kind":"test/wheel"}`), &task); err != nil || task.(wheel).Width != 7 {
		t.Errorf("into an interface: %+v, %v", task, err)
	}
	if err := Unmarshal([]byte(`{"explore":null}`), &e); err != nil || e.Explore != nil {
		t.Errorf("null does not clear a config: %+v, %v", e.Explore, err)
	}
}

func TestUnmarshalErrorsNameKeyAndCure(t *testing.T) {
	for src, want := range map[string]string{
		`{"explore":{"alpah":1}}`: `unknown key "explore.alpah"; did you mean explore.alpha`,
		`{"alpha":1}`:             `did you mean explore.alpha`,
		`{"Seed":1}`:              `unknown key "Seed"; did you mean seed`,
		`{"explore":{"memory":{"zzzzzzzzzzzz":1}}}`:  `unknown key "explore.memory.zzzzzzzzzzzz"; explore.memory is "none", which has no settings`,
		`{"task":{"xyzxyzxyz":1}}`:                   `task is "test/balance", which has: task.copies, task.reward, task.n_agents, task.mass, task.noise`,
		`{"task":{"kind":"test/balanse"}}`:           `task.kind: unknown task "test/balanse"; did you mean test/balance`,
		`{"task":{"kind":3}}`:                        `task.kind is 3, want text`,
		`{"task":"test/balance"}`:                    `task is "test/balance", want a task`,
		`{"seed":-1}`:                                `seed is -1, want a whole number, 0 or more`,
		`{"seed":1.5}`:                               `seed is 1.5, want a whole number, 0 or more`,
		`{"seed":1e300}`:                             `seed is 1e300, want a whole number`,
		`{"task":{"kind":"test/wheel","width":256}}`: `task.width is 256, want a whole number, 0 or more`,
		`{"budget":{"rate":1e999}}`:                  `budget.rate is 1e999, want a finite number`,
		`{"task":{"mass":1e39}}`:                     `task.mass is 1e39, want a finite number`,
		`{"explore":{"alpha":"high"}}`:               `explore.alpha is "high", want a finite number`,
		`{"explore":{"warm":1}}`:                     `explore.warm is 1, want true or false`,
		`{"explore":{"hidden":[1,"a"]}}`:             `explore.hidden is [1,"a"], want a list, each entry a whole number`,
		`{"explore":{"hidden":7}}`:                   `explore.hidden is 7, want a list, each entry a whole number`,
		`{"explore":{"span":[1]}}`:                   `explore.span is [1], want a list of 2, each entry a finite number`,
		`{"task":{"reward":null}}`:                   `task.reward is null, want text`,
		`[]`:                                         `the config is [], want an object`,
		`{"seed":1} x`:                               `not JSON: invalid character 'x' after top-level value`,
		`{"seed":1}{}`:                               `not JSON: invalid character '{' after top-level value`,
		"{\n\"seed\": 1,\n}":                         `not JSON: invalid character '}'`,
		`{"seed":NaN}`:                               `invalid character 'N'`,
		`{"seed":01}`:                                `not JSON`,
		``:                                           `not JSON: unexpected end`,
		`{"seed`:                                     `unexpected end`,
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000): `not JSON`,
	} {
		e := example(t)
		err := Unmarshal([]byte(src), &e)
		must.Refuse(t, err, want)
		if after, _ := Marshal(e); string(after) != exampleJSON {
			t.Errorf("%.60s: refused, but changed the config to %s", src, after)
		}
	}
	var task TaskConfig
	must.Refuse(t, Unmarshal([]byte(`{}`), &task), "kind is missing, want one of test/balance")
}

func TestSetReadsByType(t *testing.T) {
	e := example(t)
	for _, s := range [][2]string{
		{"explore", "none"}, {"explore.kind", "bonus"}, {"explore.alpha", ".5"}, {"explore.warm", "true"}, {"explore.hidden", "64, 32"},
		{"explore.span", "[1,2]"}, {"explore.layers", "a,b"}, {"explore.memory", `{"kind":"bonus","hidden":[]}`},
		{"explore.memory.hidden", "9"}, {"task.n_agents", "8"}, {"task.reward", "true"}, {"task.copies", "6e1"}, {"budget", `{"rate":3}`},
	} {
		if err := Set(&e, s[0], s[1]); err != nil {
			t.Errorf("%s=%s: %v", s[0], s[1], err)
		}
	}
	memory := bonus{Alpha: 0.1, Hidden: []int{9}, Layers: []string{}, Memory: none{}}
	want := experiment{
		Task:    balance{shared{60, "true"}, 8, 5, nil},
		Explore: bonus{0.5, true, []int{64, 32}, [2]float32{1, 2}, []string{"a", "b"}, memory},
		Budget:  plain{3}, Seed: 1,
	}
	g, _ := Marshal(e)
	w, _ := Marshal(want)
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func TestSetErrorsNameKeyAndCure(t *testing.T) {
	for given, want := range map[[2]string]string{
		{"explore", "bonsu"}:            `explore.kind: unknown module "bonsu"; did you mean bonus`,
		{"explore.alpha", "nan"}:        `explore.alpha is "nan", want a finite number`,
		{"explore.alpha", ""}:           `explore.alpha is "", want a finite number`,
		{"explore.alpha.x", "1"}:        `explore.alpha is an object, want a finite number`,
		{"explore.warm", "maybe"}:       `explore.warm is "maybe", want true or false`,
		{"explore.hidden", "[1"}:        `explore.hidden: the config is not JSON`,
		{"explore.hidden", "1,x"}:       `explore.hidden is [1,"x"], want a list, each entry a whole number`,
		{"task.n_agents", "2.5"}:        `task.n_agents is 2.5, want a whole number`,
		{"", "1"}:                       `unknown key ""`,
		{"task.", "1"}:                  `unknown key "task."`,
		{"explore.memory.alpha", "1"}:   `unknown key "explore.memory.alpha"; did you mean`,
		{"task", "null-but-not-a-task"}: `unknown task`,
	} {
		e := example(t)
		must.Refuse(t, Set(&e, given[0], given[1]), want)
		if after, _ := Marshal(e); string(after) != exampleJSON {
			t.Errorf("%s: refused, but changed the config to %s", given, after)
		}
	}
}

func TestKeysCanBeSetToTheirOwnValues(t *testing.T) {
	e := example(t)
	docs := Keys(&e)
	var names []string
	for _, k := range docs {
		names = append(names, k.Key)
		if err := Set(&e, k.Key, k.Value); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
	if after, _ := Marshal(e); string(after) != exampleJSON {
		t.Errorf("setting every key to its value gives %s", after)
	}
	const want = "task task.copies task.reward task.n_agents task.mass task.noise explore explore.alpha explore.warm explore.hidden " +
		"explore.span explore.layers explore.memory budget.rate seed"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var empty experiment
	for _, k := range Keys(empty) {
		if err := Set(&empty, k.Key, k.Value); err != nil {
			t.Errorf("without configs: %+v: %v", k, err)
		}
	}
	if k := docs[6]; k.Type != "a module" || k.Value != "bonus" || strings.Join(k.Kinds, " ") != "bonus none" {
		t.Errorf("explore is described as %+v", k)
	}
}

func TestNewSharesNothingWithTheRegistry(t *testing.T) {
	a := example(t).Explore.(bonus)
	a.Hidden[0] = 1
	if b := example(t).Explore.(bonus); b.Hidden[0] != 256 {
		t.Error("editing a config changed the registered default")
	}
}

func TestNearNamesContainTheGivenOneOrAreNearestInSpelling(t *testing.T) {
	known := []string{"mappo", "explore.lr", "explore.d_s", "explore.alpha", "qmix-cermic", "mappo-cermic", "qmix-cermic-ucb"}
	short := []string{"q", "mlp"}
	all := "; known: " + strings.Join(known, ", ")
	for _, c := range []struct {
		given string
		known []string
		want  string
	}{
		{"cermic", known, "; did you mean qmix-cermic or mappo-cermic or qmix-cermic-ucb?"},
		{"explore.alfa", known, "; did you mean explore.alpha?"}, {"alpha", known, "; did you mean explore.alpha?"},
		{"mapo", known, "; did you mean mappo?"}, {"ippo", known, all}, {"mpl", short, "; did you mean mlp?"},
		{"zz", short, "; known: q, mlp"}, {"", short, "; known: q, mlp"},
	} {
		if got := Near(c.given, c.known); got != c.want {
			t.Errorf("Near(%q) is %q, want %q", c.given, got, c.want)
		}
	}
}

// Values of a config's JSON equal the values that Keys lists. A file that fits no config has its values, too.
func TestValuesAreThoseOfKeys(t *testing.T) {
	e := example(t)
	data := must.Get(Marshal(e))(t)
	got := must.Get(Values(data))(t)
	for _, k := range Keys(e) {
		if got[k.Key] != k.Value {
			t.Errorf("%s is %q, want %q", k.Key, got[k.Key], k.Value)
		}
	}
	got, err := Values([]byte(`{"explore":{"kind":"gone","old":[1, 2]}}`))
	if err != nil || len(got) != 2 || got["explore"] != "gone" || got["explore.old"] != "[1,2]" {
		t.Errorf("a file of no config: %q, %v", got, err)
	}
	if _, err := Values([]byte(`{"explore":`)); err == nil {
		t.Error("half a file has values")
	}
}
