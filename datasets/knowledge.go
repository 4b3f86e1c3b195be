package datasets

import (
	"fmt"
	"math/rand/v2"

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
	return graph.Must(graph.Must(graph.New(entities, f.heads, f.tails)).WithKinds(f.relations))
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
