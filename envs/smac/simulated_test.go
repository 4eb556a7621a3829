// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2/sc2test"
	"cermic/envs/smac/sc2api"
)

// simulated is a stand-in for the game in which the simulator fights the battles.
func simulated(k *rules, seed uint64) *sc2test.Yard {
	y, s := sc2test.NewYard(), newSimulator(k, rng.New(seed, "behind the game"))
	base := uint32(y.Types - 9)
	generation := uint64(0)
	y.Live = func(created []*sc2api.DebugCreateUnit, orders []*sc2api.ActionRawUnitCommand, loops uint32) []*sc2api.Unit {
		var seen []Sighting
		switch {
		case len(created) > 0:
			generation += 1000 // the real game never reuses a tag
			seen, _ = s.Deploy(requested(k, base, created), nil)
		case len(orders) > 0 || loops == loopsPerStep:
			seen, _ = s.Play(commandsOf(orders, generation), nil)
		default: // waiting for units to appear or disappear
			return nil
		}
		return apiUnits(base, generation, seen)
	}
	return y
}

// requested is the lineup of the requested units.
func requested(k *rules, base uint32, created []*sc2api.DebugCreateUnit) *Lineup {
	l := newLineup(k)
	for i, c := range created {
		number := c.GetUnitType()
		at := slices.IndexFunc(kinds[:], func(x kind) bool {
			return c.GetOwner() == 1 && base+x.offset == number || c.GetOwner() == 2 && x.stock == number
		})
		l.Types[i], l.At[i] = Type(at), [2]float32{c.GetPos().GetX(), c.GetPos().GetY()}
	}
	return l
}

func commandsOf(orders []*sc2api.ActionRawUnitCommand, generation uint64) []Command {
	var out []Command
	for _, o := range orders {
		c := Command{Tag: o.GetUnitTags()[0] - generation}
		switch o.GetAbilityId() {
		case sc2.Abilities[Stop]:
			c.Verb = Stop
		case sc2.Abilities[Move]:
			c.Verb, c.X, c.Y = Move, o.GetTargetWorldSpacePos().GetX(), o.GetTargetWorldSpacePos().GetY()
		case sc2.Abilities[Attack]:
			c.Verb, c.Target = Attack, o.GetTargetUnitTag()-generation
		}
		out = append(out, c)
	}
	return out
}

func apiUnits(base uint32, generation uint64, seen []Sighting) []*sc2api.Unit {
	var out []*sc2api.Unit
	for i := range seen {
		s := &seen[i]
		owner, number := int32(1), base+kinds[s.Type].offset
		if s.Enemy {
			owner, number = 2, kinds[s.Type].stock
		}
		out = append(out, &sc2api.Unit{
			Tag: proto.Uint64(s.Tag + generation), Owner: &owner, UnitType: &number, Pos: &sc2api.Point{X: &s.X, Y: &s.Y},
			Health: &s.Health, HealthMax: &s.HealthMax, Shield: &s.Shield, ShieldMax: &s.ShieldMax, WeaponCooldown: &s.Cooldown,
		})
	}
	return out
}

// realOn is a single environment on stand-ins at the given addresses.
func realOn(t *testing.T, s Settings, r *race, addresses ...string) realEnv {
	t.Helper()
	k := newRules(s, r)
	e := newEnv("smac/test", envs.Common{NumEnvs: 1, Reward: envs.Sparse}, k, 3, 1)
	f := attached(t, k, []byte("map"), addresses...)
	e.arenas[0].field = f
	t.Cleanup(f.release)
	return realEnv{e}
}

// The simulator behind the game's interface gives the same numbers at every step as used directly. The settings
// maximise the dependence on order and randomness.
func TestClientShowsTheSameBattleAsTheSimulatorItself(t *testing.T) {
	for _, r := range []*race{&protossRace, &zergRace} {
		s := DefaultSettings()
		s.ProbObsEnemy, s.EnemyMask, s.Enemies = 0.5, 0.3, 6
		direct := newEnv("smac/test", envs.Common{NumEnvs: 1, Reward: envs.Sparse}, newRules(s, r), 3, 1)
		direct.arenas[0].field = newSimulator(direct.rules, rng.New(8, "behind the game"))
		yard := simulated(direct.rules, 8)
		yard.Delay = 2
		remote := realOn(t, s, r, serve(t, &sc2test.Server{Game: yard}))
		a, b := newPlay(direct), newPlay(remote)
		for range 150 {
			a.next()
			b.next()
			must.Do(t, remote.Err())
			if field := a.difference(b); field != "" {
				t.Fatalf("%s: %s differs at step %d", r.name, field, a.steps)
			}
		}
		if a.episodes < 2 {
			t.Errorf("%s: %d episodes, too few for this test", r.name, a.episodes)
		}
	}
}

