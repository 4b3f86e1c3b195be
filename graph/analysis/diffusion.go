package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Diffusion joins nodes that many short walks join, instead of those that one edge does:
// graph diffusion convolution (GDC) of Gasteiger, Weißenberger and Günnemann, "Diffusion
// Improves Graph Learning", NeurIPS 2019.
//
//	S = Σ_k θ_k·T^k       θ_k = α·(1−α)^k (personalised PageRank), or e^−t·t^k/k! (heat)
//	T = D^−½·(A + I)·D^−½   or, with Walk, D^−1·(A + I)
//
// Row v of A holds the weights of the edges into v, and D their sums. What is kept of a row
// of S becomes the edges into v, whose weights then add up to 1. The zero value is PageRank
// by α = 0.15, of which the 64 greatest of a row are kept.
type Diffusion struct {
	Teleport  float64 // α, above 0 and at most 1; 0: 0.15
	Time      float64 // t of the heat kernel; 0: PageRank
	Walk      bool    // T's rows add up to 1; edges may have any direction then
	NoLoops   bool    // A instead of A + I
	Keep      int     // the so many greatest of a row; 0: all that Threshold leaves, or 64 without one
	Threshold float64 // what is smaller is not kept
	Raw       bool    // weights are those of S

	// Tolerance is how exact S is before it is cut: entry u of a row is too small by
	// Tolerance·d_u at most, where d_u is what D says of u, if edges go both ways. 0: exact
	// but for rounding, by the series, where no member has more than 4,096 nodes, and 1e-6
	// elsewhere. PageRank is approximated by pushing residuals (Andersen, Chung and Lang,
	// "Local Graph Partitioning using PageRank Vectors", FOCS 2006), heat by leaving small
	// terms of the series out; both look only at nodes near by.
	Tolerance float64
}

const (
	seriesMost     = 4096 // nodes of the largest member whose series is computed whole
	seriesTail     = 1e-10
	pushTolerance  = 1e-6
	diffusionGrain = 16 // rows a part of a parallel loop
)

// Graph returns the graph that g is after diffusion, and the weights of its edges. Weights
// of g's edges are in its order, nil: 1. Within a destination sources ascend; the list is
// that order. Members are kept, kinds are not; From().Edges is −1 everywhere.
//
// The error names a weight that is negative or not finite, or says that edges do not go
// both ways, which T wants unless Walk is set. It panics with a [*tensor.ShapeError] if g
// is bipartite, a field has a value that cannot be, or weights are not as many as edges.
func (d Diffusion) Graph(g *graph.Graph, weight []tensor.Float) (*graph.Graph, []tensor.Float, error) {
	mistake.Homogeneous("analysis.Diffusion", g)
	s, err := d.Rows(g, weight, g.DstRows())
	if err != nil {
		return nil, nil, err
	}
	if err := mistake.Counts(s.NumRows, s.NumRows, len(s.Cols)); err != nil {
		return nil, nil, err
	}
	h, err := graph.FromCSR(&sparse.CSR{Offsets: s.Offsets, Cols: s.Cols, NumRows: s.NumRows, NumCols: s.NumCols})
	if err == nil && len(g.NodeOffsets()) != 2 {
		h, err = graph.WithMembers(h, g.NodeOffsets())
	}
	if err != nil {
		return nil, nil, err
	}
	from := graph.Origin{Edges: slices.Repeat([]int32{-1}, len(s.Cols)), Src: g.DstRows(), Dst: g.DstRows()}
	return graph.WithOrigin(h, from), s.Values, nil
}

