package knowledge_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/tensor"
)

// triples is a golden case of PyG's scorers: facts, and as many that are wrong.
type triples struct {
	*golden.Case
	tp            *grad.Tape
	watched       map[string]*grad.Var // its Params
	facts, others *graph.Graph
	width         int // PyG's hidden_channels: of complex numbers where it has them
}

func newTriples(t *testing.T, name string) *triples {
	c := golden.Load(t, filepath.Join("testdata", name+".json"))
	s := &triples{Case: c, tp: grad.NewTape(1), watched: map[string]*grad.Var{}, width: int(c.Config["hidden_channels"].(float64))}
	kinds := c.Ints(t, "inputs", "edge_type")
	s.facts = graph.Must(graph.WithKinds(graph.Must(graph.New(c.Graph.NumSrc, c.Graph.Src, c.Graph.Dst)), kinds))
	src, dst := c.Ints(t, "inputs", "wrong_src"), c.Ints(t, "inputs", "wrong_dst")
	s.others = graph.Must(graph.WithKinds(graph.Must(graph.New(c.Graph.NumSrc, src, dst)), kinds))
	for key := range c.Params {
		s.watched[key] = s.tp.Watch(c.Tensor(t, "params", key))
	}
	return s
}

// entities are their rows, the imaginary parts after the real ones.
func (s *triples) entities() *grad.Var {
	x := s.watched["node_emb.weight"]
	if im := s.watched["node_emb_im.weight"]; im != nil {
		x = grad.Concat(x, im)
	}
	return x
}

// inOrder brings scores into the order of the facts.
func inOrder(g *graph.Graph, score *grad.Var) *grad.Var {
	back := make([]int32, g.NumEdges())
	for e, i := range g.EdgeOrder() {
		back[i] = int32(e)
	}
	return score.Rows(back).Reshape(-1)
}

// check compares the scores of facts and of wrong ones, a loss of both, and all
// gradients; relations are those of the Param by its name there.
func (s *triples) check(t *testing.T, score func(*graph.Graph) *grad.Var, loss func(right, wrong *grad.Var) *grad.Var, relations func(grad.Grads) map[string]*tensor.Dense) {
	t.Helper()
	right, wrong := inOrder(s.facts, score(s.facts)), inOrder(s.others, score(s.others))
	grads := s.CheckOutputs(t, s.tp, map[string]*grad.Var{"score": right, "wrong": wrong, "loss": loss(right, wrong)})
	all := relations(grads)
	for _, key := range []string{"node_emb.weight", "node_emb_im.weight"} {
		if v := s.watched[key]; v != nil {
			all[key] = grads.Of(v)
		}
	}
	s.CheckGrads(t, all)
}

// ranked is PyG's margin_ranking_loss, the mean of what of margin − right + wrong is above
// zero. This library has no loss like it: it is spelt here.
func (s *triples) ranked(right, wrong *grad.Var) *grad.Var {
	return wrong.Sub(right).Shift(s.Config["margin"].(float64)).ReLU().Mean()
}

// crossed is PyG's binary cross-entropy of as many facts and wrong ones: an Adversarial of
// no temperature with one wrong fact each.
func crossed(right, wrong *grad.Var) *grad.Var {
	at := make([]int32, right.Dim(0))
	for i := range at {
		at[i] = int32(i)
	}
	return knowledge.Adversarial{}.Of(right.Reshape(-1, 1), wrong.Reshape(-1, 1), at)
}

