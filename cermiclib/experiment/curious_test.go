// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"strconv"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// curious is the smallest explorer with all that a real one has: a bonus that depends on observation and action, a
// state of its own that training changes and a checkpoint must hold, and the ability to score old experience.
type curious struct{}

func init() { explore.Register(curious{}) }

func (curious) Kind() string                              { return "run/curious" }
func (curious) Validate() error                           { return nil }
func (curious) Build(b *nn.Build) (explore.Module, error) { return &curiosity{weight: 1}, nil }

type curiosity struct{ weight float32 }

var (
	_ rl.Saver  = (*curiosity)(nil)
	_ rl.Scorer = (*curiosity)(nil)
)

func (*curiosity) Behave(int, *rl.Obs, *rl.Dist) error { return nil }

func (c *curiosity) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	act := make([]float32, x.Spec.Act.Len())
	for row := range x.Intrinsic {
		x.ActionVector(act, row)
		x.Intrinsic[row] += c.value(x.ObsRow(row), act)
	}
	return nil, nil
}

func (c *curiosity) value(obs, act []float32) float32 { return c.weight * (obs[0] + 2*act[len(act)-1]) }

func (*curiosity) CanScore() error { return nil }

func (c *curiosity) Score(_ context.Context, dst, obs, act []float32, _ []uint8) error {
	o, a := len(obs)/len(dst), len(act)/len(dst)
	for row := range dst {
		dst[row] = c.value(obs[row*o:(row+1)*o], act[row*a:(row+1)*a])
	}
	return nil
}

func (c *curiosity) Update(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	c.weight += x.Extrinsic[0] + 1
	return nil, nil
}

func (c *curiosity) Save() []byte { return strconv.AppendFloat(nil, float64(c.weight), 'g', -1, 32) }

func (c *curiosity) Load(state []byte) error {
	weight, err := strconv.ParseFloat(string(state), 32)
	c.weight = float32(weight)
	return err
}
