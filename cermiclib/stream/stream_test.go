// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
)

func form(f cermic.Form) cermic.Config {
	c := cermic.Default()
	c.Form, c.Minibatch = f, 120
	return c
}

func TestTable(t *testing.T) {
	if os.Getenv("STREAM") == "" {
		t.Skip()
	}
	b, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := func(change func(*cermic.Elliptical)) cermic.Config {
		f := cermic.DefaultElliptical()
		change(&f)
		return form(f)
	}
	for _, c := range []struct {
		name string
		x    explore.Config
	}{
		{"kl", form(cermic.KL{})},
		{"aggregate", form(cermic.DefaultAggregate())},
		{"context", form(cermic.DefaultContext())},
		{"progress", form(cermic.Progress{})},
		{"elliptical", form(cermic.DefaultElliptical())},
		{"elliptical own", e(func(f *cermic.Elliptical) { f.Whose = "own" })},
		{"elliptical .01", e(func(f *cermic.Elliptical) { f.Lambda = .01 })},
		{"elliptical hidden", e(func(f *cermic.Elliptical) { f.Features = "hidden" })},
		{"elliptical hidden .01", e(func(f *cermic.Elliptical) { f.Features = "hidden"; f.Lambda = .01 })},
		{"elliptical embed", e(func(f *cermic.Elliptical) { f.Features = "embed" })},
		{"elliptical next", e(func(f *cermic.Elliptical) { f.Features = "next" })},
		{"elliptical product", e(func(f *cermic.Elliptical) { f.Scope = "product" })},
		{"waves embed", e(func(f *cermic.Elliptical) { f.Features = "embed"; f.Squash = "fourier" })},
		{"waves code", e(func(f *cermic.Elliptical) { f.Squash = "fourier" })},
		{"waves next", e(func(f *cermic.Elliptical) { f.Features = "next"; f.Squash = "fourier" })},
		{"waves next 1", e(func(f *cermic.Elliptical) { f.Features = "next"; f.Squash = "fourier"; f.Bandwidth = 1 })},
		{"waves next .25", e(func(f *cermic.Elliptical) { f.Features = "next"; f.Squash = "fourier"; f.Bandwidth = .25 })},
		{"rnd", RND()},
	} {
		if w := os.Getenv("STREAM_ONLY"); w != "" && !slices.Contains(strings.Split(w, ","), c.name) {
			continue
		}
		for seed := range uint64(1) {
			s := Default()
			s.Seed = seed
			if os.Getenv("STREAM") == "short" {
				s.Iterations = 50
			}
			tr, err := s.Run(t.Context(), b, c.x)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-22s seed %d rarity %5.2f unvisited %.2f noise %.2f  reward %v update %v", c.name, seed, tr.Rarity, tr.Unvisited, tr.Noise, tr.Reward, tr.Update)
			t.Logf("    %.3f", tr.Bonus[len(tr.Bonus)-1])
		}
	}
}
