// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

func TestCentredCorrectionsHaveMeanZeroInEveryForm(t *testing.T) {
	const rows, width = 5, 7
	r := rng.New(4, "centred")
	context, m, q := table(r, rows, width), table(r, rows, 1), table(r, rows, 1)
	weight := []float64{1, 1, 0, 1, 1}
	for _, form := range []string{CalibBounded, CalibPlain} {
		c := Default()
		c.CalibForm = form
		out := evaluate(t, nn.NewStore(5), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			f, m, q := in[0], graph.Squeeze(in[1], -1), graph.AddScalar(graph.Abs(graph.Squeeze(in[2], -1)), 0.1)
			// Not zero, so that M has an effect.
			nn.Weight(sc.At("calibration"), f, "out", nn.FanIn(calibHidden), calibHidden)
			h := c.calibration(sc, f, m, q, in[3])(graph.Scalar(f.Graph(), f.DType(), 0.6))
			return []*graph.Node{graph.Sub(h, m), q}
		}, context, m, q, weight)
		sum, largest := 0.0, 0.0
		for b, correction := range out[0] {
			if form == CalibBounded { // its corrections are centred in units of √Σ_Ψ
				correction /= out[1][b]
			}
			sum += correction * weight[b]
			largest = max(largest, math.Abs(correction))
		}
		if math.Abs(sum) > 1e-12 || largest < 1e-3 {
			t.Errorf("%s: corrections %v sum to %g over the rows that count", form, out[0], sum)
		}
	}
}

// sighted is a rollout in which agents of every second environment always see a peer and their next observation is
// random; elsewhere it is predictable. Observations are a position (3), the peer's visibility, and its position.
func sighted(spec *envs.Spec, steps, iteration int) *rl.Rollout {
	x := rl.NewRollout(spec, steps, 0)
	x.Iteration = iteration
	r := rng.New(3, "sighted", uint64(iteration))
	see := envs.NewStep(spec)
	graphtest.Fill(see.Alive, 1)
	graphtest.Fill(x.IsFirst[:spec.NumEnvs], 1)
	graphtest.Normal(r, see.Obs)
	for t := 0; ; t++ {
		for row := range spec.NumEnvs * spec.Agents {
			o := see.Obs[row*5 : row*5+5]
			if o[3], o[4] = 0, 0; row/spec.Agents%2 == 1 {
				o[3], o[4] = 1, r.Norm()
			}
		}
		x.Observe(t, see)
		if t == steps {
			return x
		}
		for row := range spec.NumEnvs * spec.Agents {
			force := x.Act.Continuous[(t*spec.NumEnvs*spec.Agents+row)*2:][:2]
			force[0], force[1] = r.Uniform(-1, 1), r.Uniform(-1, 1)
			o := see.Obs[row*5 : row*5+5]
			if row/spec.Agents%2 == 1 {
				o[0], o[1], o[2] = r.Norm(), r.Norm(), r.Norm()
			} else {
				o[0], o[1], o[2] = 0.8*o[0]+force[0], 0.8*o[1]+force[1], 0.8*o[2]+force[0]*force[1]
			}
		}
	}
}

// corrections returns means of (H_lo - m)/q over the agent steps of x without and with a visible peer. mean and spread
// are the mean and standard deviation over all.
func corrections(t *testing.T, m *module, x *rl.Rollout) (without, with, mean, spread float64) {
	t.Helper()
	c, b := m.cfg, m.minibatch
	p := must.Value(m.program(m.build, "probe", func(sc *model.Scope, in batch) []*graph.Node {
		mu, variance := psiMoments(c.latent(sc, c.embed(sc, in.spec, in.obs), in.act))
		mean, q := c.normalisePsi(mu, variance)
		f := m.mem.Context(sc.At("memory"), in.memory)
		gamma := nn.Frozen(sc.At("critic"), mean, "gamma_lo", nn.AllZero).NodeValue(mean)
		h := c.calibration(sc, f.Now, mean, q, in.weight)(gamma)
		return []*graph.Node{graph.Div(graph.Sub(h, mean), q)}
	}))
	rows, weight := m.sampler.draw(x, b, rng.New(1, "probe"))
	step := m.step
	m.step = p
	m.feed(x, rows[:b], weight[:b], 0)
	m.step = step
	must.Do(t, p.Run())
	values := make([]float32, b)
	p.Read(0, values)
	var byPeer [2]rl.Running
	var all rl.Running
	for k, v := range values {
		byPeer[int(rows[k])/x.N%2].Add(float64(v))
		all.Add(float64(v))
	}
	return byPeer[0].Mean, byPeer[1].Mean, all.Mean, all.Std()
}

// Calibration is meant for peers that make the next observation unpredictable. Corrections with and without such peers
// must differ by at least half of the form's range, κ·q. Without centring all corrections end at -κ·q, the largest
// relief from L_UB.
func TestCalibrationSeparatesSituationsWithPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a thousand gradient steps")
	}
	backend := must.Value(nn.Open())
	spec := fakeSpec(16)
	for _, centre := range []bool{true, false} {
		c := small()
		c.Memory = memory.MLP{Embed: 16, Hidden: 16, Width: 16}
		c.Embed, c.Negatives, c.Minibatch, c.Steps, c.LR = 16, 8, 128, 12, 2e-3
		c.CalibCentre = centre
		m := must.Value(c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1})).(*module)
		for it := range 32 {
			must.Value(m.Update(t.Context(), sighted(spec, 60, it)))
		}
		without, with, mean, spread := corrections(t, m, sighted(spec, 60, 1000))
		t.Logf("calib_centre=%v: corrections are %.3f without peers, %.3f with them, %.3f ± %.3f overall",
			centre, without, with, mean, spread)
		if gap := with - without; (gap >= 1) != centre { // 1 is half of the range, from -κ·q to κ·q
			t.Errorf("calib_centre=%v: corrections without and with visible peers are %g and %g, a gap of %g·κ·q",
				centre, without, with, gap)
		}
		if centre && math.Abs(mean) > 1e-5 {
			t.Errorf("the mean correction is %g, want 0", mean)
		}
	}
}
