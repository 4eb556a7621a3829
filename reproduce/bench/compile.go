// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// CompileGroup lists the graphs of every method, how large they are and how long they take to compile.
const CompileGroup = "compile"

// variant is a method, with a memory where it has one to choose.
type variant struct{ method, memory string }

func (v variant) String() string {
	if v.memory == "" {
		return v.method
	}
	return v.method + ", " + v.memory + " memory"
}

// variants are the paper's methods, CERMIC's once for each memory.
func variants() (out []variant) {
	for _, m := range paper.Methods {
		if !strings.HasSuffix(m.ID, "-cermic") {
			out = append(out, variant{method: m.ID})
			continue
		}
		for _, memory := range []string{"mlp", "gru", "graph"} {
			out = append(out, variant{m.ID, memory})
		}
	}
	return out
}

// smoke is the variant's smoke run on Balance.
func (v variant) smoke(seed uint64) (experiment.Config, error) {
	set := []string{"task.reward=dense"}
	if v.memory != "" {
		set = append(set, "explore.memory="+v.memory)
	}
	return plan.New(plan.Request{Task: "vmas/balance", Method: v.method, Budget: "smoke", Set: set, Seed: seed})
}

// compiled is what a variant's smoke runs have shown: its graphs, and the times of a run that compiles them and of one that loads them.
type compiled struct {
	graphs     []xlacache.Graph
	cold, warm time.Duration
}

// instructions is the sum over all graphs.
func (c compiled) instructions() (n int) {
	for _, g := range c.graphs {
		n += g.Instructions
	}
	return n
}

// took is how long compiling all graphs took.
func (c compiled) took() (sum time.Duration) {
	for _, g := range c.graphs {
		sum += g.Took
	}
	return sum
}

// Compile trains smoke runs of every variant twice, with a folder of compiled graphs that is empty at first.
func Compile(ctx context.Context, out io.Writer, lines bool) error {
	dir, err := os.MkdirTemp("", "cermic-compile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv(nn.KeptGraphs, dir); err != nil {
		return err
	}
	if err := PrintMachine(out, lines); err != nil {
		return err
	}
	for _, v := range variants() {
		c, err := v.compile(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		if len(c.graphs) == 0 {
			return errors.New("bench -only compile needs XLA's plug-in for the CPU, which go run ./reproduce setup installs")
		}
		if err := c.print(out, v, lines); err != nil {
			return err
		}
	}
	return nil
}

// compile trains the variant's smoke run with graphs compiled, and another seed's with graphs from disk.
func (v variant) compile(ctx context.Context) (c compiled, err error) {
	xlacache.Watch(func(g xlacache.Graph) {
		if !g.Loaded {
			c.graphs = append(c.graphs, g)
		}
	})
	defer xlacache.Watch(nil)
	for seed, took := range []*time.Duration{&c.cold, &c.warm} {
		e, err := v.smoke(uint64(seed + 1))
		if err != nil {
			return c, err
		}
		start := time.Now()
		if err := trainOnce(ctx, e); err != nil {
			return c, err
		}
		*took = time.Since(start)
	}
	slices.SortStableFunc(c.graphs, func(a, b xlacache.Graph) int { return b.Instructions - a.Instructions })
	return c, nil
}

// trainOnce trains e and keeps nothing.
func trainOnce(ctx context.Context, e experiment.Config) error {
	dir, err := os.MkdirTemp("", "cermic-once")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, err := results.Open(dir)
	if err != nil {
		return err
	}
	_, err = experiment.Run(ctx, e, st)
	return err
}

// print writes a line for the variant and one for each of its graphs, the largest first, or an object for each.
func (c compiled) print(out io.Writer, v variant, lines bool) error {
	if lines {
		in := json.NewEncoder(out)
		for _, g := range c.graphs {
			if err := in.Encode(struct {
				Method       string  `json:"method"`
				Memory       string  `json:"memory,omitempty"`
				Graph        string  `json:"graph"`
				Instructions int     `json:"instructions"`
				Seconds      float64 `json:"seconds"`
			}{v.method, v.memory, graphName(g.Name), g.Instructions, g.Took.Seconds()}); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := fmt.Fprintf(out, "%s: %d instructions in %s; compiled in %.2f s; a smoke run takes %.2f s, with its graphs on disk %.2f s\n",
		v, c.instructions(), viz.Count(len(c.graphs), "graph"), c.took().Seconds(), c.cold.Seconds(), c.warm.Seconds())
	for _, g := range c.graphs {
		if err == nil {
			_, err = fmt.Fprintf(out, "  %-38s %9d instructions %8.2f s\n", graphName(g.Name), g.Instructions, g.Took.Seconds())
		}
	}
	return err
}

// graphName drops the number that the library appends.
func graphName(name string) string {
	at := strings.LastIndex(name, "_")
	if at < 0 || strings.Trim(name[at+1:], "0123456789") != "" {
		return name
	}
	return name[:at]
}
