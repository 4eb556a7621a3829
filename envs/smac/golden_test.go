// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/smac/sc2/sc2test"
)

// golden is one recording of the original; testdata/golden/README.md describes every field.
type golden struct {
	Name     string
	Args     arguments `json:"env_args"`
	Base     uint32    `json:"base_unit_type"`
	Map      goldenMap
	Dims     goldenDims
	Episodes []goldenEpisode
	Stats    struct {
		Won   int `json:"battles_won"`
		Game  int `json:"battles_game"`
		Draws int `json:"battles_draw"`
		Late  int `json:"timeouts"`
	}
}

type goldenMap struct {
	X       int      `json:"map_x"`
	Y       int      `json:"map_y"`
	Play    [4]int   `json:"playable"`
	Bits    int      `json:"pathing_bits_per_pixel"`
	Pathing []string `json:"pathing_rows"`
	Heights [][]int  `json:"height_rows"`
}

type goldenDims struct {
	Agents  int    `json:"n_agents"`
	Enemies int    `json:"n_enemies"`
	Actions int    `json:"n_actions"`
	Obs     int    `json:"obs_size"`
	State   int    `json:"state_size"`
	Move    int    `json:"move_feats"`
	Enemy   [2]int `json:"enemy_feats"`
	Ally    [2]int `json:"ally_feats"`
	Own     int    `json:"own_feats"`
	Limit   int    `json:"episode_limit"`
}

type goldenEpisode struct {
	Style      string
	AllyTeam   []string     `json:"ally_team"`
	EnemyTeam  []string     `json:"enemy_team"`
	AllyStart  [][2]float64 `json:"ally_start"`
	EnemyStart [][2]float64 `json:"enemy_start"`
	EnemyMask  [][]float64  `json:"enemy_mask"`
	Frames     []goldenFrame
}

type goldenFrame struct {
	Units      [][10]float64
	Actions    []int32
	Commands   []goldenCommand
	Reward     float64
	Terminated bool
	Info       *goldenInfo
	MaxReward  float64   `json:"max_reward"`
	Order      []int32   `json:"obs_order"`
	Draws      []float64 `json:"rand_draws"`
	Obs        [][]float32
	State      []float32
	Avail      []string
	AgentTags  []uint64 `json:"agent_tags"`
	EnemyTags  []uint64 `json:"enemy_tags"`
}

type goldenInfo struct {
	Won    bool `json:"battle_won"`
	Allies int  `json:"dead_allies"`
	Foes   int  `json:"dead_enemies"`
	Limit  bool `json:"episode_limit"`
}

type goldenCommand struct {
	Ability int                     `json:"ability_id"`
	Pos     *struct{ X, Y float32 } `json:"target_world_space_pos"`
	Target  string                  `json:"target_unit_tag"`
	Tags    []string                `json:"unit_tags"`
}

// session is a recording file: a case and, in a transcript, the messages exchanged with the game.
type session struct {
	golden
	Rows []sc2test.Row // of a transcript, which also contains Case
	Case *golden
}

// sessions runs a subtest for each recording with messages, or without. An unreadable recording fails only its own
// subtest. Other recordings may lack one kind.
func sessions(t *testing.T, messages bool, visit func(t *testing.T, s *session)) {
	t.Helper()
	found := 0
	for _, file := range envtest.Recordings(t, "smac", "*.json.gz") {
		if envtest.OwnRecordings() && messages != strings.HasPrefix(filepath.Base(file), "transcript_") {
			continue // saves parsing; the content decides
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			s := new(session)
			envtest.ReadRecording(t, file, s)
			if (len(s.Rows) > 0) != messages {
				t.Skipf("messages with the game: %v, wanted: %v", len(s.Rows) > 0, messages)
			}
			found++
			visit(t, s)
		})
	}
	if found == 0 && !t.Failed() && envtest.OwnRecordings() {
		t.Error("no such recording")
	}
}

// rules returns the rules of a recording. An unsupported argument fails the test.
func (g *golden) rules(t *testing.T) *rules {
	t.Helper()
	s, race, err := g.Args.settings()
	must.Do(t, err)
	s.MaxSteps = g.Dims.Limit
	must.Do(t, s.validate(g.Name, race))
	k := newRules(s, race)
	k.ground = g.Map.terrain()
	return k
}

func (m *goldenMap) terrain() *Terrain {
	t := &Terrain{
		Width: m.X, Height: m.Y, PlayWidth: m.Play[2] - m.Play[0], PlayHeight: m.Play[3] - m.Play[1],
		Pathable: make([]bool, m.X*m.Y), Level: make([]uint8, m.X*m.Y),
	}
	for y, row := range m.Pathing {
		for x := range row {
			t.Pathable[y*m.X+x] = row[x] == '1'
			if m.Heights != nil {
				t.Level[y*m.X+x] = uint8(m.Heights[y][x])
			}
		}
	}
	return t
}

// sightings returns a frame's units in game order.
func (g *golden) sightings(t *testing.T, f *goldenFrame) []Sighting {
	t.Helper()
	var seen []Sighting
	for _, row := range f.Units {
		s := Sighting{Tag: uint64(row[0]), Enemy: row[1] == 2}
		number := uint32(row[2])
		at := slices.IndexFunc(kinds[:], func(k kind) bool {
			return s.Enemy && k.stock == number || !s.Enemy && k.offset+g.Base == number
		})
		if at < 0 {
			t.Fatalf("unit type %d is unknown", number)
		}
		s.Unit = Unit{
			Type: Type(at), X: float32(row[3]), Y: float32(row[4]), Health: float32(row[5]), HealthMax: float32(row[6]),
			Shield: float32(row[7]), ShieldMax: float32(row[8]), Cooldown: float32(row[9]),
		}
		seen = append(seen, s)
	}
	return seen
}

// lineup returns the requested start of an episode.
func (ep *goldenEpisode) lineup(t *testing.T, k *rules) *Lineup {
	t.Helper()
	l := newLineup(k)
	for i, name := range append(slices.Clone(ep.AllyTeam), ep.EnemyTeam...) {
		at := slices.IndexFunc(kinds[:], func(k kind) bool { return k.name == name })
		if at < 0 {
			t.Fatalf("unit %q is unknown", name)
		}
		l.Types[i] = Type(at)
	}
	for i, at := range append(slices.Clone(ep.AllyStart), ep.EnemyStart...) {
		l.At[i] = [2]float32{float32(at[0]), float32(at[1])}
	}
	return l
}
