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
