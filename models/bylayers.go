package models

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
)

// RunShared is Run of a pass over a whole graph, of which each rank of a team computes some rows. Every rank gets all logits,
// with the bits that Run gives them. t is one that records nothing. Where layers look several hops far each rank computes all. A process that is
// alone runs layer by layer, too, where the rows of all layers would take much memory. One goroutine at a time calls it.
func (n *Network) RunShared(t *grad.Tape, team *ranks.Team, p Pass, x tensor.Array) (*tensor.Dense, error) {
	m, h := n.Traits(), p.Hops[0]
	if m.far() != "" || team.Size() == 1 && n.bytes(h.Graph) <= wholeMost {
		p.X = grad.Const(x)
		return n.Run(t, p).Value(), nil
	}
	if m.Symmetric && h.Weight == nil { // a part of the graph has other degrees
		h.Weight = layers.SymmetricWeights(h.Graph, nil)
	}
	if n.room.tape == nil {
		n.room.tape = grad.NewEval()
	}
	y, err := byLayers{whole: h, depth: len(n.Layers), team: team, room: &n.room}.run(n.room.tape, n, x, nil)
	if err != nil {
		return nil, err
	}
	return n.finish(t, p, grad.Const(y)).Value(), nil
}

// wholeMost is how many bytes the rows of a pass over a whole graph may take, by a rough count.
const wholeMost = 1 << 29

// bytes is about how much memory the rows of all layers and of the head take in a pass over a whole graph.
func (n *Network) bytes(g *graph.Graph) float64 {
	const number = 4
	columns := 0
	for _, l := range n.sizes(n.Shape.In) {
		columns += 4 * l.out * n.Settings.Heads // products and sums beside the result
	}
	total := number * float64(columns) * float64(g.NumNodes())
	if n.Head != nil {
		total += number * float64(5*n.Head.In+n.ownWidth()) * float64(g.NumEdges())
	}
	return total
}

// byLayers runs layers one after another, each for all nodes of a graph before the next, some nodes at a time. Beside the graph and the
// features it holds the rows of two layers, products of the older ones with the matrices that neighbours are read through, and what a chunk
// needs. Every row has the bits that it has if the layers run on the whole graph. The ranks of a team compute some of the rows of a layer each, and
// give them to the others.
type byLayers struct {
	whole Hop // the graph as each layer sees it
	depth int // of the layers the first so many
	rows  int // of a chunk; 0: it follows from the sizes
	team  *ranks.Team
	room  *room // for the rows of layers, from an earlier run; nil: none
}

// room is what evaluations work in, from one to the next: arrays that are in no use, and a tape. Memory that a process touches for the first
// time costs more than the rows that are copied into it.
type room struct {
	free []*tensor.Dense
	tape *grad.Tape
}

// take returns an array of so many rows, whose elements are anything.
func (r *room) take(rows, width int) *tensor.Dense {
	for i, x := range r.free {
		if cap(x.Data) >= rows*width && cap(x.Data)/2 <= rows*width {
			r.free = slices.Delete(r.free, i, i+1)
			return tensor.Of(x.Data[:rows*width], rows, width)
		}
	}
	return tensor.New(rows, width)
}

// give takes an array back; nil is none.
func (r *room) give(x *tensor.Dense) {
	if x != nil {
		r.free = append(r.free, x)
	}
}

// run returns what the layers make of the features x of all nodes, and of that end, if it is not nil. It works on t, one of [grad.NewEval].
// An error is one of the team.
func (b byLayers) run(t *grad.Tape, n *Network, x tensor.Array, end func(y *grad.Var) *grad.Var) (*tensor.Dense, error) {
	g := b.whole.Graph
	if _, ok := convOf(n.Layers[0]).(*monetLayer); ok && b.whole.Edge == nil {
		b.whole.Edge = rootsOfDegrees(g) // those of a part are others
	}
	rooms := b.room
	if rooms == nil {
		rooms = new(room)
	}
	ours := n.Codes != nil || n.Input != nil // whether x is of the room, not the caller's
	if ours {
		x = b.enter(t, n, x, rooms)
	}
	all, sizes := numbersTo(g.NumNodes()), n.sizes(x.Shape()[1])
	for i, l := range n.Layers[:b.depth] {
		t.Reset()
		tape.KeepProducts(t, x)
		cuts := b.cuts(n, sizes[i])
		first, last := cuts[b.team.Rank()], cuts[b.team.Rank()+1]
		var own *tensor.Dense // this rank's rows
		for lo, hi := first, 0; lo < last; lo = hi {
			hi = b.chunk(lo, last, n, sizes[i])
			t.Reset()
			in := grad.Const(x)
			if dense, ok := x.(*tensor.Dense); ok {
				in = t.Input(dense) // what is gathered lies in the tape's memory
			}
			undo := t.Label(labels[min(i, len(labels)-1)])
			y := l.run(t, n.readEdges(t, []Hop{b.part(t, all[lo:hi])})[0], in).Y
			undo()
			if end != nil && i == b.depth-1 {
				y = end(y)
			}
			if own == nil {
				own = rooms.take(last-first, y.Dim(1))
			}
			copy(own.Data[(lo-first)*y.Dim(1):], y.Value().Data)
		}
		tape.KeepProducts(t, nil)
		if ours {
			rooms.give(x.(*tensor.Dense))
		}
		ours = true
		if x = own; b.team.Size() == 1 {
			continue
		}
		rows, err := b.share(own, rooms, cuts)
		if err != nil {
			return nil, err
		}
		rooms.give(own)
		x = rows
	}
	t.Reset()
	return x.(*tensor.Dense), nil
}