// playing drives a single environment with random allowed actions.
type playing struct {
	env             envs.Env
	out             *envs.Step
	act             *envs.Actions
	r               *rng.Rand
	steps, episodes int
	broken          int     // aborted episodes
	score           float64 // of finished episodes
}

func newPlay(env envs.Env) *playing {
	p := &playing{env: env, out: envs.NewStep(env.Spec()), act: envs.NewActions(env.Spec()), r: rng.New(1, "play")}
	env.Reset(nil, p.out)
	return p
}

func (p *playing) next() {
	pick(p.act.Discrete, p.out.Mask, p.env.Spec().Act.Choices, p.r)
	p.env.Step(p.act, p.out)
	p.steps++
	p.score += float64(p.out.Sparse[0])
	if p.out.Terminated[0]|p.out.Truncated[0] != 0 {
		p.episodes++
		if envs.Aborted(p.env, 0) {
			p.broken++
		}
		p.env.Reset(nil, p.out)
	}
}

func (p *playing) difference(q *playing) string {
	for name, pair := range map[string][2][]float32{
		"Obs": {p.out.Obs, q.out.Obs}, "State": {p.out.State, q.out.State}, "Dense": {p.out.Dense, q.out.Dense},
		"Sparse": {p.out.Sparse, q.out.Sparse}, "Score": {p.out.Score, q.out.Score},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			return name
		}
	}
	if !slices.Equal(p.out.Mask, q.out.Mask) || !slices.Equal(p.out.Alive, q.out.Alive) {
		return "Mask or Alive"
	}
	return ""
}

// A fault in the middle of an episode aborts that episode without a reward, and nothing else: the next one uses a new
// connection.
func TestAFaultOfTheGameCostsOneEpisodeOnly(t *testing.T) {
	for name, fault := range map[string]sc2test.Fault{
		"drop": sc2test.Drop, "malformed": sc2test.Malformed, "wrong id": sc2test.WrongID, "silence": sc2test.Silence,
		"complaint": sc2test.Complaint, "over": sc2test.Over,
	} {
		t.Run(name, func(t *testing.T) {
			k := newRules(DefaultSettings(), &zergRace)
			// Opening the game takes 6 requests, an episode 4 to start and 3 per step: request 24 advances the loops of
			// the fifth step.
			server := &sc2test.Server{Game: simulated(k, 5), Faults: map[int]sc2test.Fault{24: fault}}
			env := realOn(t, DefaultSettings(), &zergRace, serve(t, server))
			if fault == sc2test.Silence { // all other faults are detected at once, however busy the machine is
				env.arenas[0].field.(*realField).options.ReplyTimeout /= 5
			}
			p := newPlay(env)
			hit := false
			for p.steps < 60 || p.episodes < 3 {
				before := server.Requests()
				p.next()
				must.Do(t, env.Err())
				if before >= 24 || server.Requests() < 24 {
					continue
				}
				if hit = true; p.steps != 5 || p.episodes != 1 || p.score != 0 || p.broken != 1 {
					t.Fatalf("after the fault: %d episodes and score %g at step %d, want one without a score at step 5",
						p.episodes, p.score, p.steps)
				}
			}
			if !hit || p.broken != 1 {
				t.Errorf("one fault aborted %d episodes", p.broken)
			}
			if p.score == 0 || math.IsNaN(p.score) {
				t.Error("no episode got a reward after the fault")
			}
		})
	}
}

