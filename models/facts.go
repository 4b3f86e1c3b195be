package models

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/train"
)

// FactSettings are what a model of facts is made from.
type FactSettings struct {
	Hidden int     // width of an entity's row; 0: 64
	Margin float64 `json:",omitempty"` // TransE and RotatE: the score of a fact at distance 0; 0: 6; none: [grad.Zero]
}

// FactModel is a model of the facts of a knowledge graph and its settings: [TransE], [DistMult], [ComplEx] or
// [RotatE].
type FactModel interface {
	// fact returns the name of the model, as [FactNames] has it, and its settings.
	fact() (name string, s FactSettings)
}

// TransE adds the relation to the head: Bordes and others, "Translating embeddings for modeling multi-relational
// data", NIPS 2013.
type TransE FactSettings

func (m TransE) fact() (string, FactSettings) { return modelTransE, FactSettings(m) }

// DistMult weighs the product of head and tail: Yang and others, "Embedding entities and relations for learning and
// inference in knowledge bases", ICLR 2015.
type DistMult FactSettings

func (m DistMult) fact() (string, FactSettings) { return modelDistMult, FactSettings(m) }

// ComplEx is [DistMult] of complex numbers, two columns each: Trouillon and others, "Complex embeddings for simple
// link prediction", ICML 2016.
type ComplEx FactSettings

func (m ComplEx) fact() (string, FactSettings) { return modelComplEx, FactSettings(m) }

// RotatE turns the head by the relation's angles, of complex numbers of two columns each: Sun and others, "RotatE",
// ICLR 2019.
type RotatE FactSettings

func (m RotatE) fact() (string, FactSettings) { return modelRotatE, FactSettings(m) }

const (
	modelTransE   = "transe"
	modelDistMult = "distmult"
	modelComplEx  = "complex"
	modelRotatE   = "rotate"
)

var factNames = []string{modelTransE, modelDistMult, modelComplEx, modelRotatE}

// FactNames returns the names of the models of facts.
func FactNames() []string { return slices.Clone(factNames) }

// FactNetwork is a row for each entity, and a scorer that knows the relations. Its JSON holds what it is made of, from
// which Init makes the Params again.
type FactNetwork struct {
	Model     string // as [FactNames] has it
	Settings  FactSettings
	Count     int // entities
	Relations int

	Scorer   knowledge.Scorer `json:"-"`
	Entities *grad.Param      `json:"-"`
}

// NewFacts returns an initialised network for facts of so many entities and relations.
func NewFacts(m FactModel, entities, relations int, seed uint64) (*FactNetwork, error) {
	if m == nil {
		return nil, errors.New("models: the model is nil: name one, such as models.RotatE{}")
	}
	name, s := m.fact()
	s.Hidden = cmp.Or(s.Hidden, 64)
	if name == modelTransE || name == modelRotatE {
		s.Margin = cmp.Or(s.Margin, 6)
	}
	n := &FactNetwork{Model: name, Settings: s, Count: entities, Relations: relations}
	if err := n.Check(); err != nil {
		return nil, err
	}
	n.Init(rand.New(rand.NewPCG(seed, 0)))
	return n, nil
}

// Check returns an error for what a network cannot be made of.
func (n *FactNetwork) Check() error {
	const most = 1 << 28
	s, even := &n.Settings, n.Model == modelComplEx || n.Model == modelRotatE
	switch {
	case !slices.Contains(factNames, n.Model):
		return unnamed("model of facts", n.Model, factNames)
	case n.Count < 1 || n.Count > most || n.Relations < 1 || n.Relations > most:
		return fmt.Errorf("models: %d entities and %d relations: want from 1 to %d of each", n.Count, n.Relations, most)
	case s.Hidden < 1 || s.Hidden > widest || even && s.Hidden%2 != 0:
		return fmt.Errorf("models: Hidden %d: want a width from 1 to %d, and an even one for complex and rotate, whose numbers are complex", s.Hidden, widest)
	case !(s.Margin >= 0) || s.Margin-s.Margin != 0:
		return fmt.Errorf("models: Margin %v: want a number that is not negative", s.Margin)
	case s.Margin != 0 && (n.Model == modelDistMult || n.Model == modelComplEx):
		return fmt.Errorf("models: %s has no setting Margin: leave it out; transe and rotate have it", n.Model)
	}
	return nil
}

