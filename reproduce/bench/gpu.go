// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/reproduce/plan"
)

// accelerator is what a prediction assumes of a GPU and of the way to it.
type accelerator struct {
	name      string
	flops     float64       // a second, that matrix products of this size are expected to reach
	bandwidth float64       // bytes a second of its memory
	kernel    time.Duration // from the start of one small kernel to that of the next
	execute   time.Duration // host: starting a compiled graph
	transfer  time.Duration // host: an input or output, beside its bytes
	link      float64       // bytes a second between host and device, out of memory that is not pinned
}

// h100 is an H100 SXM: 66.9 TFLOP/s in float32 and 3.35 TB/s by its data sheet, of which 60 % and 80 % are expected; times of a launch as they
// are commonly measured. TF32 is off, as in every run here.
var h100 = accelerator{
	name: "H100 SXM", flops: .6 * 66.9e12, bandwidth: .8 * 3.35e12, kernel: 3 * time.Microsecond, execute: 60 * time.Microsecond,
	transfer: 10 * time.Microsecond, link: 10e9,
}

// work is one run of a graph.
type work struct {
	xlacache.Graph
	moved   float64 // bytes from the host and back
	tensors int     // in which they come
}

// kernels is how many kernels a run starts: one for each product and each sum, and one for what stands between a product and the next.
func (w work) kernels() int { return 2*w.Products + w.Sums }

// device is the time on the device for seeds networks side by side: kernels grow, their number does not.
func (a accelerator) device(w work, seeds int) time.Duration {
	busy := float64(seeds) * max(w.Flops/a.flops, w.Bytes/a.bandwidth)
	return max(time.Duration(w.kernels())*a.kernel, time.Duration(busy*float64(time.Second)))
}

// host is the time that the host spends on starting and feeding it.
func (a accelerator) host(w work, seeds int) time.Duration {
	bytes := float64(seeds) * w.moved / a.link
	return a.execute + time.Duration(w.tensors)*a.transfer + time.Duration(bytes*float64(time.Second))
}

// iteration is what a training iteration is made of.
type iteration struct {
	act, update         work
	steps, updates      int           // of act and update
	env, gather         time.Duration // of the host: one step of all parallel environments, one minibatch
	frames, totalFrames int
}

// time is that of one iteration of seeds runs in one program, on a host whose cores do what they do here.
func (a accelerator) time(it iteration, seeds int) time.Duration {
	n := time.Duration(seeds)
	return time.Duration(it.steps)*(n*it.env+a.host(it.act, seeds)+a.device(it.act, seeds)) +
		time.Duration(it.updates)*(n*it.gather+a.host(it.update, seeds)+a.device(it.update, seeds))
}

// gain is how many times faster seeds runs are in one program than one after the other.
func (a accelerator) gain(it iteration, seeds int) float64 {
	return float64(seeds) * a.time(it, 1).Seconds() / a.time(it, seeds).Seconds()
}

// PredictGPU prints, where there is no GPU, what one would be asked to show, and what is expected of it.
func PredictGPU(ctx context.Context, out io.Writer) error { return predictGPU(ctx, out, "paper") }

// predictGPU is PredictGPU for the networks of a budget: tests take smaller ones.
func predictGPU(ctx context.Context, out io.Writer, budget string) error {
	fmt.Fprintln(out, "There is no NVIDIA GPU with XLA's plug-in for it here. On one, this verb measures:")
	for _, f := range Figures {
		if f.In(GPUGroup) {
			fmt.Fprintf(out, "  %s (%s)\n", f.name, f.unit)
		}
	}
	it, err := iterationAt(ctx, budget)
	if err != nil {
		return err
	}
	h100.print(out, it)
	return nil
}