// An unavailable game is an error of one sentence, and a retry is possible.
func TestAGameThatCannotBeHadIsTold(t *testing.T) {
	k := newRules(DefaultSettings(), &zergRace)
	wrong := simulated(k, 1)
	wrong.Version = "5.0.13"
	few := simulated(k, 1)
	few.Types = 5
	strange := simulated(k, 1)
	known := strange.Live
	strange.Live = func(created []*sc2api.DebugCreateUnit, orders []*sc2api.ActionRawUnitCommand,
		loops uint32) []*sc2api.Unit {
		units := known(created, orders, loops)
		if len(units) > 0 {
			units[0].UnitType = proto.Uint32(5)
		}
		return units
	}
	never := simulated(k, 1)
	never.Delay = 1 << 20
	for name, c := range map[string]struct {
		address string
		version string
		want    string
	}{
		"version":  {serve(t, &sc2test.Server{Game: wrong}), "4.10", "task.sc2_version=5.0 "},
		"map":      {serve(t, &sc2test.Server{Game: few}), "", "SMACv2"},
		"types":    {serve(t, &sc2test.Server{Game: strange}), "", "4 agents and 5 enemies of known types, want 5 and 5"},
		"no units": {serve(t, &sc2test.Server{Game: never}), "", "after 1000 loops"},
		"silent":   {serve(t, &sc2test.Server{Game: simulated(k, 1), Loading: 1 << 20}), "", "no StarCraft II answers"},
		"no port":  {"the-other-room", "", `CERMIC_SC2_ADDRESS names "the-other-room", want host:port`},
		"bad port": {"127.0.0.1:sc2", "", "want host:port"},
	} {
		t.Run(name, func(t *testing.T) {
			env := realOn(t, DefaultSettings(), &zergRace, c.address)
			f := env.arenas[0].field.(*realField)
			if name == "silent" {
				f.options.StartTimeout /= 50
			}
			f.options.Version = c.version
			env.Reset(nil, envs.NewStep(env.Spec()))
			must.Refuse(t, env.Err(), c.want)
		})
	}
}

func TestMoreEnvsThanRunningGamesIsRefused(t *testing.T) {
	k := newRules(DefaultSettings(), &zergRace)
	address := serve(t, &sc2test.Server{Game: simulated(k, 1)})
	first, second := realOn(t, DefaultSettings(), &zergRace, address), realOn(t, DefaultSettings(), &zergRace, address)
	out := envs.NewStep(first.Spec())
	first.Reset(nil, out)
	must.Do(t, first.Err())
	second.Reset(nil, out)
	must.Refuse(t, second.Err(), "CERMIC_SC2_ADDRESS")
}

// After a restart, the battles of a stopped run end on the real game and new ones begin.
func TestALoadedRealGameBeginsNewBattles(t *testing.T) {
	k := newRules(DefaultSettings(), &zergRace)
	yard := simulated(k, 2)
	env := realOn(t, DefaultSettings(), &zergRace, serve(t, &sc2test.Server{Game: yard}))
	p := newPlay(env)
	for range 3 {
		p.next()
	}
	must.Do(t, env.Load(env.Save(nil)))
	before := p.episodes
	p.next()
	if p.episodes != before+1 || p.out.Sparse[0] != 0 {
		t.Errorf("%d episodes ended at the first step with reward %g; want one without a reward",
			p.episodes-before, p.out.Sparse[0])
	}
	for range 50 {
		p.next()
	}
	if err := env.Err(); err != nil || p.score == 0 {
		t.Error(fmt.Errorf("score %g after the restart: %w", p.score, err))
	}
	if n := len(yard.Races); n != 1 {
		t.Errorf("%d games were opened, want the existing one", n)
	}
}

// One game per environment may exceed the machine's memory, so a warning appears once, before the start.
func TestManyGamesAreAnnounced(t *testing.T) {
	log := must.Log(t)
	t.Setenv(sc2.FolderVariable, t.TempDir()) // contains no game
	t.Setenv(sc2.AddressVariable, "")
	warnOfMany = sync.Once{}
	for _, copies := range []int{manyGames, manyGames + 1, manyGames + 1} {
		task := DefaultZerg()
		task.Engine, task.NumEnvs = SC2, copies
		env := must.Value(task.Build(1, 1))
		env.Reset(nil, envs.NewStep(env.Spec()))
	}
	if strings.Count(log.String(), "task.copies") != 1 || !strings.Contains(log.String(), "copies=9") {
		t.Errorf("the log is %q, want one warning of 9 games", log.String())
	}
}

// pick draws allowed actions: the first one in the mask from a random index on.
func pick(choice []int32, mask []uint8, k int, r *rng.Rand) {
	for row := range choice {
		a := r.IntN(k)
		for mask[row*k+a] == 0 {
			a = (a + 1) % k
		}
		choice[row] = int32(a)
	}
}