// PyG's TransE has no margin in its score, and brings heads and tails to length one, by
// the norm of its distance: ours leaves that to who gives it the rows. Its distance of the
// norm 2 is the root of what Squared takes.
func TestTransEPyG(t *testing.T) {
	for _, name := range []string{"transe_p1", "transe_p2"} {
		s := newTriples(t, name)
		l := &knowledge.TransE{Relations: 3, Width: s.width, Squared: name == "transe_p2"}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		l.R.Value = s.Tensor(t, "params", "rel_emb.weight")
		x := s.entities()
		if l.Squared {
			x = x.L2Normalise()
		} else {
			x = x.Div(x.Abs().SumAxis(1).Reshape(-1, 1))
		}
		score := func(g *graph.Graph) *grad.Var {
			y := l.Forward(s.tp, g, x)
			if l.Squared {
				y = y.Neg().Sqrt().Neg()
			}
			return y
		}
		s.check(t, score, s.ranked, func(grads grad.Grads) map[string]*tensor.Dense {
			return map[string]*tensor.Dense{"rel_emb.weight": grads.Param(l.R)}
		})
	}
}

func TestDistMultPyG(t *testing.T) {
	s := newTriples(t, "distmult")
	l := &knowledge.DistMult{Relations: 3, Width: s.width}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.R.Value = s.Tensor(t, "params", "rel_emb.weight")
	x := s.entities()
	s.check(t, func(g *graph.Graph) *grad.Var { return l.Forward(s.tp, g, x) }, s.ranked, func(grads grad.Grads) map[string]*tensor.Dense {
		return map[string]*tensor.Dense{"rel_emb.weight": grads.Param(l.R)}
	})
}

func TestComplExPyG(t *testing.T) {
	s := newTriples(t, "complex")
	l := &knowledge.ComplEx{Relations: 3, Width: 2 * s.width}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	re, im := s.Tensor(t, "params", "rel_emb.weight"), s.Tensor(t, "params", "rel_emb_im.weight")
	for r := range l.Relations {
		copy(l.R.Value.Row(r), re.Row(r))
		copy(l.R.Value.Row(r)[s.width:], im.Row(r))
	}
	x := s.entities()
	s.check(t, func(g *graph.Graph) *grad.Var { return l.Forward(s.tp, g, x) }, crossed, func(grads grad.Grads) map[string]*tensor.Dense {
		d := grad.Const(grads.Param(l.R))
		return map[string]*tensor.Dense{"rel_emb.weight": d.Columns(0, s.width).Value(), "rel_emb_im.weight": d.Columns(s.width, 2*s.width).Value()}
	})
}

// PyG's RotatE takes the root of the sum of the squared moduli, ours the sum of the
// moduli: of one complex number both are the same. Of more, PyG's distance is made here of
// our scores of each by itself.
func TestRotatEPyG(t *testing.T) {
	for _, name := range []string{"rotate_one", "rotate"} {
		s := newTriples(t, name)
		margin, phase := s.Config["margin"].(float64), s.Tensor(t, "params", "rel_emb.weight")
		ls, x := make([]*knowledge.RotatE, s.width), s.entities()
		for i := range ls {
			ls[i] = &knowledge.RotatE{Relations: 3, Width: 2}
			ls[i].Init(rand.New(rand.NewPCG(1, 1)))
			copy(ls[i].Phase.Value.Data, grad.Const(phase).Columns(i, i+1).Value().Data)
		}
		score := func(g *graph.Graph) *grad.Var {
			if s.width == 1 {
				ls[0].Margin = margin
				return ls[0].Forward(s.tp, g, x)
			}
			sum := grad.Const(tensor.New(g.NumEdges(), 1))
			for i, l := range ls {
				sum = sum.Add(l.Forward(s.tp, g, grad.Concat(x.Columns(i, i+1), x.Columns(s.width+i, s.width+i+1))).Square())
			}
			return sum.Sqrt().Neg().Shift(margin)
		}
		s.check(t, score, crossed, func(grads grad.Grads) map[string]*tensor.Dense {
			all := make([]*grad.Var, len(ls))
			for i, l := range ls {
				all[i] = grad.Const(grads.Param(l.Phase))
			}
			return map[string]*tensor.Dense{"rel_emb.weight": grad.Concat(all...).Value()}
		})
	}
}
