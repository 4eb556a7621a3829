// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strings"
	"testing"
)

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

// What Marshal has written means the same when the default of a setting that it left out has changed; what is written
// by hand, and leaves out more, takes defaults.
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
