// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"cermic/envs/envtest/must"
)

// random returns a config drawn from r, with finite floats of every magnitude.
func random(r *rand.Rand) experiment {
	float := func() float64 {
		for {
			if x := math.Float64frombits(r.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
		}
	}
	b := bonus{Alpha: float(), Warm: r.IntN(2) == 0, Span: [2]float32{r.Float32(), -r.Float32()}}
	for range r.IntN(4) {
		b.Hidden = append(b.Hidden, int(r.Uint64()))
		b.Layers = append(b.Layers, string([]rune{rune(r.IntN(0xd800)), '"', '<', rune(r.IntN(128))}))
	}
	if r.IntN(3) > 0 {
		b.Memory = random(r).Explore
	}
	e := experiment{Explore: b, Budget: plain{float()}, Seed: r.Uint64()}
	if r.IntN(2) == 0 {
		e.Task = wheel{shared{int(r.Uint64()), fmt.Sprint(r.IntN(9))}, uint8(r.IntN(256))}
	}
	return e
}

func TestEveryConfigReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		data := must.Get(Marshal(random(r)))(t)
		// Reading starts from another random config: a complete file must leave nothing of it.
		back := random(r)
		if err := Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		again, err := Marshal(back)
		if err != nil || string(again) != string(data) {
			t.Fatalf("wrote %s\nread  %s, %v", data, again, err)
		}
	}
}
