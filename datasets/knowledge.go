package datasets

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Knowledge is a knowledge graph: entities, and facts of which each is an edge from its
// head to its tail whose kind is the relation. The nodes of the three graphs are the
// entities.
type Knowledge struct {
	Name          string
	Entities      int
	EntityNames   []string // a name an entity; empty: they have none
	RelationNames []string // a name a relation
	Rules         []string // what was planted, in words; empty: nobody knows

	Train, Val, Test *graph.Graph
}

// LoadKnowledge reads a knowledge graph from text with a fact a line, head, relation and tail,
// all of them words or numbers, between tabs, commas, semicolons or spaces; a first line
// may name the columns. It is the form of FB15k-237 and WN18RR:
//
//	vienna	capital_of	austria
//
// path is a file, perhaps in gzip or zstd, of which all facts train, or a folder of
// train, valid (or val, dev) and test, with .txt, .tsv or .csv after it. A fact that
// stands there twice counts once, in the part that comes first. The error names the file,
// the line and the value.
func LoadKnowledge(path string) (*Knowledge, error) {
	raw, err := form.Load(path, form.Options{As: "triples"})
	if err != nil {
		return nil, err
	}
	return KnowledgeFrom(raw)
}

// KnowledgeFrom makes a knowledge graph of what files say: facts are the edges between nodes of one type, and relations their kinds, of which
// each may have a table of its own or be a word of a column. Facts that are in no part of a split train.
func KnowledgeFrom(raw *form.Raw) (*Knowledge, error) {
	if len(raw.Nodes) != 1 || len(raw.Edges) == 0 {
		return nil, fmt.Errorf("%s: want facts about entities of one type, and there are %d types of nodes and %d kinds of edges", raw.Name, len(raw.Nodes), len(raw.Edges))
	}
	if err := checkRaw(raw); err != nil {
		return nil, err
	}
	s, err := columns.Choose(raw, columns.Roles{})
	if err != nil {
		return nil, err
	}
	k := &Knowledge{Name: raw.Name, Entities: raw.Nodes[0].Rows}
	if raw.Nodes[0].IDs != nil {
		k.EntityNames = idsOf(&raw.Nodes[0])
	}
	var parts [3]facts
	seen, relations, before := map[[3]int32]bool{}, map[string]int{}, 0
	for i := range raw.Edges {
		e := &raw.Edges[i]
		part, err := partsOf(raw, s, i, before)
		if err != nil {
			return nil, err
		}
		kind := e.Column(s.Edges[i].Kind)
		for row, u := range e.Source {
			name := e.Kind
			if kind != nil && kind.Words != nil {
				name = kind.Words.At(row)
			}
			if name == "" && len(raw.Edges) == 1 {
				name = "to"
			}
			r, ok := relations[name]
			if !ok {
				r = len(k.RelationNames)
				relations[name], k.RelationNames = r, append(k.RelationNames, name)
			}
			if fact := [3]int32{u, int32(r), e.Target[row]}; !seen[fact] {
				seen[fact] = true
				parts[part[row]].add(int(u), r, int(e.Target[row]))
			}
		}
		before += e.Rows
	}
	if len(parts[0].heads) == 0 {
		return nil, fmt.Errorf("%s: there are no facts to train on", raw.Name)
	}
	k.Train, k.Val, k.Test = parts[0].graph(k.Entities), parts[1].graph(k.Entities), parts[2].graph(k.Entities)
	return k, nil
}

// partsOf returns the part of each edge of a table, 0 for those that train.
func partsOf(raw *form.Raw, s *columns.Schema, table, before int) ([]uint8, error) {
	e := &raw.Edges[table]
	part := make([]uint8, e.Rows)
	set := func(of form.Split, before int) {
		for p, rows := range [][]int32{of.Train, of.Val, of.Test} {
			for _, row := range rows {
				if at := int(row) - before; at >= 0 && at < len(part) {
					part[at] = uint8(p)
				}
			}
		}
	}
	for _, of := range raw.Splits[:min(1, len(raw.Splits))] {
		if of.Of == form.OfEdges {
			set(of, before)
		}
	}
	own, err := s.Parts(&e.Table, s.Edges[table].Part)
	if err == nil && own != nil {
		set(*own, 0)
	}
	return part, err
}

// Relations returns how many relations there are.
func (k *Knowledge) Relations() int { return len(k.RelationNames) }

// PlantedRules makes a knowledge graph of families without a relation between two of
// them. The members of a family sit around a table in an order that nobody is told, and six
// relations follow from it:
//
//	next      a → the neighbour on a's left
//	previous  its inverse
//	second    next after next
//	third     second after next
//	opposite  half way round, symmetric
//	across    opposite after next
//
// Each relation has one fact an entity. Of the relations but next, a tenth of the facts
// validates and a tenth tests; everything that is left trains, so that what is asked for
// follows by the rules from what is known. members is even, and more than 6 so that no two
// relations are one.
func PlantedRules(rng *rand.Rand, families, members int) (*Knowledge, error) {
	if families < 1 || members < 8 || members%2 != 0 || families > 1<<24/members {
		return nil, fmt.Errorf("datasets: %d families of %d members; want at least one, of an even number from 8, and 2²⁴ entities at most", families, members)
	}
	k := &Knowledge{
		Name: "planted rules", Entities: families * members,
		RelationNames: []string{"next", "previous", "second", "third", "opposite", "across"},
		Rules: []string{
			"previous(b, a) ⇔ next(a, b)", "second(a, c) ⇔ next(a, b) ∧ next(b, c)", "third(a, c) ⇔ next(a, b) ∧ second(b, c)",
			"opposite(a, b) ⇔ opposite(b, a)", "across(a, c) ⇔ next(a, b) ∧ opposite(b, c)",
		},
	}
	shifts := []int{1, members - 1, 2, 3, members / 2, members/2 + 1}
	entity := rng.Perm(k.Entities) // who sits where
	var parts [3]facts
	for r, shift := range shifts {
		for i, at := range rng.Perm(k.Entities) {
			part := 0
			if tenth := k.Entities / 10; r > 0 && i < 2*tenth {
				part = 1 + i/tenth
			}
			first := at / members * members
			parts[part].add(entity[at], r, entity[first+(at-first+shift)%members])
		}
	}
	k.Train, k.Val, k.Test = parts[0].graph(k.Entities), parts[1].graph(k.Entities), parts[2].graph(k.Entities)
	return k, nil
}

