// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cermic/envs"
	"cermic/envs/conf"
)

// Settings are shared by both tasks, whose configs embed them as one flat struct. SMACv2's own settings keep their
// names.
type Settings struct {
	Agents   int `json:"n_agents" range:"1..64" help:"number of allied units, each controlled by an agent"`
	Enemies  int `json:"n_enemies" range:"1..64" help:"number of enemy units, controlled by the built-in script"`
	MaxSteps int `json:"max_steps" range:"1..1000000" help:"episode length, in steps"`

	Engine  Engine `json:"engine" oneof:"simulator,sc2" help:"engine of the battle: the built-in simulator or an installed StarCraft II"`
	Version string `json:"sc2_version" help:"version of StarCraft II; results of different versions do not compare"`

	MoveAmount float64 `json:"move_amount" conf:"omitdefault" range:"(0..32]" help:"distance of a move, in cells; the first half must be free"`
	MinAttack  float64 `json:"min_attack_range" conf:"omitdefault" help:"least shooting range of a unit type, in cells; with use_unit_ranges"`

	Otherwise string `json:"otherwise,omitzero" help:"alternative to one decision of the simulator, for sensitivity tests; see Alternatives"`

	// Observations.
	ObsAllHealth   bool    `json:"obs_all_health" help:"agents observe health and shield of other units"`
	ObsOwnHealth   bool    `json:"obs_own_health" help:"agents observe their own health and shield; implied by obs_all_health"`
	ObsOwnPos      bool    `json:"obs_own_pos" help:"agents observe their own position on the map"`
	ObsLastAction  bool    `json:"obs_last_action" help:"agents observe the last action of visible allies"`
	ObsPathing     bool    `json:"obs_pathing_grid" help:"agents observe which of 8 points around them are walkable"`
	ObsHeight      bool    `json:"obs_terrain_height" help:"agents observe the terrain height below them and at 8 points around them"`
	ObsTimestep    bool    `json:"obs_timestep_number" help:"agents observe the elapsed share of max_steps"`
	ObsTypes       bool    `json:"obs_ally_types" help:"agents observe the unit types of allies; SMACv2's team_gen.observe"`
	ObsWipe        bool    `json:"obs_wipe" help:"found enemies are hidden again, as in SMACv2 since June 2023"`
	ProbObsEnemy   float64 `json:"prob_obs_enemy" range:"0..1" help:"probability that other agents observe an enemy that one agent found"`
	EnemyMask      float64 `json:"mask_probability" range:"0..1" help:"probability that an enemy's features stay hidden; SMACv2 gives the complement"`
	ConicFOV       bool    `json:"conic_fov" help:"agents observe a cone that actions turn; else a circle"`
	LookActions    int     `json:"num_fov_actions" range:"1..360" help:"number of directions of the cone; with conic_fov"`
	UnitRanges     bool    `json:"use_unit_ranges" help:"each unit type has its sight and shooting range; else 9 and 6 cells for all"`
	ActionMask     bool    `json:"action_mask" help:"enemies out of range cannot be attacked; else such attacks do nothing"`
	StateLast      bool    `json:"state_last_action" help:"the central state contains the last actions of all agents"`
	StateTimestep  bool    `json:"state_timestep_number" help:"the central state contains the elapsed share of max_steps"`
	RewardSparse   bool    `json:"reward_sparse" help:"SMACv2's sparse reward, for the outcome alone, replaces its dense one"`
	RewardPositive bool    `json:"reward_only_positive" help:"own losses cost nothing"`
	RewardDeath    float64 `json:"reward_death_value" help:"dense reward for each enemy killed, before scaling"`
	RewardWin      float64 `json:"reward_win" help:"dense reward for a victory, before scaling"`
	RewardDefeat   float64 `json:"reward_defeat" help:"dense reward for a defeat, 0 or negative, before scaling"`
	RewardNegative float64 `json:"reward_negative_scale" help:"weight of own losses; without reward_only_positive"`
	RewardScale    bool    `json:"reward_scale" help:"the dense reward is divided by its maximum and multiplied by reward_scale_rate"`
	ScaleRate      float64 `json:"reward_scale_rate" help:"largest scaled return of the episode chosen by max_reward; SMACv2: 20"`
	MaxReward      Divisor `json:"max_reward" oneof:"first,per_episode" help:"enemy team that reward_scale divides by; first: the first episode's, as in SMACv2"`

	// The appendix's sparse reward, given to every agent once, at the end of the battle.
	SparseWin  float32 `json:"sparse_win" help:"each agent's sparse reward for a victory; the paper: large and positive"`
	SparseLoss float32 `json:"sparse_loss" help:"each agent's sparse reward for a defeat; the paper: negative or zero"`
	SparseDraw float32 `json:"sparse_draw" help:"each agent's sparse reward for a draw; the paper: zero or slightly negative"`
}