// Init makes the Params, which it draws.
func (n *FactNetwork) Init(rng *rand.Rand) {
	width, margin := n.Settings.Hidden, grad.Preset(n.Settings.Margin, 0)
	n.Entities = grad.NewParam(n.Count, width)
	switch n.Model {
	case modelTransE:
		n.Scorer = &knowledge.TransE{Relations: n.Relations, Width: width, Margin: margin}
	case modelDistMult:
		n.Scorer = &knowledge.DistMult{Relations: n.Relations, Width: width}
	case modelComplEx:
		n.Scorer = &knowledge.ComplEx{Relations: n.Relations, Width: width}
	default:
		n.Scorer = &knowledge.RotatE{Relations: n.Relations, Width: width, Margin: margin}
	}
	n.Scorer.Init(rng)
	n.Entities.Value.Uniform(rng, -1, 1)
}

// Forward returns the score of each fact, an edge from head to tail whose kind is the relation.
func (n *FactNetwork) Forward(t *grad.Tape, facts *graph.Graph) *grad.Var {
	return n.Scorer.Forward(t, facts, t.Use(n.Entities))
}

// Numbers is how many numbers, at least, the Params of a network have. They need not be there.
func (n *FactNetwork) Numbers() int64 {
	return (int64(n.Count) + int64(n.Relations)/2) * int64(n.Settings.Hidden)
}

// String is the model's name for people.
func (n *FactNetwork) String() string {
	return map[string]string{modelTransE: "TransE", modelDistMult: "DistMult", modelComplEx: "ComplEx", modelRotatE: "RotatE"}[n.Model]
}

// FactAnswer is a fact that answers a question.
type FactAnswer struct {
	Fact  [3]string // head, relation and tail
	Rank  float64   // among the answers to its question, from 1; of a whole fact that of its tail, without other facts that are known
	Score float64
	Known string // train, val or test: the part of the data that has it; empty: none
}

// Ask answers one question about facts, as [Asker.Ask] does.
func (p *Predictor) Ask(question [3]string, known *datasets.Knowledge, top int, all bool) ([]FactAnswer, error) {
	a, err := p.Asker(known)
	if err != nil {
		return nil, err
	}
	return a.Ask(question, top, all)
}

// Ask answers a question about facts, or scores a whole fact. A question is a head, a relation and a tail, of which one end is "?". It has as
// many answers as top, the best first, and with all also what is known.
func (a *Asker) Ask(question [3]string, top int, all bool) ([]FactAnswer, error) {
	q, ends, err := a.read(question)
	if err != nil {
		return nil, err
	}
	x := grad.Const(a.net.Entities.Value)
	if ends[0] >= 0 && ends[1] >= 0 {
		return []FactAnswer{a.whole(ends, q)}, nil
	}
	scores := knowledge.Scores(a.net.Scorer, x, q)
	order := numbersTo(len(scores))
	if !all {
		order = slices.DeleteFunc(order, func(v int32) bool { return a.known[a.fact(q, v)] != "" })
	}
	sort.SliceStable(order, func(i, j int) bool { return scores[order[i]] > scores[order[j]] })
	var out []FactAnswer
	for i, v := range order[:min(max(0, top), len(order))] {
		fact := a.fact(q, v)
		out = append(out, FactAnswer{a.named(fact), float64(i + 1), scores[v], a.known[fact]})
	}
	return out, nil
}

// Asker answers questions about facts by a model of them.
type Asker struct {
	*Learnt
	net                 *FactNetwork
	entities, relations map[string]int32
	known               map[[3]int32]string // the part of each fact
}

