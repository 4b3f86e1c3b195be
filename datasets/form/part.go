package form

import "slices"

// Row is a row of one of the tables of nodes.
type Row struct{ Table, Row int32 }

// Part is a part of a graph, and of each table of nodes and of edges which rows of it those of the part are, ascending.
type Part struct {
	*Raw
	NodeRows, EdgeRows [][]int32
}

// Around returns the part of a graph from which some nodes can be reached over at most so many edges: these nodes, with all edges
// into those that are nearer. If undirected is set, every edge leads both ways. It is nil if edges lead to nodes of a type that there is no
// table of. It looks at each edge once for each of the hops, and at nothing else of what is not in the part.
func (r *Raw) Around(seeds []Row, hops int, undirected bool) *Part {
	const most = 250
	a := around{raw: r, hops: uint8(min(hops, most))}
	for t := range r.Nodes {
		a.far = append(a.far, make([]uint8, r.Nodes[t].Rows))
	}
	for _, s := range seeds {
		a.far[s.Table][s.Row] = 1
	}
	for t := range r.Edges {
		e := &r.Edges[t]
		from, to := r.ends(e)
		if from < 0 || to < 0 {
			return nil
		}
		way := edgeWay{from: a.far[from], to: a.far[to], source: from, target: to, both: undirected || e.Undirected}
		if !way.both {
			way.back = e.backs()
		}
		a.ways = append(a.ways, way)
	}
	for d := uint8(1); d <= a.hops; d++ {
		reached := false
		for t := range r.Edges {
			reached = a.ways[t].step(&r.Edges[t], d) || reached
		}
		if !reached {
			break
		}
	}
	return a.part()
}

// around is how far nodes are from some.
type around struct {
	raw  *Raw
	hops uint8
	far  [][]uint8 // of each table of nodes how far each is, and 1; 0: it is not reached
	ways []edgeWay // of each table of edges
}

// edgeWay is how far the ends of a table's edges are.
type edgeWay struct {
	from, to       []uint8
	source, target int // tables
	both           bool
	back           []bool // of edges that lead both ways; nil: none does, or all
}

// step reaches the nodes from which edges lead to those at a distance. It reports whether there are some.
func (w *edgeWay) step(e *Edges, d uint8) (reached bool) {
	from, to, dst := w.from, w.to, e.Target
	for i, u := range e.Source {
		v := dst[i]
		if to[v] == d && from[u] == 0 {
			from[u], reached = d+1, true
		}
		if w.both || w.back != nil && w.back[i] {
			if from[u] == d && to[v] == 0 {
				to[v], reached = d+1, true
			}
		}
	}
	return reached
}

// inside returns the edges into nodes that are nearer than the farthest, from nodes that are reached.
func (w *edgeWay) inside(e *Edges, hops uint8) []int32 {
	rows := []int32{}
	for i, u := range e.Source {
		x, y := w.from[u], w.to[e.Target[i]]
		if x == 0 || y == 0 {
			continue
		}
		if y <= hops || (w.both || w.back != nil && w.back[i]) && x <= hops {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// part returns the part of the nodes that are reached.
func (a *around) part() *Part {
	r := a.raw
	out := *r
	p := &Part{Raw: &out}
	out.Nodes, out.Edges, out.Splits, out.Unlisted = slices.Clone(r.Nodes), slices.Clone(r.Edges), nil, nil
	places := make([][]int32, len(r.Nodes))
	for t := range out.Nodes {
		n, rows, listed := &out.Nodes[t], []int32{}, 0
		for i, d := range a.far[t] {
			if d > 0 {
				if rows = append(rows, int32(i)); i < n.Listed {
					listed++
				}
			}
		}
		p.NodeRows, places[t] = append(p.NodeRows, rows), inverse(rows, n.Rows)
		n.Table, n.Listed = n.Gather(rows), listed
	}
	for t := range out.Edges {
		e, w := &out.Edges[t], &a.ways[t]
		rows := w.inside(e, a.hops)
		p.EdgeRows = append(p.EdgeRows, rows)
		*e = e.Take(rows)
		for i, u := range e.Source {
			e.Source[i], e.Target[i] = places[w.source][u], places[w.target][e.Target[i]]
		}
	}
	return p
}

// backs reports of each edge whether it is meant in both directions beside others that are not; nil: none is.
func (e *Edges) backs() []bool {
	if len(e.Back) == 0 {
		return nil
	}
	back := make([]bool, e.Rows)
	for _, i := range e.Back {
		back[i] = true
	}
	return back
}

// Take returns the edges of some rows, in the order given. Their ends are rows of the same tables of nodes.
func (e *Edges) Take(rows []int32) Edges {
	out := *e
	out.Table, out.Source, out.Target = e.Table.Gather(rows), gathered(e.Source, rows, -1), gathered(e.Target, rows, -1)
	if e.Back == nil {
		return out
	}
	back := e.backs()
	out.Back = []int32{}
	for i, r := range rows {
		if back != nil && back[r] {
			out.Back = append(out.Back, int32(i))
		}
	}
	return out
}

// inverse returns where each of n rows is among some of them, −1 where it is not.
func inverse(rows []int32, n int) []int32 {
	at := slices.Repeat([]int32{-1}, n)
	for i, r := range rows {
		at[r] = int32(i)
	}
	return at
}

// moved returns the rows of a part of a split, ascending, after each is where at says; those that are gone are left out.
func moved(part, at []int32) []int32 {
	if part == nil {
		return nil
	}
	out := []int32{}
	for _, r := range part {
		if at[r] >= 0 {
			out = append(out, at[r])
		}
	}
	slices.Sort(out)
	return out
}

// moved returns a split of rows that are where at says.
func (s Split) moved(at []int32) Split {
	return Split{Name: s.Name, Of: s.Of, Train: moved(s.Train, at), Val: moved(s.Val, at), Test: moved(s.Test, at)}
}