// DefaultSettings returns SMACv2's settings for 5 against 5.
//
// From: oxwhirl/smacv2, smacv2/examples/configs, 577ab5a
func DefaultSettings() Settings {
	return Settings{
		Agents: 5, Enemies: 5, MaxSteps: 200, Engine: Simulator, Version: "4.10", MoveAmount: 2, MinAttack: 2,
		ObsAllHealth: true, ObsOwnHealth: true, ObsOwnPos: true, ObsTypes: true, ObsWipe: true, ProbObsEnemy: 1,
		LookActions: 12, UnitRanges: true, ActionMask: true, StateLast: true,
		RewardPositive: true, RewardDeath: 10, RewardWin: 200, RewardNegative: 0.5, RewardScale: true, ScaleRate: 20,
		MaxReward: FirstTeam, SparseWin: 1, SparseLoss: -1, SparseDraw: -0.1,
	}
}

// Engine selects the engine of battles.
type Engine string

// The engines.
const (
	Simulator Engine = "simulator" // built-in
	SC2       Engine = "sc2"       // an installed StarCraft II, one process per environment
)

// Divisor selects the enemy team that scales the dense reward.
type Divisor string

// The divisors.
const (
	FirstTeam  Divisor = "first"       // of the environment's first episode, as in SMACv2
	PerEpisode Divisor = "per_episode" // the current one, so that no return exceeds reward_scale_rate
)

// validate returns an error for the first impossible setting.
func (s *Settings) validate(task string, r *race) error {
	if err := conf.Check(*s); err != nil {
		return fmt.Errorf("%s: %w", task, err)
	}
	reject := func(format string, values ...any) error { return fmt.Errorf(task+": "+format, values...) }
	for part := range strings.SplitSeq(s.Version, ".") {
		if _, err := strconv.ParseUint(part, 10, 32); err != nil {
			return reject("sc2_version is %q, want a version such as 4.10", s.Version)
		}
	}
	names := []string{""}
	for _, a := range alternatives {
		names = append(names, a.Name)
	}
	frail := math.Inf(1) // life plus shield of the weakest enemy
	for _, t := range r.types {
		frail = min(frail, float64(kinds[t].life+kinds[t].shield))
	}
	// Rewards for a death or a win may be negative; the divisor of the dense reward must not.
	divisor := s.RewardWin + float64(s.Enemies)*(s.RewardDeath+frail)
	switch {
	case !slices.Contains(names, s.Otherwise):
		return reject("otherwise is %q, want one of %s%s", s.Otherwise, strings.Join(names[1:], ", "),
			conf.Near(s.Otherwise, names[1:]))
	case s.Otherwise != "" && s.Engine != Simulator:
		return reject("otherwise=%s changes the simulator, so it needs engine=%s", s.Otherwise, Simulator)
	case s.RewardScale && divisor <= 0:
		return reject("with reward_death_value %g and reward_win %g the largest return is %g; "+
			"want more than 0, or reward_scale=false", s.RewardDeath, s.RewardWin, divisor)
	case s.RewardScale && s.ScaleRate <= 0: // would remove or reverse the reward
		return reject("reward_scale_rate is %g, want more than 0, or reward_scale=false", s.ScaleRate)
	case s.MoveAmount != math.Trunc(s.MoveAmount) && (s.ObsPathing || s.ObsHeight): // observed points are whole moves away
		return reject("move_amount is %g, want a whole number with obs_pathing_grid or obs_terrain_height", s.MoveAmount)
	case !(s.SparseWin > 0) || s.SparseLoss >= s.SparseWin || s.SparseDraw >= s.SparseWin: // a win defines success
		return reject("sparse_win is %g, want more than 0, sparse_loss (%g) and sparse_draw (%g)", s.SparseWin,
			s.SparseLoss, s.SparseDraw)
	}
	return nil
}

// Task is a task of this package: the battles of a race.
type Task struct {
	envs.Common
	Settings
	race string
}

// DefaultProtoss returns the task smac/protoss_5_vs_5 (stalkers, zealots and colossi) with the benchmark's settings and
// the paper's sparse reward.
func DefaultProtoss() Task { return Task{envs.DefaultCommon(), DefaultSettings(), protossRace.name} }

// DefaultZerg returns the task smac/zerg_5_vs_5 (zerglings, hydralisks and banelings) with the benchmark's settings and
// the paper's sparse reward.
func DefaultZerg() Task { return Task{envs.DefaultCommon(), DefaultSettings(), zergRace.name} }

func init() {
	envs.Register(DefaultProtoss())
	envs.Register(DefaultZerg())
}

// Kind and WithShared implement envs.Config.
func (t Task) Kind() string                         { return "smac/" + t.race + "_5_vs_5" }
func (t Task) WithShared(s envs.Common) envs.Config { t.Common = s; return t }

// Build makes the environment.
func (t Task) Build(seed uint64, workers int) (envs.Env, error) {
	r := &protossRace
	if t.race == zergRace.name {
		r = &zergRace
	}
	return build(t.Kind(), t.Common, t.Settings, r, seed, workers)
}
