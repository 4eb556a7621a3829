// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
	"cermic/envs/conf"
)

// SPECTra is the agent network of SPECTra (Park, Seong and Ko 2025). An observation is a set of entities, read by
// single-agent query attention, so that no weight depends on how many there are.
//
//	x   = embedding of own, ally and object rows, one linear map for each type
//	z   = LayerNorm( x_own + MHA(x_own; X) )        query: own row, keys: all rows; cost linear in their number
//	h'  = GRU(z, h)
//	Q_k = linear in h' for actions without a target, mean over heads of ⟨Q·h', K·x_j⟩/√d if aimed at object j
//
// The order of allies does not matter; that of objects permutes the actions that aim at them. Source: the description
// of the authors' code (funny-rl/SPECTra). Reconstructed: the split of observations that are no list of units. The task
// gives it (envs.Spec.Entities). Allies are the relative data of peers; objects are packages, goals or enemies. All
// numbers that belong to no entity are the agent's own. LayerNorm has no gain and bias, which the linear map after it
// makes redundant. Deviation: entities with an all-zero row are not attended to, since the tasks here write zeros for
// entities out of sight; the authors attend to all. With a mixer of the same kind it is QMIX-SPECTra.
type SPECTra struct {
	Width int `json:"spectra_width" range:"1..8192" help:"width of embeddings and hidden state; the authors: 64"`
	Heads int `json:"spectra_heads" range:"1..256" help:"attention heads; the authors: 4"`
	Steps int `json:"bptt" range:"1..1000" help:"L, steps of truncated backpropagation through time"`

	_ conf.Constant `key:"revision" value:"2"` // since objects are projected before actions that aim at them are valued

	// Former settings.
	_ conf.Constant `key:"spectra_mask" value:"true"`
	_ conf.Constant `key:"core" value:"gru"`
}

func init() { Register(DefaultSPECTra()) }

// DefaultSPECTra has the authors' sizes.
func DefaultSPECTra() SPECTra { return SPECTra{Width: 64, Heads: 4, Steps: 20} }

// Kind is "spectra".
func (SPECTra) Kind() string { return "spectra" }

// Validate returns one sentence about the first impossible setting.
func (c SPECTra) Validate() error {
	if c.Width%c.Heads != 0 {
		return fmt.Errorf("spectra_width is %d, want a multiple of spectra_heads %d", c.Width, c.Heads)
	}
	return nil
}

// Build reads the task's entities; the weights are made when a graph first uses them.
func (c SPECTra) Build(b *nn.Build) (Policy, error) {
	if err := refuseContext(b, c); err != nil {
		return nil, err
	}
	p := spectra{SPECTra: c, spec: b.Spec, entities: splitEntities(b.Spec),
		choices: b.Spec.Act.Choices, targets: b.Spec.Act.Targets}
	if len(p.own) == 0 {
		return nil, fmt.Errorf("policy spectra asks from the observer's own numbers, and %s shows none that "+
			"belong to no other entity", b.Spec.Name)
	}
	if p.targets > len(p.objects) {
		return nil, fmt.Errorf("%s has %d actions that aim at objects and shows %d objects",
			b.Spec.Name, p.targets, len(p.objects))
	}
	return recurrent{width: c.Width, steps: c.Steps, read: p.attend, head: p.values}, nil
}

// spectra is the network around the recurrent layer.
type spectra struct {
	SPECTra
	entities
	spec             *envs.Spec
	choices, targets int // K, and how many of the last ones aim at the first objects
}

// attend maps observations [R,I] to z [R,W] and the embeddings of the objects [R,J,W], nil if there are none.
func (p spectra) attend(sc *model.Scope, obs *Node) (z, objects *Node) {
	if p.spec.CellLen() > 0 {
		return p.attendCells(sc, obs), nil
	}
	own := nn.Linear(sc.At("own"), Concatenate(cut(obs, p.own), -1), p.Width)
	tokens, exist := []*Node{InsertAxes(own, 1)}, []*Node{OnesLike(Slice(own, AxisRange(), AxisRange(0, 1)))}
	embed := func(name string, spans []span) *Node {
		raw := Stack(cut(obs, spans), 1) // [R,J,length]
		d := raw.Shape().Dimensions
		x := Reshape(nn.Linear(sc.At("%s", name), rows(raw), p.Width), d[0], d[1], p.Width)
		tokens, exist = append(tokens, x), append(exist, ReduceMax(Abs(raw), -1))
		return x
	}
	if len(p.allies) > 0 {
		embed("ally", p.allies)
	}
	if len(p.objects) > 0 {
		objects = embed("object", p.objects)
	}
	heard := p.attention(sc.At("attention"), own, Concatenate(tokens, 1), Concatenate(exist, 1))
	return nn.Normalize(Add(own, heard)), objects
}

