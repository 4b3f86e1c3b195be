package sequence

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// places are, level by level, the graphs to the places of the nodes' children. They are
// found level by level, as a sweep comes by.
type places struct {
	arity  int
	levels []atomic.Pointer[graph.Graph]
}

// placesKey is of graphs with these kinds; graphs that differ in them alone share what
// is derived.
type placesKey struct {
	arity int
	kinds *int32
}

// childrenOf returns the places of the children of g's nodes, which it keeps with g.
func (c cell) childrenOf(g *graph.Graph) *places {
	key := placesKey{arity: c.arity}
	if k := g.Kinds(); len(k) > 0 {
		c.checkKinds(g)
		key.kinds = &k[0]
	}
	return graph.Derive(g, key, func() *places {
		levels, err := g.Levels()
		if err != nil {
			panic(err)
		}
		return &places{c.arity, make([]atomic.Pointer[graph.Graph], max(1, levels.Len()))} // a sweep over no nodes has a level, too
	})
}

// of returns for each node of the level the rows of its children side by side, each
// in the place that its edge's kind says, with zeros where there is none. An edge without
// a kind, such as that from an initial state, is of kind 0.
func (p *places) of(lv *message.Level, x *grad.Var) *grad.Var {
	g := p.levels[lv.N].Load()
	if g == nil {
		g = placesOf(lv.In, p.arity)
		p.levels[lv.N].Store(g)
	}
	return message.UpdateAll(g, message.CopyU(x), message.Sum).Reshape(lv.In.NumDst(), p.arity*x.Dim(-1))
}

// placesOf returns g with arity destinations in the place of each: an edge of kind k leads
// to the k-th of them.
func placesOf(g *graph.Graph, arity int) *graph.Graph {
	kinds, dst := g.Kinds(), make([]int32, g.NumEdges())
	for e, v := range g.Destinations() {
		if dst[e] = v * int32(arity); kinds != nil {
			dst[e] += kinds[e]
		}
	}
	return graph.Must(graph.NewBipartite(g.NumSrc(), arity*g.NumDst(), g.In().Cols, dst))
}

// checkKinds panics unless the kinds of g's edges are places of children.
func (c cell) checkKinds(g *graph.Graph) {
	if k := slices.Max(g.Kinds()); int(k) >= c.arity {
		e := slices.Index(g.Kinds(), k)
		panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{{c.arity}},
			Why: fmt.Sprintf("the edge from node %d to node %d has kind %d, and Arity is %d; binarise the tree, or set Arity to 0", g.In().Cols[e], g.Destinations()[e], k, c.arity)})
	}
}

// keepChildren returns what forget gates keep of the children's cells, of which each row
// of c has several side by side, and f as many numbers for their gates:
//
//	kept = Σ_k σ(f_k + x)·c_k
func keepChildren(f, x, c *grad.Var) *grad.Var {
	op := grad.Begin("sequence.keepChildren", f, x, c)
	n, m := x.Value().Rows(), x.Value().RowLen()
	y := op.Fresh(n, m)
	k := tape.Note(op, kept{of: [3]*grad.Var{f, x, c}, act: op.Fresh(f.Shape()...).Value(), f: f.Value(), x: x.Value(), c: c.Value(), y: y.Value(), m: m})
	if !tape.Dry(op, 0) {
		k.run()
	}
	return tape.RecordBy(op, y, k)
}

// kept is one run of keepChildren, forwards or backwards. Of the gradients any may be nil.
type kept struct {
	of               [3]*grad.Var
	act, f, x, c, y  *tensor.Dense
	m                int
	df, dx, dc, dout *tensor.Dense
}

// Pull runs backwards.
func (k *kept) Pull(dy *tensor.Dense) {
	k.df, k.dx, k.dc, k.dout = k.of[0].Grad(), k.of[1].Grad(), k.of[2].Grad(), dy
	k.run()
}

func (k *kept) run() { par.Run(chunks(k.f.Rows(), k.f.RowLen()), k) }

// Chunk does some rows.
func (k *kept) Chunk(i int) {
	step := chunkRows(k.f.RowLen())
	for r := i * step; r < min((i+1)*step, k.f.Rows()); r++ {
		if k.dout == nil {
			k.forward(r)
		} else {
			k.pull(r)
		}
	}
}

func (k *kept) forward(r int) {
	act, y := k.act.Row(r), k.y.Row(r)
	clear(y)
	for lo := 0; lo < len(act); lo += k.m {
		a, c := act[lo:lo+k.m], k.c.Row(r)[lo:lo+k.m]
		vec.Add.Forward(a, k.f.Row(r)[lo:lo+k.m], k.x.Row(r), 1, 1)
		vec.Sigmoid.Forward(a, a, 0)
		vec.Mul.BackwardX(y, a, c, c, 1, 1)
	}
}

func (k *kept) pull(r int) {
	act, d := k.act.Row(r), k.dout.Row(r)
	for lo := 0; lo < len(act); lo += k.m {
		a, c := act[lo:lo+k.m], k.c.Row(r)[lo:lo+k.m]
		if k.dc != nil {
			vec.Mul.BackwardX(k.dc.Row(r)[lo:lo+k.m], d, a, a, 1, 1)
		}
		for j, v := range a {
			z := d[j] * c[j] * v * (1 - v)
			if k.df != nil {
				k.df.Row(r)[lo+j] += z
			}
			if k.dx != nil {
				k.dx.Row(r)[j] += z
			}
		}
	}
}
