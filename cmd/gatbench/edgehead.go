package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// pairHead gives edges their classes, labels or numbers, of what the layers make of both ends,
// h_u and h_v, and of the edge's own features e:
//
//	y = MLP(h_u ‖ h_v ‖ e),   and where direction means nothing   y = MLP(h_u + h_v ‖ |h_u − h_v| ‖ e),
//
// which is the same from v to u, to the bit. h is N×In and e is E×Own, or is not there; y has a row
// for each edge. An end without neighbours has the row that the layers give to such nodes.
type pairHead struct {
	In, Own  int
	Mirrored bool // direction means nothing

	MLP *layers.MLP `json:"-"`
}

// head returns the head of a recipe's networks; nil: nodes are told apart.
func (k *task) head(r *recipe) *pairHead {
	if k.pairs == nil {
		return nil
	}
	return &pairHead{In: r.width(), Own: widthOf(k.pairs.own), Mirrored: k.pairs.mirrored}
}

// build makes the head's network, with a hidden layer as wide as the rows of nodes.
func (h *pairHead) build(rng *rand.Rand, drop float64, outputs int) {
	h.MLP = &layers.MLP{Widths: []int{2*h.In + h.Own, h.In, outputs}, Drop: drop}
	h.MLP.Init(rng)
}

// Forward returns a row for each edge, of x, a row for each node.
func (h *pairHead) Forward(t *grad.Tape, x *grad.Var, of *ends) *grad.Var {
	defer t.Label("the head")()
	u, v := x.Rows(of.from), x.Rows(of.to)
	parts := []*grad.Var{u, v}
	if h.Mirrored {
		parts = []*grad.Var{u.Add(v), u.Sub(v).Abs()}
	}
	if of.own != nil {
		parts = append(parts, of.own)
	}
	return h.MLP.Forward(t, grad.Concat(parts...))
}

// says is what a head is made of, in words.
func (h *pairHead) says() string {
	text := "both ends"
	if h.Mirrored {
		text = "the sum and the distance of both ends"
	}
	switch {
	case h.Own == 1:
		text += " and a feature"
	case h.Own > 1:
		text += fmt.Sprintf(" and %d features", h.Own)
	}
	return fmt.Sprintf("edges by %s, a layer of %d", text, h.In)
}

// check returns an error for a head, as a file has it, that is not for a network's rows.
func (h *pairHead) check(in int) error {
	const most = 1 << 16
	if h.In != in || h.Own < 0 || h.Own > most {
		return fmt.Errorf("a head of edges for rows of %d and %d features, after layers of %d", h.In, h.Own, in)
	}
	return nil
}

// serve returns an error if a network tells other edges apart than these, which have that many
// features and are nil of a task on nodes.
func (h *pairHead) serve(p *pairs, own int) error {
	switch {
	case h == nil && p == nil:
		return nil
	case h == nil:
		return fmt.Errorf("it is a model of nodes, and edges are to be told apart")
	case p == nil:
		return fmt.Errorf("it is a model of edges, and nodes are to be told apart")
	case h.Mirrored && !p.mirrored:
		return fmt.Errorf("it is a model of edges without direction, and these have one: write undirected after the #, or --undirected in training")
	case p.mirrored && !h.Mirrored:
		return fmt.Errorf("it is a model of edges with a direction, and these have none")
	case h.Own != own:
		return fmt.Errorf("its head is for %d features of edges, and these have %d", h.Own, own)
	}
	return nil
}