// attendCells is attend for an observation of cells. Each cell is an entity, described by the features of its picture
// and by its place. The own row is the whole view of the observer.
//
// Reading: the authors' tasks have no pictures. Features come from the first convolution, as later ones belong to no
// cell.
func (p spectra) attendCells(sc *model.Scope, obs *Node) (z *Node) {
	own := nn.Linear(sc.At("own"), nn.ReadObs(sc, p.spec, obs), p.Width)
	_, tiles := nn.ReadTiles(sc, p.spec, obs)
	d := tiles.Shape().Dimensions
	places := make([][]float32, d[1])
	for k := range places {
		h, w := p.spec.Obs[0], p.spec.Obs[1]
		places[k] = []float32{float32(2*(k/w)+1)/float32(h) - 1, float32(2*(k%w)+1)/float32(w) - 1}
	}
	at := BroadcastToDims(InsertAxes(ConvertDType(Const(obs.Graph(), places), obs.DType()), 0), d[0], d[1], 2)
	x := nn.Linear(sc.At("cell"), rows(Concatenate([]*Node{tiles, at}, -1)), p.Width)
	tokens := Concatenate([]*Node{InsertAxes(own, 1), Reshape(x, d[0], d[1], p.Width)}, 1)
	exists := OnesLike(Squeeze(Slice(tokens, AxisRange(), AxisRange(), AxisRange(0, 1)), -1))
	heard := p.attention(sc.At("attention"), own, tokens, exists)
	return nn.Normalize(Add(own, heard))
}

// attention is multi-head attention with queries from own [R,W] and keys from all tokens [R,M,W]; exists [R,M] is 0 for
// absent ones.
func (p spectra) attention(sc *model.Scope, own, tokens, exists *Node) *Node {
	d := tokens.Shape().Dimensions
	query := p.split(nn.Linear(sc.At("query"), own, p.Width))
	key := Reshape(nn.Linear(sc.At("key"), rows(tokens), p.Width), d[0], d[1], p.Heads, -1)
	value := Reshape(nn.Linear(sc.At("value"), rows(tokens), p.Width), d[0], d[1], p.Heads, -1)
	scores := p.scaled(ReduceSum(Mul(InsertAxes(query, 1), key), -1)) // [R,M,H]
	scores = nn.Allowed(scores, BroadcastToDims(InsertAxes(exists, -1), d[0], d[1], p.Heads))
	return Reshape(ReduceSum(Mul(InsertAxes(Softmax(scores, 1), -1), value), 1), d[0], p.Width)
}

// split cuts x [R,W] into heads [R,H,W/H].
func (p spectra) split(x *Node) *Node { return Reshape(x, -1, p.Heads, p.Width/p.Heads) }

// scaled divides dot products of heads by the root of their length.
func (p spectra) scaled(x *Node) *Node { return DivScalar(x, math.Sqrt(float64(p.Width/p.Heads))) }

// values maps h [R,W] and the objects' embeddings to [R,out]: actions without a target, then actions that aim at
// objects.
func (p spectra) values(sc *model.Scope, h, objects *Node, out int) *Node {
	if p.targets == 0 || out != p.choices {
		return nn.Linear(sc.At("out"), h, out)
	}
	free := nn.Linear(sc.At("out"), h, out-p.targets)
	query := p.split(nn.Linear(sc.At("aim"), h, p.Width))
	aimed := Slice(objects, AxisRange(), AxisRange(0, p.targets)) // [R,J,W]
	key := Reshape(nn.Linear(sc.At("aimed"), rows(aimed), p.Width), -1, p.targets, p.Heads, p.Width/p.Heads)
	aim := ReduceMean(p.scaled(ReduceSum(Mul(InsertAxes(query, 1), key), -1)), -1)
	return Concatenate([]*Node{free, aim}, -1)
}

// span is a run of numbers [from, to) of an observation.
type span struct{ from, to int }

// entities holds the places of a set network's rows in an observation.
type entities struct {
	own             []span // all of the observer: its own spans and all numbers of no entity
	allies, objects []span // one each
}

// splitEntities reads the entities of a task; without any, all numbers are the agent's own.
func splitEntities(s *envs.Spec) entities {
	var e entities
	own := slices.Repeat([]bool{true}, s.ObsLen())
	for _, x := range s.Entities {
		switch x.Kind {
		case envs.Ally:
			e.allies = append(e.allies, span{x.From, x.To})
			clear(own[x.From:x.To])
		case envs.Object:
			e.objects = append(e.objects, span{x.From, x.To})
			clear(own[x.From:x.To])
		}
	}
	for _, x := range s.Entities {
		for i := x.From; x.Kind == envs.Own && i < x.To; i++ { // may overlap with rows of entities
			own[i] = true
		}
	}
	for i, mine := range own {
		switch {
		case mine && (i == 0 || !own[i-1]):
			e.own = append(e.own, span{i, i + 1})
		case mine:
			e.own[len(e.own)-1].to++
		}
	}
	return e
}

// cut returns the spans of obs [R,O].
func cut(obs *Node, spans []span) []*Node {
	parts := make([]*Node, len(spans))
	for k, s := range spans {
		parts[k] = Slice(obs, AxisRange(), AxisRange(s.from, s.to))
	}
	return parts
}
