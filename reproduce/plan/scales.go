// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
)

// Sizes of the rollouts behind anchors: at most anchorEpisodes, and about anchorFrames frames. The standard error of
// the mean is a few hundredths of the standard deviation.
const (
	anchorEpisodes = 1000
	anchorFrames   = 200_000
	anchorSeed     = 1
)

// Anchors returns the mean scores of random and scripted play on a registered task and their number of episodes.
// Without a script its score is NaN.
func Anchors(task string) (random, script float64, episodes int, err error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, 0, 0, err
	}
	return anchors(cfg)
}

// FirstAnchors is Anchors for the score of an episode's first steps, with the number of steps; 0 for a task with one
// score.
func FirstAnchors(task string) (random, script float64, steps int, err error) {
	if steps, err = FirstSteps(task); err != nil || steps == 0 {
		return math.NaN(), math.NaN(), 0, err
	}
	cfg, err := Variant(task, "task.score=mean"+strconv.Itoa(steps), "task.max_steps="+strconv.Itoa(steps))
	if err != nil {
		return 0, 0, 0, err
	}
	random, script, _, err = anchors(cfg)
	return random, script, steps, err
}

// AnchorsFile holds the anchors of the registered tasks, since to roll them out takes many seconds; the path is
// relative to the repository's root. `results -write` writes it, and a test checks it.
const AnchorsFile = "reproduce/plan/anchors.json"

//go:embed anchors.json
var anchorsFile []byte

// anchor is the pair of scores of a task with its settings.
type anchor struct {
	Settings json.RawMessage `json:"settings"`
	Random   float64         `json:"random"`
	Script   *float64        `json:"script,omitempty"`
	Episodes int             `json:"episodes"`
	First    []float64       `json:"first"` // random and scripted mean of the first anchorSample episodes, for a test
}

// anchorSample is the number of episodes that a test plays again.
const anchorSample = 32

// known holds anchors by settings, from AnchorsFile and from rollouts since.
var known = sync.OnceValues(func() (*sync.Map, error) {
	var all []anchor
	if err := json.Unmarshal(anchorsFile, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", AnchorsFile, err)
	}
	by := new(sync.Map)
	for _, a := range all {
		by.Store(string(a.Settings), a)
	}
	return by, nil
})

func anchors(cfg envs.Config) (random, script float64, episodes int, err error) {
	all, err := known()
	if err != nil {
		return 0, 0, 0, err
	}
	settings, err := conf.Marshal(cfg)
	if err != nil {
		return 0, 0, 0, err
	}
	found, ok := all.Load(string(settings))
	if !ok {
		if found, err = playAnchors(cfg, settings); err != nil {
			return 0, 0, 0, err
		}
		all.Store(string(settings), found)
	}
	a := found.(anchor)
	if a.Script == nil {
		return a.Random, math.NaN(), a.Episodes, nil
	}
	return a.Random, *a.Script, a.Episodes, nil
}

func playAnchors(cfg envs.Config, settings []byte) (a anchor, err error) {
	spec, err := envs.SpecOf(Rewarded(cfg, envs.Dense))
	if err != nil {
		return a, err
	}
	a = anchor{Settings: settings, Episodes: min(anchorEpisodes, max(1, anchorFrames/spec.Horizon))}
	for _, policy := range []scripted.Policy{scripted.Random, scripted.Script} {
		p, err := scripted.RolloutDense(cfg, policy, a.Episodes, anchorSeed)
		if err != nil {
			return a, err
		}
		if p == nil {
			continue
		}
		mean := stat.Mean(p.Dense, nil)
		if policy == scripted.Random {
			a.Random = mean
		} else {
			a.Script = &mean
		}
		a.First = append(a.First, stat.Mean(p.Dense[:min(anchorSample, a.Episodes)], nil))
	}
	return a, nil
}

// PlayAnchors rolls out the anchors of all registered tasks anew and returns AnchorsFile's text, a line each.
func PlayAnchors() ([]byte, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	all.Clear()
	for _, t := range Tasks() {
		if _, _, _, err := Anchors(t.ID); err != nil {
			return nil, err
		}
		if _, _, _, err := FirstAnchors(t.ID); err != nil {
			return nil, err
		}
	}
	var lines []string
	all.Range(func(_, a any) bool {
		var line []byte
		line, err = json.Marshal(a)
		lines = append(lines, string(line))
		return err == nil
	})
	slices.Sort(lines)
	return []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n"), err
}

// Scale makes scores of different tasks comparable: random play becomes 0 and scripted play 1 (Anchors). It is zero
// for a task whose script does not beat random play, or that has none.
func Scale(task string) (paper.Scale, error) {
	random, script, episodes, err := Anchors(task)
	if err != nil || !(script > random) { // never of NaN
		return paper.Scale{}, err
	}
	return paper.Scale{From: random, To: script, Episodes: episodes}, nil
}

// Scale is Scale, for claims.
func (a *Archive) Scale(task string) (paper.Scale, error) { return Scale(task) }

// FirstSteps returns the number of steps at the beginning of an episode that have a score of their own; 0: none.
func FirstSteps(task string) (int, error) {
	spec, err := specOf(task, envs.Dense)
	if err != nil {
		return 0, err
	}
	return spec.Early, nil
}

// Baselines rolls out random and scripted play, and every scripted joint policy, on the registered default of a task.
func Baselines(id string, episodes int, seed uint64) (all []*scripted.Episodes, err error) {
	cfg, err := envs.Default(id)
	if err != nil {
		return nil, err
	}
	policies, err := scripted.Policies(cfg)
	joint, failed := scripted.JointPolicies(cfg)
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	for _, policy := range append(policies, joint...) {
		p, err := scripted.Rollout(cfg, policy, episodes, seed)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
