// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"reflect"
	"testing"
)

// A Step with a buffer of another length, made by hand, is refused before an environment writes into it.
func TestAStepOfOtherShapesIsRefused(t *testing.T) {
	spec := &Spec{Name: "test", Agents: 2, NumEnvs: 2, Obs: []int{3}, State: 2, Act: ActSpec{Choices: 2}, Masked: true}
	fields := reflect.TypeFor[Step]().NumField()
	for i := range fields {
		step := NewStep(spec)
		spec.CheckReset(nil, step) // as it is made
		buffer := reflect.ValueOf(step).Elem().Field(i)
		if buffer.Len() == 0 {
			continue
		}
		buffer.Set(buffer.Slice(1, buffer.Len()))
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a short %s is accepted", reflect.TypeFor[Step]().Field(i).Name)
				}
			}()
			spec.CheckReset(nil, step)
		}()
	}
}
