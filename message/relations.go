package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Relation is one of several graphs into the same destinations, with what its
// edges carry and how that is reduced.
type Relation struct {
	Graph *graph.Graph
	Msg   Msg
	By    Reducer
}

// UpdateRelations reduces every relation and then, for each destination, the
// results: across is Sum, Mean, Max or Min. A relation from which a destination
// hears nothing counts there with zero. Max and Min give a tie to the first.
func UpdateRelations(crossReducer Reducer, rels ...Relation) *grad.Var {
	const op = "message.UpdateRelations"
	if crossReducer > Min {
		panic(&grad.TapeError{Op: op, Why: "relations are not reduced by " + crossReducer.String()})
	}
	ys := updateEach(op, rels)
	y := ys[0]
	for _, z := range ys[1:] {
		switch crossReducer {
		case Sum, Mean:
			y = y.Add(z)
		case Max:
			y = y.Max(z)
		case Min:
			y = y.Min(z)
		}
	}
	if crossReducer == Mean {
		return y.Scale(1 / float64(len(ys)))
	}
	return y
}

// StackRelations reduces every relation and lays the results side by side: a row
// has an axis of the relations before those of the messages.
func StackRelations(rels ...Relation) *grad.Var {
	ys := updateEach("message.StackRelations", rels)
	shape := ys[0].Shape()
	flat := make([]*grad.Var, len(ys))
	for i, y := range ys {
		flat[i] = y.Reshape(shape[0], tensor.Size(shape[1:]...))
	}
	out := append([]int{shape[0], len(ys)}, shape[1:]...)
	return grad.Concat(flat...).Reshape(out...)
}

// updateEach reduces relations, whose results must have one shape.
func updateEach(op string, rels []Relation) []*grad.Var {
	if len(rels) == 0 {
		panic(&grad.TapeError{Op: op, Why: "no relation"})
	}
	ys := make([]*grad.Var, len(rels))
	for i, r := range rels {
		ys[i] = updateAll(op, r.Graph, r.Msg, []Reducer{r.By})
		if !slices.Equal(ys[i].Shape(), ys[0].Shape()) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(ys[0].Shape()), slices.Clone(ys[i].Shape())},
				Why: fmt.Sprintf("relation %d has another result than the first", i)})
		}
	}
	return ys
}
