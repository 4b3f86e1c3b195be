package sample

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// typed is what a loader of several types of nodes knows of its one graph, which has them all.
type typed struct {
	of    *hetero.Graph
	first map[string]int32 // the number of each type's first node in the one graph
	rows  map[string]tensor.Array
	seeds string     // the type of the nodes that train
	ends  hetero.Rel // or the relation of the edges
}

// single returns the loader of the one graph that holds all types, l itself if there is one type.
func (l *Loader) single() (*Loader, error) {
	if l.Hetero == nil {
		if l.Type != "" || l.Rel != (hetero.Rel{}) || l.Rows != nil {
			return nil, fmt.Errorf("sample: Type, Rel and Rows are for a Hetero, and there is none")
		}
		return l, nil
	}
	if l.Graph != nil || l.Ends != nil || l.Graphs != nil || l.Features != nil {
		return nil, fmt.Errorf("sample: a loader of a Hetero takes Nodes and Type, or Edges and Rel, and Rows: leave Graph, Ends, Graphs and Features out")
	}
	one := *l
	g, ends := hetero.Homogeneous(l.Hetero)
	one.Graph, one.made = g, l.made
	k := &typed{of: l.Hetero, first: map[string]int32{}, rows: l.Rows, seeds: l.Type, ends: l.Rel}
	for i, t := range l.Hetero.Types() {
		k.first[t] = int32(ends[i])
	}
	one.typed = k
	if len(l.Fanout) > 0 { // of each relation
		one.Fanout, one.Kinds = nil, EachKind(g, l.Fanout)
	}
	if err := k.check(l); err != nil {
		return nil, err
	}
	if l.Edges != nil {
		k.edges(l, &one)
	} else {
		one.Nodes = make([]int32, len(l.Nodes))
		for i, v := range l.Nodes {
			one.Nodes[i] = v + k.first[l.Type]
		}
		if l.Before != nil {
			one.Before = make([]int64, g.NumNodes())
			copy(one.Before[k.first[l.Type]:], l.Before)
		}
	}
	return &one, nil
}

// check checks what is given by type.
func (k *typed) check(l *Loader) error {
	h := l.Hetero
	for t, x := range l.Rows {
		if n := h.NumNodes(t); !slices.Contains(h.Types(), t) || x.Shape()[0] != n {
			return fmt.Errorf("sample: Rows of the type %q have the shape %v, and there are %d such nodes", t, x.Shape(), n)
		}
	}
	if l.Edges != nil {
		g := h.Graph(l.Rel)
		if g == nil {
			return fmt.Errorf("sample: Edges train, and there is no relation %v: name one of %v in Rel", l.Rel, h.Rels())
		}
		if l.Before != nil && len(l.Before) != g.NumEdges() {
			return fmt.Errorf("sample: %d times in Before for %d edges of %v", len(l.Before), g.NumEdges(), l.Rel)
		}
		return nil
	}
	if !slices.Contains(h.Types(), l.Type) {
		return fmt.Errorf("sample: there is no type %q of nodes that train: name one of %q in Type", l.Type, h.Types())
	}
	for i, v := range l.Nodes {
		if v < 0 || int(v) >= h.NumNodes(l.Type) {
			return fmt.Errorf("sample: node %d of those that train is %d; there are %d of type %q", i, v, h.NumNodes(l.Type), l.Type)
		}
	}
	if l.Before != nil && len(l.Before) != h.NumNodes(l.Type) {
		return fmt.Errorf("sample: %d times in Before for %d nodes of type %q", len(l.Before), h.NumNodes(l.Type), l.Type)
	}
	return nil
}

// edges makes the edges of a relation those that train in the one graph: they are numbered alike.
func (k *typed) edges(l, one *Loader) {
	var own []int32
	kind := int32(slices.Index(k.of.Rels(), l.Rel))
	for e, q := range one.Graph.Kinds() {
		if q == kind {
			own = append(own, int32(e))
		}
	}
	one.Ends = graph.Must(graph.EdgeSubgraph(one.Graph, own)) // edges of its own
	if l.Before == nil && l.Times != nil && len(l.Times) == one.Graph.NumEdges() {
		one.Before = make([]int64, len(own))
		for i, e := range own {
			one.Before[i] = l.Times[e]
		}
	}
}

// span is the numbers that a destination of the edges that train may have.
func (l *Loader) span() (lo, hi int32) {
	if k := l.typed; k != nil {
		lo = k.first[k.ends.Dst]
		return lo, lo + int32(k.of.NumNodes(k.ends.Dst))
	}
	return 0, int32(l.ends().NumDst())
}

// split makes a batch of the one graph one of several types.
func (k *typed) split(b *Batch) error {
	b.Typed = make([]*hetero.Graph, len(b.Blocks))
	for i, block := range b.Blocks {
		h, rows, err := hetero.Split(k.of, block)
		if err != nil {
			return err
		}
		b.Typed[i] = h
		if i == 0 {
			k.gather(b, block.From().Src, rows)
		}
		if i == len(b.Blocks)-1 {
			k.place(b, h, rows)
		}
	}
	b.Blocks = nil
	return nil
}

// gather gathers the features of each type.
func (k *typed) gather(b *Batch, src []int32, rows map[string][]int32) {
	b.Rows = make(map[string]tensor.Array, len(k.rows))
	for t, x := range k.rows {
		own := make([]int32, len(rows[t]))
		for i, at := range rows[t] {
			own[i] = src[at] - k.first[t]
		}
		if a, ok := x.(*sparse.CSR); ok {
			b.Rows[t] = sparse.GatherRows(a, own)
			continue
		}
		from := x.(*tensor.Dense)
		shape := append([]int{len(own)}, from.Shape()[1:]...)
		to := tensor.New(shape...)
		eachPiece(from.RowLen(), len(own), func(lo, hi int) { copyRows(to, from, own, lo, hi) })
		b.Rows[t] = to
	}
}

// place gives seeds, and the ends of edges, the numbers of their types.
func (k *typed) place(b *Batch, last *hetero.Graph, rows map[string][]int32) {
	at := make([]int32, len(b.Seeds)) // of each seed among those of its type
	b.SeedsOf = make(map[string][]int32, len(rows))
	for t, list := range rows {
		seeds := make([]int32, last.NumDst(t))
		for i := range seeds {
			at[list[i]], seeds[i] = int32(i), b.Seeds[list[i]]-k.first[t]
		}
		b.SeedsOf[t] = seeds
	}
	if b.Edges == nil {
		b.Seeds = b.SeedsOf[k.seeds]
		return
	}
	b.Seeds = nil
	for _, ends := range [][]int32{b.From, b.To, b.Not} {
		for i, s := range ends {
			ends[i] = at[s]
		}
	}
}
