package knowledge

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/train"
)

// candidates is how many facts are scored at a time.
const candidates = 1 << 16

// Ranks returns the filtered rank of each fact of test, twice: of its tail among all
// entities, then of its head. Entities that make another fact of known do not count;
// known is usually the facts to train, to validate and to test with. It panics with a
// [*grad.TapeError] where a graph has edges without kinds, or more nodes than test.
func Ranks(s Scorer, x *grad.Var, test *graph.Graph, known ...*graph.Graph) train.Ranks {
	for i, g := range append([]*graph.Graph{test}, known...) {
		op := "knowledge.Ranks: test"
		if i > 0 {
			op = fmt.Sprintf("knowledge.Ranks: known graph %d", i)
		}
		wantGraph(op, g)
		if wantKinds(op, g); g.NumNodes() > test.NumNodes() {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("it has %d entities, and test %d: number those of all parts alike", g.NumNodes(), test.NumNodes())})
		}
	}
	right := answers(known)
	var questions []question
	kinds := test.Kinds()
	for e, tail := range test.Destinations() {
		head := test.In().Cols[e]
		questions = append(questions, question{head, kinds[e], false, tail}, question{tail, kinds[e], true, head})
	}
	n := test.NumNodes()
	ranks := make(train.Ranks, 0, len(questions))
	t := grad.NewEval()
	size := max(1, candidates/max(1, n))
	for lo := 0; lo < len(questions); lo += size {
		part := questions[lo:min(lo+size, len(questions))]
		facts := every(n, part)
		given := s.Forward(t, facts, x).Value().Data
		scores := make([]float64, len(given)) // in the list's order
		for e, k := range facts.EdgeOrder() {
			scores[k] = float64(given[e])
		}
		for i, q := range part {
			key := q
			key.answer = 0
			ranks.Add(scores[i*n:(i+1)*n], int(q.answer), right[key])
		}
		t.ResetEval()
	}
	return ranks
}

// question asks for the end of a fact of which the other is known.
type question struct {
	entity, relation int32
	forHead          bool
	answer           int32
}

// answers returns the answers of each question, whose own answer is 0, by some facts.
func answers(known []*graph.Graph) map[question][]int32 {
	of := map[question][]int32{}
	for _, g := range known {
		kinds := g.Kinds()
		for e, tail := range g.Destinations() {
			head := g.In().Cols[e]
			q := question{entity: head, relation: kinds[e]}
			of[q] = append(of[q], tail)
			q = question{entity: tail, relation: kinds[e], forHead: true}
			of[q] = append(of[q], head)
		}
	}
	return of
}

// every returns the graph of all answers to some questions, among n entities, whose list
// is one question after another.
func every(n int, questions []question) *graph.Graph {
	edges := len(questions) * n
	src, dst, kinds := make([]int32, edges), make([]int32, edges), make([]int32, edges)
	for i, q := range questions {
		for v := range n {
			k := i*n + v
			src[k], dst[k], kinds[k] = q.entity, int32(v), q.relation
			if q.forHead {
				src[k], dst[k] = int32(v), q.entity
			}
		}
	}
	return graph.Must(graph.WithKinds(graph.Must(graph.New(n, src, dst)), kinds))
}