// Asker returns what answers questions. known says which facts there are, of entities and relations of the same names; nil: none.
func (p *Predictor) Asker(known *datasets.Knowledge) (*Asker, error) {
	if err := p.answers(Facts); err != nil {
		return nil, err
	}
	a := &Asker{Learnt: p.Learnt, net: p.Net.(*FactNetwork), known: map[[3]int32]string{}}
	a.entities, a.relations = places(a.IDs), places(a.Relations)
	if known == nil {
		return a, nil
	}
	name := func(names []string, i int32) string {
		if len(names) == 0 {
			return fmt.Sprint(i)
		}
		return names[i]
	}
	for _, part := range []string{"train", "val", "test"} {
		g := known.Train
		switch part {
		case "val":
			g = known.Val
		case "test":
			g = known.Test
		}
		kinds := g.Kinds()
		for i, v := range g.Destinations() {
			head, ok := a.entities[name(known.EntityNames, g.In().Cols[i])]
			tail, too := a.entities[name(known.EntityNames, v)]
			relation, three := a.relations[name(known.RelationNames, kinds[i])]
			if ok && too && three {
				a.known[[3]int32{head, relation, tail}] = part
			}
		}
	}
	return a, nil
}

// places returns where each text stands, of several the same the first.
func places(texts []string) map[string]int32 {
	at := make(map[string]int32, len(texts))
	for i := len(texts) - 1; i >= 0; i-- {
		at[texts[i]] = int32(i)
	}
	return at
}

// read returns the question that a fact asks, and its ends, -1 for one that is asked for.
func (a *Asker) read(f [3]string) (q knowledge.Question, ends [2]int32, err error) {
	find := func(what, text string, names []string, at map[string]int32) (int32, error) {
		i, ok := at[text]
		if !ok {
			const most = 10_000
			return 0, fmt.Errorf("there is no %s %.40q; is it %.40q?", what, text, spell.Nearest(text, names[:min(len(names), most)]))
		}
		return i, nil
	}
	relation, err := find("relation", f[1], a.Relations, a.relations)
	if err != nil {
		return q, ends, err
	}
	if f[0] == "?" && f[2] == "?" {
		return q, ends, errors.New("both ends are asked for: name one of them")
	}
	ends = [2]int32{-1, -1}
	for i, text := range []string{f[0], f[2]} {
		if text != "?" {
			if ends[i], err = find("entity", text, a.IDs, a.entities); err != nil {
				return q, ends, err
			}
		}
	}
	q = knowledge.Question{Entity: max(ends[0], ends[1]), Relation: relation, Head: f[0] == "?"}
	return q, ends, nil
}

// fact is the fact that an entity makes of a question.
func (a *Asker) fact(q knowledge.Question, entity int32) [3]int32 {
	if q.Head {
		return [3]int32{entity, q.Relation, q.Entity}
	}
	return [3]int32{q.Entity, q.Relation, entity}
}

// named is a fact by its names.
func (a *Asker) named(f [3]int32) [3]string {
	return [3]string{a.IDs[f[0]], a.Relations[f[1]], a.IDs[f[2]]}
}

// whole scores a fact, and ranks its tail.
func (a *Asker) whole(ends [2]int32, q knowledge.Question) FactAnswer {
	q = knowledge.Question{Entity: ends[0], Relation: q.Relation}
	scores := knowledge.Scores(a.net.Scorer, grad.Const(a.net.Entities.Value), q)
	var others []int32
	for v := range int32(len(scores)) {
		if v != ends[1] && a.known[a.fact(q, v)] != "" {
			others = append(others, v)
		}
	}
	var ranks train.Ranks
	ranks.Add(scores, int(ends[1]), others)
	fact := a.fact(q, ends[1])
	return FactAnswer{a.named(fact), ranks[0], scores[ends[1]], a.known[fact]}
}
