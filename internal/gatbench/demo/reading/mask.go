package reading

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The example: eight nodes, each joined to some others and to itself.
const maskNodes, maskWidth = 8, 4

var maskPairs = [][2]int32{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {5, 6}, {6, 7}}

// maskGraph is the example as a graph.
func maskGraph() *graph.Graph {
	var src, dst []int32
	for _, p := range maskPairs {
		src, dst = append(src, p[0], p[1]), append(dst, p[1], p[0])
	}
	for v := range int32(maskNodes) {
		src, dst = append(src, v), append(dst, v)
	}
	return graph.Must(graph.New(maskNodes, src, dst))
}

// maskOf is the adjacency of g as what is added to a matrix of scores: 0 where there is an edge from
// the column to the row, −∞ elsewhere.
func maskOf(g *graph.Graph) [][]float64 {
	mask := make([][]float64, g.NumNodes())
	for v := range mask {
		mask[v] = slices.Repeat([]float64{math.Inf(-1)}, g.NumNodes())
		for _, u := range g.Sources(v) {
			mask[v][u] = 0
		}
	}
	return mask
}

// masked is attention by matrices: all N×N scores, −∞ where the mask has it, a softmax along each row,
// and the product with the values.
func masked(mask [][]float64, score func(u, v int) float64, values *tensor.Dense) (alpha, y [][]float64) {
	for v, row := range mask {
		weights, sum := make([]float64, len(row)), 0.0
		for u, m := range row {
			weights[u] = math.Exp(score(u, v) + m)
			sum += weights[u]
		}
		out := make([]float64, values.RowLen())
		for u := range weights {
			weights[u] /= sum
			for j, x := range values.Row(u) {
				out[j] += weights[u] * float64(x)
			}
		}
		alpha, y = append(alpha, weights), append(y, out)
	}
	return alpha, y
}

// bothWays is a layer by matrices and by messages.
type bothWays struct {
	name            string
	matrix, onEdges [][]float64 // the weights
	off             float64     // how far the results are apart at most
}

// gatBothWays is a head of GAT: LeakyReLU(a_l·Wx_u + a_r·Wx_v) is the score.
func gatBothWays(l *layers.GATConv, g *graph.Graph, x *tensor.Dense) bothWays {
	h := grad.Const(x).MatMul(grad.Const(l.W.Value)).Value()
	part := func(p *grad.Param, v int) (sum float64) {
		for j, a := range p.Value.Row(0) {
			sum += float64(a * h.Row(v)[j])
		}
		return sum
	}
	alpha, y := masked(maskOf(g), func(u, v int) float64 {
		s := part(l.AttnL, u) + part(l.AttnR, v)
		return max(s, 0.2*s)
	}, h)
	out := l.Apply(grad.NewEval(), g, layers.In{Src: grad.Const(x)})
	return bothWays{"GAT", alpha, tableOf(g, out.Attention), apart(y, out.Y.Value())}
}

// selfBothWays is a head of self-attention, by what scalar products say.
func selfBothWays(g *graph.Graph, x *tensor.Dense) bothWays {
	alpha, y := masked(maskOf(g), func(u, v int) (sum float64) {
		for j, a := range x.Row(u) {
			sum += float64(a*x.Row(v)[j]) / math.Sqrt(maskWidth)
		}
		return sum
	}, x)
	out := (&attention.Soft{Score: attention.ScaledDot{}}).Apply(grad.NewEval(), g, layers.In{Src: grad.Const(x)})
	return bothWays{"self-attention", alpha, tableOf(g, out.Attention), apart(y, out.Y.Value())}
}

// tableOf is the weights of the edges of g as a matrix, a row for each destination.
func tableOf(g *graph.Graph, weights message.Msg) [][]float64 {
	alpha := message.ApplyEdges(g, weights).Value().Data
	table := make([][]float64, g.NumNodes())
	for v := range table {
		table[v] = make([]float64, g.NumNodes())
		for e, u := range g.Sources(v) {
			table[v][u] = float64(alpha[e])
		}
	}
	return table
}

// apart is how far two matrices are apart at most.
func apart(a [][]float64, b *tensor.Dense) (most float64) {
	for i, row := range a {
		for j, v := range row {
			most = max(most, math.Abs(v-float64(b.Row(i)[j])))
		}
	}
	return most
}

// newMaskGAT is the layer of the example.
func newMaskGAT(rng *rand.Rand) *layers.GATConv {
	l := &layers.GATConv{In: maskWidth, Out: maskWidth, NoBias: true}
	l.Init(rng)
	return l
}

// runMask shows that a mask is a graph.
func runMask(s *stage.Stage) error {
	g, x := maskGraph(), tensor.New(maskNodes, maskWidth)
	x.Normal(s.RNG("features"), 0, 1)
	l := newMaskGAT(s.RNG("weights"))
	s.Say("Eight nodes, of which some are joined. By matrices, attention computes %d scores, adds −∞ where there is no edge, and takes a softmax along each row. On the graph it computes a score for each of the %d edges. The weights that are left are the same, and so is what each node reads.", maskNodes*maskNodes, g.NumEdges())
	mask := &picture.Heat{Title: "the mask: who may look at whom", Across: "at whom", Down: "who looks", Top: 1, Columns: nodeNames(), Rows: nodeNames()}
	mask.Values = tableOf(g, message.E(grad.Const(ones(g.NumEdges()))))
	s.Heat(mask)
	rows := [][]picture.Panel{{mask, graphPanel(g)}}
	off := map[string]any{}
	for _, b := range []bothWays{gatBothWays(l, g, x), selfBothWays(g, x)} {
		matrix, edges := heatOf(b.name+" by a matrix with a mask", b.matrix), heatOf(b.name+" on the edges", b.onEdges)
		s.Print("\n")
		s.Heat(matrix)
		s.Print("\n")
		s.Heat(edges)
		s.Print("\n%s: the results are at most %.1g apart\n", b.name, b.off)
		off[b.name] = b.off
		rows = append(rows, []picture.Panel{matrix, edges})
	}
	s.Result(map[string]any{"apart": off, "scores": maskNodes * maskNodes, "edges": g.NumEdges()})
	s.Print("\n")
	s.Draw(rows...)
	return s.Keep(l)
}

// ones is a column of ones.
func ones(n int) *tensor.Dense {
	x := tensor.New(n, 1)
	x.Fill(1)
	return x
}

func nodeNames() []string {
	var names []string
	for v := range maskNodes {
		names = append(names, fmt.Sprint(v+1))
	}
	return names
}

func heatOf(title string, table [][]float64) *picture.Heat {
	return &picture.Heat{Title: title, Across: "at whom", Down: "who looks", Top: 1, Format: "%.2f", Columns: nodeNames(), Rows: nodeNames(), Values: table}
}

// graphPanel draws the nodes on a circle.
func graphPanel(g *graph.Graph) *picture.Plane {
	p := &picture.Plane{Title: "the same as a graph", Names: nodeNames()}
	for v := range g.NumNodes() {
		sin, cos := math.Sincos(2 * math.Pi * float64(v) / float64(g.NumNodes()))
		p.Points = append(p.Points, picture.Point{X: cos, Y: sin})
		for _, u := range g.Sources(v) {
			if int(u) < v {
				p.Lines = append(p.Lines, picture.Through{Points: []int32{u, int32(v)}, Stroke: picture.Stroke{Colour: picture.Colour(0), Width: 1.2}})
			}
		}
	}
	return p
}