// facts is a list of facts.
type facts struct{ heads, relations, tails []int32 }

func (f *facts) add(head, relation, tail int) {
	f.heads, f.relations, f.tails = append(f.heads, int32(head)), append(f.relations, int32(relation)), append(f.tails, int32(tail))
}

// graph returns the facts as edges.
func (f *facts) graph(entities int) *graph.Graph {
	return graph.Must(graph.WithKinds(graph.Must(graph.New(entities, f.heads, f.tails)), f.relations))
}

// PlantedRelations makes a dataset whose labels only relations tell. Each node has a
// class as its feature, one-hot, and of each relation an edge from another node drawn at
// random; its label is the class of the source of relation 0. Who cannot tell the
// relations apart is right about relation 0 no more often than about any other. A fifth
// of the nodes validates, a fifth tests.
func PlantedRelations(rng *rand.Rand, nodes, relations, classes int) (*Dataset, error) {
	if nodes < 5 || relations < 1 || classes < 2 || relations > 1<<28/nodes {
		return nil, fmt.Errorf("datasets: %d nodes, %d relations, %d classes; want at least 5, 1 and 2, and 2²⁸ edges at most", nodes, relations, classes)
	}
	d := &Dataset{Name: "planted relations", Classes: classes, Labels: make([]int32, nodes)}
	class := make([]int32, nodes)
	for v := range class {
		class[v] = int32(rng.IntN(classes))
	}
	d.Features = oneHot(class, classes)
	var edges facts
	for v := range nodes {
		for r := range relations {
			u := (v + 1 + rng.IntN(nodes-1)) % nodes
			edges.add(u, r, v)
			if r == 0 {
				d.Labels[v] = class[u]
			}
		}
	}
	d.Graph = edges.graph(nodes)
	for v := range int32(nodes) {
		switch v % 5 {
		case 3:
			d.Split.Val = append(d.Split.Val, v)
		case 4:
			d.Split.Test = append(d.Split.Test, v)
		default:
			d.Split.Train = append(d.Split.Train, v)
		}
	}
	return d, nil
}

// oneHot returns a row for each class, 1 at it.
func oneHot(class []int32, classes int) *sparse.CSR {
	x := &sparse.CSR{NumRows: len(class), NumCols: classes, Offsets: make([]int64, 1, len(class)+1), Cols: class, Values: make([]tensor.Float, len(class))}
	for i := range class {
		x.Offsets, x.Values[i] = append(x.Offsets, int64(i+1)), 1
	}
	return x
}

// Divided returns k with shares of the training facts to validate and to test with,
// rounded down. Entities and relations of theirs are in a fact that trains, too; facts
// of which that cannot be said stay. The error says which part would have none.
func (k *Knowledge) Divided(rng *rand.Rand, val, test float64) (*Knowledge, error) {
	if !(val >= 0 && test >= 0 && val+test < 1) {
		return nil, fmt.Errorf("datasets: shares of %v and %v of the facts; want numbers from 0, together less than 1", val, test)
	}
	g := k.Train
	kinds, to, from := g.Kinds(), g.Destinations(), g.In().Cols
	entity, relation := make([]int, k.Entities), make([]int, k.Relations())
	for e, v := range to {
		entity[v]++
		entity[from[e]]++
		relation[kinds[e]]++
	}
	var parts [3]facts
	want := [3]int{0, int(val * float64(g.NumEdges())), int(test * float64(g.NumEdges()))}
	for _, e := range rng.Perm(g.NumEdges()) {
		u, v, r := from[e], to[e], kinds[e]
		part, least := 0, 1
		if u == v {
			least = 2 // it counted the entity twice
		}
		if entity[u] > least && entity[v] > least && relation[r] > 1 {
			for i := 1; i < 3 && part == 0; i++ {
				if len(parts[i].heads) < want[i] {
					part = i
				}
			}
		}
		if part > 0 {
			entity[u]--
			entity[v]--
			relation[r]--
		}
		parts[part].add(int(u), int(r), int(v))
	}
	for i, name := range []string{"", "validate", "test"} {
		if i > 0 && len(parts[i].heads) == 0 && [3]float64{0, val, test}[i] > 0 {
			return nil, fmt.Errorf("%s: of its %d facts none can be kept to %s with: each has an entity or a relation that no other fact has, or there are too few: name a folder of train.txt, valid.txt and test.txt", k.Name, g.NumEdges(), name)
		}
	}
	d := *k
	d.Train, d.Val, d.Test = parts[0].graph(k.Entities), parts[1].graph(k.Entities), parts[2].graph(k.Entities)
	return &d, nil
}
