// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"encoding/json"
	"fmt"

	"cermic/cermiclib/rl"
)

// state is the module's state outside the variable store. encoding/json writes floats so that they read back bit for
// bit.
type state struct {
	Bonus     json.RawMessage
	Extrinsic rl.Running
	Last      []float32
	Sighted   []bool `json:",omitempty"`
	Memory    []byte // state of a memory that is an rl.Saver
	Form      []byte `json:",omitempty"` // state of the formula of r^i
	Context   []byte `json:",omitempty"` // state of the memory that actors read
}

// Save returns the running statistics and the state that the memory carries between rollout batches. The running means
// of γ are variables of the store.
func (m *module) Save() []byte {
	s := state{Bonus: m.bonus.Save(), Extrinsic: m.extrinsic, Last: m.last, Sighted: m.sighted, Form: m.form.Save()}
	if saver, ok := m.mem.(rl.Saver); ok {
		s.Memory = saver.Save()
	}
	if m.context != nil {
		s.Context = m.context.save()
	}
	data, err := json.Marshal(s)
	if err != nil {
		panic("cermic: running statistics are not finite: " + err.Error())
	}
	return data
}

// Load restores a state that Save returned.
func (m *module) Load(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("cermic: the saved state of the module cannot be read: %w", err)
	}
	if saver, ok := m.mem.(rl.Saver); ok {
		if err := saver.Load(s.Memory); err != nil {
			return err
		}
	}
	if m.context != nil {
		if err := m.context.load(s.Context); err != nil {
			return err
		}
	}
	if err := m.form.Load(s.Form); err != nil {
		return fmt.Errorf("cermic: %w", err)
	}
	if err := m.bonus.Load(s.Bonus); err != nil {
		return err
	}
	m.extrinsic, m.last, m.sighted = s.Extrinsic, s.Last, s.Sighted
	return nil
}

// Recall restores from a state of Save only the earlier agent steps that int_form keeps.
func (m *module) Recall(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("cermic: the saved state of the module cannot be read: %w", err)
	}
	if f, ok := m.form.(*elliptical); ok {
		if err := f.recall(s.Form); err != nil {
			return fmt.Errorf("cermic: %w", err)
		}
	}
	return nil
}
