package knowledge

import (
	"github.com/edgewise-ml/edgewise/grad"
)

// Question asks for the end of a fact of which the other is known.
type Question struct {
	Entity, Relation int32
	Head             bool // the head is asked for, and Entity is the tail; else the tail
}

// Scores returns what a scorer says of each entity as the answer to a question; x has a row
// for each.
func Scores(s Scorer, x *grad.Var, q Question) []float64 {
	facts := every(x.Dim(0), []question{{q.Entity, q.Relation, q.Head, 0}})
	given := s.Forward(grad.NewEval(), facts, x).Value().Data
	scores := make([]float64, len(given))
	for e, k := range facts.EdgeOrder() {
		scores[k] = float64(given[e])
	}
	return scores
}