// Rows returns some rows of what [Diffusion.Graph] makes edges of, len(nodes)×N: of
// PageRank, where walks that begin at each of the nodes are. Columns ascend. Errors are
// those of Graph, or name a node that there is none of.
func (d Diffusion) Rows(g *graph.Graph, weight []tensor.Float, nodes []int32) (*sparse.CSR, error) {
	mistake.Homogeneous("analysis.Diffusion", g)
	w, err := d.over(g, weight)
	if err != nil {
		return nil, err
	}
	for i, v := range nodes {
		if v < 0 || int(v) >= g.NumNodes() {
			return nil, fmt.Errorf("analysis: entry %d is node %d, not in %s", i, v, mistake.Range(g.NumNodes()))
		}
	}
	cols, values := make([][]int32, len(nodes)), make([][]tensor.Float, len(nodes))
	par.For(len(nodes), diffusionGrain, func(lo, hi int) {
		s := w.spare.Get().(*spread)
		defer w.spare.Put(s)
		for i := lo; i < hi; i++ {
			cols[i], values[i] = w.row(s, nodes[i])
		}
	})
	s := &sparse.CSR{NumRows: len(nodes), NumCols: g.NumNodes(), Offsets: make([]int64, 1, len(nodes)+1)}
	for _, c := range cols {
		s.Offsets = append(s.Offsets, s.Offsets[len(s.Offsets)-1]+int64(len(c)))
	}
	s.Cols, s.Values = slices.Concat(cols...), slices.Concat(values...)
	return s, nil
}

// walks is a diffusion over a graph.
type walks struct {
	Diffusion
	in     *sparse.CSR
	weight []tensor.Float
	degree []float64
	series []float64 // θ
	drop   []float64 // of a term of the series, times a node's degree, what is left out; nil: nothing
	push   bool      // instead of the series
	spare  sync.Pool
}

// over checks what is asked for, and prepares it.
func (d Diffusion) over(g *graph.Graph, weight []tensor.Float) (*walks, error) {
	w := &walks{Diffusion: d, in: g.In(), weight: weight}
	if w.Teleport == 0 {
		w.Teleport = 0.15
	}
	if w.Keep == 0 && w.Threshold == 0 {
		w.Keep = 64
	}
	const op = "analysis.Diffusion"
	switch {
	case !(w.Teleport > 0 && w.Teleport <= 1):
		mistake.Panic(op, nil, "Teleport is %v, want above 0 and at most 1", d.Teleport)
	case !(d.Time >= 0 && d.Time <= 500):
		mistake.Panic(op, nil, "Time is %v, want 0 to 500", d.Time)
	case d.Keep < 0 || !(d.Threshold >= 0) || !(d.Tolerance >= 0):
		mistake.Panic(op, nil, "Keep is %d, Threshold %v and Tolerance %v, want 0 or more", d.Keep, d.Threshold, d.Tolerance)
	case !d.Walk && !g.Symmetric():
		return nil, fmt.Errorf("analysis: the edges do not go both ways: make them so with Undirected, or set the diffusion's Walk")
	}
	if err := checkWeights(op, g, weight); err != nil {
		return nil, err
	}
	w.degree = make([]float64, g.NumNodes())
	for v := range w.degree {
		w.degree[v] = w.loop()
		for e := w.in.Offsets[v]; e < w.in.Offsets[v+1]; e++ {
			w.degree[v] += w.along(e)
		}
	}
	if at := g.NodeOffsets(); w.Tolerance == 0 {
		for m := range len(at) - 1 {
			if at[m+1]-at[m] > seriesMost {
				w.Tolerance = pushTolerance
			}
		}
	}
	w.plan()
	w.spare.New = func() any {
		n := g.NumNodes()
		return &spread{sum: make([]float64, n), now: make([]float64, n), next: make([]float64, n)}
	}
	return w, nil
}

// plan decides between the push and the series, and computes the latter's factors.
func (w *walks) plan() {
	if w.push = w.Time == 0 && w.Tolerance > 0; w.push {
		return
	}
	theta, left := w.Teleport, 1.0
	if w.Time > 0 {
		theta = math.Exp(-w.Time)
	}
	var tails []float64 // what θ from here on adds up to
	for k := 1; left > seriesTail; k++ {
		w.series, tails = append(w.series, theta), append(tails, left)
		left -= theta
		if w.Time > 0 {
			theta *= w.Time / float64(k)
		} else {
			theta *= 1 - w.Teleport
		}
	}
	if w.Tolerance > 0 {
		for _, tail := range tails {
			w.drop = append(w.drop, w.Tolerance/(float64(len(tails))*tail))
		}
	}
}