// share returns all rows of a layer, of which each rank has those between two cuts.
func (b byLayers) share(own *tensor.Dense, rooms *room, cuts []int) (*tensor.Dense, error) {
	width, nodes := 0, cuts[len(cuts)-1]
	if own == nil {
		own = tensor.New(0, 1)
	} else {
		width = own.RowLen()
	}
	widths, err := b.team.All([]byte(strconv.Itoa(width)))
	if err != nil {
		return nil, err
	}
	for _, text := range widths { // of a rank without rows it is 0
		w, _ := strconv.Atoi(string(text))
		width = max(width, w)
	}
	all := rooms.take(nodes, width)
	var sizes []int
	for i, hi := range cuts[1:] {
		sizes = append(sizes, (hi-cuts[i])*width)
	}
	return all, ranks.Share(b.team, own.Data, all.Data, sizes)
}

// cuts returns where the rows of each rank begin, and the end of all, so that their work is alike. A multiplication counts an eighth of
// reading a number of a neighbour's row from memory.
func (b byLayers) cuts(n *Network, s size) []int {
	cuts, nodes := []int{0}, b.whole.Graph.NumNodes()
	offsets, row := b.whole.Graph.In().Offsets, int64(s.in*s.out*n.Settings.Heads/8+1)
	cost := func(k int) int64 { return int64(k)*row + offsets[k]*int64(s.in) }
	for i := 1; i <= b.team.Size(); i++ {
		share := cost(nodes) / int64(b.team.Size()) * int64(i)
		cuts = append(cuts, sort.Search(nodes, func(k int) bool { return cost(k) >= share }))
	}
	cuts[b.team.Size()] = nodes
	return cuts
}

// enter returns what the first layer reads of all nodes.
func (b byLayers) enter(t *grad.Tape, n *Network, x tensor.Array, rooms *room) (out *tensor.Dense) {
	const usual = 1 << 14
	all := numbersTo(x.Shape()[0])
	for lo, hi := 0, 0; lo < len(all); lo = hi {
		hi = min(lo+cmp.Or(b.rows, usual), len(all))
		t.Reset()
		y := n.enter(t, n.Codes.read(t, grad.Const(datasets.GatherRows(x, all[lo:hi]))))
		if out == nil {
			out = rooms.take(len(all), y.Dim(1))
		}
		copy(out.Data[lo*y.Dim(1):], y.Value().Data)
	}
	return out
}

// part is the graph as a layer sees it for the sake of some nodes.
func (b byLayers) part(t *grad.Tape, nodes []int32) Hop {
	if len(nodes) == b.whole.Graph.NumNodes() {
		return b.whole
	}
	h := Hop{Graph: graph.Must(graph.Dst(b.whole.Graph, nodes))}
	for _, x := range []struct{ from, to **grad.Var }{{&b.whole.Weight, &h.Weight}, {&b.whole.Edge, &h.Edge}, {&b.whole.Mask, &h.Mask}} {
		if *x.from != nil {
			*x.to = t.Input((*x.from).Value()).Rows(h.Graph.From().Edges)
		}
	}
	return h
}

// chunk returns where the chunk ends that begins with a node, at last if not before. It is a sixteenth of the work of a layer, more if that is
// little and less if it is much, so that what it needs is small beside the rows of all nodes.
func (b byLayers) chunk(lo, last int, n *Network, s size) int {
	const parts, least, most = 16, 16 << 20, 256 << 20
	if b.rows > 0 {
		return min(lo+b.rows, last)
	}
	bytes := b.bytes(n, s)
	room := max(least, min(bytes(0, b.whole.Graph.NumNodes())/parts, most))
	return lo + 1 + sort.Search(last-lo-1, func(k int) bool { return bytes(lo, lo+k+2) > room })
}

// bytes returns what says how many bytes a layer takes for the nodes from lo to hi.
func (b byLayers) bytes(n *Network, s size) func(lo, hi int) int {
	offsets := b.whole.Graph.In().Offsets
	row, edge := 4*(s.in+4*s.out*n.Settings.Heads), 16+8*n.Shape.EdgeIn // of a node and of an edge into one
	return func(lo, hi int) int { return (hi-lo)*row + int(offsets[hi]-offsets[lo])*edge }
}
