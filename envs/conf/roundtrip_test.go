// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
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
		data, err := Marshal(random(r))
		if err != nil {
			t.Fatal(err)
		}
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

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(exampleJSON))
	f.Add([]byte(`{"task":{"kind":"test/wheel","width":7},"explore":null}`))
	f.Add([]byte(`{"explore":{"memory":{"kind":"bonus","memory":{"kind":"bonus","span":[1e-5,-0]}}}}`))
	f.Add([]byte(`{"seed":1,"seed":2}`))
	f.Add([]byte(`[{"kind":[null]}, "\ud800", 1e999]`))
	f.Add([]byte(`{"task":{"kind":"test/wheel","kind":"none"}}x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := example(t)
		if err := Unmarshal(data, &e); err != nil {
			if after, _ := Marshal(e); string(after) != exampleJSON {
				t.Fatalf("refused with %v, but changed the config to %s", err, after)
			}
			return
		}
		first, err := Marshal(e)
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		back := example(t)
		if err := Unmarshal(first, &back); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, _ := Marshal(back); string(second) != string(first) {
			t.Fatalf("wrote %s\nread  %s", first, second)
		}
	})
}
