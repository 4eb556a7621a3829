// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/json"
	"fmt"

	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Bonus holds the settings by which an intrinsic reward is normalised and weighted before it is added to the extrinsic
// one. Configs of explorers embed it.
type Bonus struct {
	IntNorm   string  `json:"int_norm" oneof:"none,std,return_std,center_std" help:"normalisation of the intrinsic reward by running statistics"`
	IntMemory float64 `json:"int_memory" range:"0..1" help:"weight of earlier batches in the running statistics; 1: no decay"`
	IntClip   float64 `json:"int_clip" range:"(0..)" help:"bound of the absolute normalised reward; unused with int_norm=none"`
	IntCoef   float64 `json:"int_coef" range:"0.." help:"weight of the intrinsic reward beside the extrinsic one; the paper: 1"`

	// Former settings.
	_ conf.Constant `key:"int_anneal" value:"none"`
	_ conf.Constant `key:"int_anneal_frames" value:"3000000"`
}

// Normalisation of an intrinsic reward r (int_norm). The statistics are over all agents and include a rollout batch
// before it is normalised. int_memory is the weight of earlier rollout batches in them.
const (
	NormNone      = "none"       // r, neither scaled nor clipped
	NormStd       = "std"        // r / running standard deviation of r
	NormReturnStd = "return_std" // r / running standard deviation of the discounted sum of r up to now
	NormCenterStd = "center_std" // (r - running mean) / running standard deviation
)

// defaultCoef has the weights of the methods' bonuses by the Kind of the explorer. For each method it is one point of
// the grid 0.002, 0.01, 0.05, 0.2, the same for all tasks.
var defaultCoef = map[string]float64{"mace": 0.01, "db": 0.05, "rff": 0.01}

// DefaultBonus scales the bonus of every curiosity method alike. It subtracts the running mean over all of training,
// divides by the running standard deviation, and weights by defaultCoef of the explorer's Kind. Without centring, a
// bonus rewards agents for not ending an episode by success. With one scale for all, methods differ in which steps they
// find new and in how fast novelty fades, not in units.
func DefaultBonus(kind string) Bonus {
	return Bonus{IntNorm: NormCenterStd, IntMemory: 1, IntClip: 5, IntCoef: defaultCoef[kind]}
}

// returnDiscount is the discount of the sum that return_std normalises by; the paper's discount factor.
const returnDiscount = 0.99

// RewardNormaliser adds an intrinsic reward to rollouts with the settings of a Bonus. Explorers embed it or hold one.
// Its Save and Load are part of theirs.
type RewardNormaliser struct {
	Bonus
	stats
}

// NewRewardNormaliser returns a normaliser with empty statistics.
func NewRewardNormaliser(b Bonus) RewardNormaliser {
	return RewardNormaliser{b, stats{Scale: 1}}
}

// stats is the state that a RewardNormaliser carries from one rollout batch to the next.
type stats struct {
	Raw     rl.Running // of r
	Sum     rl.Running // of its discounted sum
	Returns []float64  // [E,N] that sum, up to now
	Shift   float64    // subtracted from r
	Scale   float64    // r is divided by it
}

// statTiny avoids a division by a standard deviation that is still zero.
const statTiny = 1e-8

// SpreadScalar is the name of the standard deviation, over the agent steps of a rollout batch, of the bonus added to
// the extrinsic reward. That bonus is int_coef × normalised r^i. Every run with a bonus reports it.
const SpreadScalar = "explore/spread"

// Apply updates the statistics with the reward raw [T,E,N] of a rollout. It adds the reward, normalised and weighted,
// to the intrinsic reward of every living agent. name is the prefix of all scalars but SpreadScalar.
func (p *RewardNormaliser) Apply(x *rl.Rollout, raw []float32, name string) rl.Scalars {
	var now, normed rl.Running
	p.take(x, raw, &now)
	for row, r := range raw {
		if x.Alive[row] != 0 {
			v := p.normalised(r)
			normed.Add(v)
			x.Intrinsic[row] += float32(p.IntCoef * v)
		}
	}
	return rl.Scalars{
		name + "/int_mean": now.Mean, name + "/int_std": now.Std(),
		name + "/int_norm_mean": normed.Mean, name + "/int_norm_std": normed.Std(), name + "/int_coef": p.IntCoef,
		SpreadScalar: p.IntCoef * normed.Std(),
	}
}

// take updates the statistics with a rollout.
func (p *RewardNormaliser) take(x *rl.Rollout, raw []float32, now *rl.Running) {
	if len(p.Returns) != x.E*x.N {
		p.Returns = make([]float64, x.E*x.N)
	}
	p.Raw.Fade(p.IntMemory)
	p.Sum.Fade(p.IntMemory)
	for row, r := range raw {
		if x.Alive[row] == 0 {
			continue
		}
		now.Add(float64(r))
		p.Raw.Add(float64(r))
		sum := &p.Returns[row%len(p.Returns)]
		*sum = returnDiscount**sum + float64(r)
		p.Sum.Add(*sum)
	}
	p.Shift, p.Scale = 0, 1
	switch p.IntNorm {
	case NormStd:
		p.Scale = p.Raw.Std() + statTiny
	case NormReturnStd:
		p.Scale = p.Sum.Std() + statTiny
	case NormCenterStd:
		p.Shift, p.Scale = p.Raw.Mean, p.Raw.Std()+statTiny
	}
}

// normalised returns r as int_norm selects.
func (p *RewardNormaliser) normalised(r float32) float64 {
	v := (float64(r) - p.Shift) / p.Scale
	if p.IntNorm == NormNone {
		return v
	}
	return min(max(v, -p.IntClip), p.IntClip)
}

// AddPeers adds weight times the rewards of all living peers in the same frame to the reward r [frames,N] of each
// living agent. alive is [frames,N].
func AddPeers(r []float32, alive []uint8, agents int, weight float64) {
	if weight == 0 {
		return
	}
	for at := 0; at < len(r); at += agents {
		team, total := r[at:at+agents], 0.0
		for i, v := range team {
			if alive[at+i] != 0 {
				total += float64(v)
			}
		}
		for i, v := range team {
			if alive[at+i] != 0 {
				team[i] = float32(float64(v) + weight*(total-float64(v)))
			}
		}
	}
}

// Save returns the statistics.
func (s *stats) Save() []byte { return rl.StateJSON(s) }

// Load continues from what Save returned.
func (s *stats) Load(data []byte) error {
	var saved stats
	if err := json.Unmarshal(data, &saved); err != nil {
		return fmt.Errorf("explore: these are no saved statistics of an explorer: %w", err)
	}
	*s = saved
	return nil
}