// loop returns the weight of the edge that each node has to itself.
func (w *walks) loop() float64 {
	if w.NoLoops {
		return 0
	}
	return 1
}

// along returns the weight of an edge.
func (w *walks) along(e int64) float64 {
	if w.weight == nil {
		return 1
	}
	return float64(w.weight[e])
}

// spread is where walks are. What is not named is zero.
type spread struct {
	sum, now, next []float64
	summed         []int32 // where sum is not zero
	front, after   []int32 // where now is not zero, and next
}

// row returns a node's row, cut and weighed as is asked for.
func (w *walks) row(s *spread, v int32) (cols []int32, values []tensor.Float) {
	if w.push {
		w.pushed(s, v)
	} else {
		w.summed(s, v)
	}
	if !w.Walk { // D^½·(D^−1·A)^k·D^−½ is T^k
		for _, u := range s.summed {
			if u != v {
				s.sum[u] *= math.Sqrt(w.degree[v] / w.degree[u])
			}
		}
	}
	for _, u := range s.summed {
		if s.sum[u] >= w.Threshold {
			cols = append(cols, u)
		}
	}
	if w.Keep > 0 && len(cols) > w.Keep {
		slices.SortFunc(cols, func(a, b int32) int { return cmp.Or(cmp.Compare(s.sum[b], s.sum[a]), cmp.Compare(a, b)) })
		cols = slices.Clone(cols[:w.Keep])
	}
	slices.Sort(cols)
	total := 0.0
	for _, u := range cols {
		total += s.sum[u]
	}
	if w.Raw {
		total = 1
	}
	for _, u := range cols {
		values = append(values, tensor.Float(s.sum[u]/total))
	}
	for _, u := range s.summed {
		s.sum[u] = 0
	}
	s.summed = s.summed[:0]
	return cols, values
}

// add adds to the sum at u.
func (s *spread) add(u int32, x float64) {
	if x == 0 {
		return
	}
	if s.sum[u] == 0 {
		s.summed = append(s.summed, u)
	}
	s.sum[u] += x
}

// step hands x at u to the nodes that u hears, each by its share.
func (w *walks) step(u int32, x float64, to func(v int32, x float64)) {
	if w.degree[u] == 0 {
		return
	}
	x /= w.degree[u]
	for e := w.in.Offsets[u]; e < w.in.Offsets[u+1]; e++ {
		to(w.in.Cols[e], x*w.along(e))
	}
	if !w.NoLoops {
		to(u, x)
	}
}

// summed sums the series of a node.
func (w *walks) summed(s *spread, v int32) {
	s.front, s.now[v] = append(s.front[:0], v), 1
	for k, theta := range w.series {
		s.after = s.after[:0]
		for _, u := range s.front {
			x := s.now[u]
			s.now[u] = 0
			if w.drop != nil && x < w.drop[k]*w.degree[u] {
				continue
			}
			s.add(u, theta*x)
			w.step(u, x, func(v int32, x float64) {
				if s.next[v] == 0 && x != 0 {
					s.after = append(s.after, v)
				}
				s.next[v] += x
			})
		}
		s.front, s.after, s.now, s.next = s.after, s.front, s.next, s.now
	}
	for _, u := range s.front {
		s.now[u] = 0
	}
}

// pushed is Andersen, Chung and Lang's push: while a node's residual is large, a part of it
// stays there and the rest goes on to those that the node hears.
func (w *walks) pushed(s *spread, v int32) {
	residual, queue := s.now, append(s.front[:0], v)
	left := append(s.after[:0], v) // where there are residuals
	residual[v] = 1
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		x := residual[u]
		residual[u] = 0
		s.add(u, w.Teleport*x)
		w.step(u, (1-w.Teleport)*x, func(v int32, x float64) {
			old, most := residual[v], w.Tolerance*w.degree[v]
			if old == 0 && x != 0 {
				left = append(left, v)
			}
			if residual[v] += x; old <= most && residual[v] > most {
				queue = append(queue, v)
			}
		})
	}
	for _, u := range left {
		residual[u] = 0
	}
	s.front, s.after = queue, left
}