// print writes the prediction with the numbers that it comes from.
func (a accelerator) print(out io.Writer, it iteration) {
	us := func(t time.Duration) float64 { return float64(t) / float64(time.Microsecond) }
	fmt.Fprintf(out, "\nPredicted for an %s, assuming %.0f TFLOP/s, %.1f TB/s, %.0f µs a kernel, %.0f µs a graph, %.0f µs and %.0f GB/s a tensor:\n",
		a.name, a.flops/1e12, a.bandwidth/1e12, us(a.kernel), us(a.execute), us(a.transfer), a.link/1e9)
	for _, part := range []struct {
		name  string
		times int
		work  work
		host  time.Duration
	}{{"a step of acting", it.steps, it.act, it.env}, {"an update", it.updates, it.update, it.gather}} {
		w := part.work
		fmt.Fprintf(out, "  %s, %d an iteration: %d kernels, %.3g GFLOP, %.3g MB: device %.0f µs; starting and feeding it %.0f µs; this host's own work %.0f µs\n",
			part.name, part.times, w.kernels(), w.Flops/1e9, w.Bytes/1e6, us(a.device(w, 1)), us(a.host(w, 1)), us(part.host))
	}
	took := a.time(it, 1)
	fps := float64(it.frames) / took.Seconds()
	fmt.Fprintf(out, "  MAPPO at the paper's settings: %.2g s an iteration of %d frames, %s frames/s, %.2g h a paper run\n", took.Seconds(), it.frames, Amount(fps),
		float64(it.totalFrames)/fps/3600)
	for _, seeds := range []int{2, 4, 8} {
		fmt.Fprintf(out, "  %d seeds in one program: %.2f times as fast as one after the other\n", seeds, a.gain(it, seeds))
	}
}

// iterationAt counts the graphs of MAPPO on Balance at the settings of a budget, and measures what the host does beside them.
func iterationAt(ctx context.Context, budget string) (it iteration, err error) {
	e, err := plan.New(plan.Request{Task: "vmas/balance", Method: "mappo", Budget: budget, Set: []string{"task.reward=dense"}, Seed: 1})
	if err != nil {
		return it, err
	}
	cfg := e.Learner.(learn.MAPPO)
	env, err := e.Task.Build(1, 0)
	if err != nil {
		return it, err
	}
	backend, err := nn.Open()
	if err != nil {
		return it, err
	}
	s := env.Spec()
	seen := map[string]xlacache.Graph{}
	xlacache.Watch(func(g xlacache.Graph) { seen[graphName(g.Name)] = g })
	defer xlacache.Watch(nil)
	b := &nn.Build{Spec: s, Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	cfg.Frames, cfg.Epochs = cfg.Minibatch, 1
	learner, err := cfg.Build(b, e.Policy)
	if err != nil {
		return it, err
	}
	if seen["ppo"].Products == 0 {
		return it, errors.New("the prediction needs XLA's plug-in for the CPU, which go run ./reproduce setup installs")
	}
	x, err := collect(env, learner, cfg.Frames)
	if err != nil {
		return it, err
	}
	shares, err := cfg.TimeProfile(b, e.Policy, x)
	if err != nil {
		return it, err
	}
	fps, err := Stepping("vmas/balance", s.NumEnvs)(ctx)
	if err != nil {
		return it, err
	}
	whole := e.Learner.(learn.MAPPO)
	rows, act := s.NumEnvs*s.Agents, nn.ActionOutputs(&s.Act)
	it = iteration{
		act:   work{seen["act"], 4 * float64(rows*(s.InLen()+act)), 3},
		steps: whole.Frames / s.NumEnvs, updates: whole.Epochs * whole.Frames / whole.Minibatch,
		env: time.Duration(float64(s.NumEnvs) / fps * float64(time.Second)), gather: shares.Transfer,
		frames: whole.Frames, totalFrames: e.Budget.Frames,
	}
	perFrame := s.Agents*(s.InLen()+2*s.Act.Dim+4) + s.State + 1 // what a minibatch has of a frame
	it.update = work{seen["ppo"], 4 * float64(whole.Minibatch*perFrame), 10}
	return it, nil
}

// OnGPU says whether graphs run on an NVIDIA GPU.
func OnGPU() (bool, error) {
	backend, err := nn.Open()
	return err == nil && strings.HasPrefix(backend.Label, "xla:cuda"), err
}
