// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

// FuzzRestore gives trainers a checkpoint of a stopped run, right in its checksum, in which one tensor has another name, type or content, or
// the metadata other values. It is refused with one sentence, or training goes on from it; neither ends in a panic.
func FuzzRestore(f *testing.F) {
	fight := battle(tinyQ(5)) // its actions can be forbidden
	experiments := []Config{small("mappo"), tinyQ(5), fight}
	var good []results.Checkpoint
	for _, e := range experiments {
		tr := trainerOf(f, e)
		if _, err := tr.iterate(f.Context()); err != nil {
			f.Fatal(err)
		}
		good = append(good, stateOf(f, tr))
	}
	for which, c := range good {
		for at, x := range c.Tensors {
			if strings.HasPrefix(x.Name, statePrefix) {
				f.Add(uint(which), uint(at), x.Name, x.DType, []byte{255, 255, 255, 127}, uint(len(x.Data)/2), uint(len(x.Data)), c.Meta["iteration"], c.Frames)
			}
		}
	}
	f.Add(uint(0), uint(3), "weights/more", "F32", []byte{0, 0, 192, 127}, uint(2), uint(5), "-1", 0)
	f.Add(uint(1), uint(0), "", "BOOL", []byte(nil), uint(1), uint(0), "1e9", 1<<62)
	f.Fuzz(func(t *testing.T, which, at uint, name, dtype string, patch []byte, from, size uint, iteration string, frames int) {
		which %= uint(len(experiments))
		c := good[which]
		bad := results.Checkpoint{Frames: max(0, frames), Meta: map[string]string{"iteration": iteration, "seconds": iteration}, Tensors: slices.Clone(c.Tensors)}
		x := &bad.Tensors[at%uint(len(bad.Tensors))]
		data := slices.Clone(x.Data)
		data = data[:min(size, uint(len(data)))]
		if len(data) > 0 { // the patch lies over what is there, so that the length often stays right
			copy(data[from%uint(len(data)):], patch)
		}
		x.Name, x.DType, x.Data = name, dtype, data
		tr := trainerOf(t, experiments[which])
		err := tr.replayActions(t.Context(), bad)
		if err == nil {
			_, err = tr.restore(bad)
		}
		if err == nil {
			_, err = tr.iterate(t.Context())
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("it says %q", err)
		}
	})
}
