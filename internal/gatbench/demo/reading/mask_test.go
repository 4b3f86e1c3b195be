package reading

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// By a matrix with a mask and on the edges GAT and self-attention have the same weights and results;
// a mask with another edge has others, so that the comparison can fail.
func TestMaskIsTheGraph(t *testing.T) {
	g, x := maskGraph(), tensor.New(maskNodes, maskWidth)
	x.Normal(rand.New(rand.NewPCG(2, 1)), 0, 1)
	l := newMaskGAT(rand.New(rand.NewPCG(3, 1)))
	for _, b := range []bothWays{gatBothWays(l, g, x), selfBothWays(g, x)} {
		if !(b.off <= 1e-5) {
			t.Errorf("%s: the results are %v apart", b.name, b.off)
		}
		for v := range maskNodes {
			sum := 0.0
			for u := range maskNodes {
				if math.Abs(b.matrix[v][u]-b.onEdges[v][u]) > 1e-5 {
					t.Errorf("%s: the weight from %d to %d is %v by the matrix, %v on the edge", b.name, u, v, b.matrix[v][u], b.onEdges[v][u])
				}
				if joined := hears(g, u, v); !joined && b.matrix[v][u] != 0 || joined && b.matrix[v][u] == 0 {
					t.Errorf("%s: %d and %d are joined: %v, and the weight is %v", b.name, u, v, joined, b.matrix[v][u])
				}
				sum += b.onEdges[v][u]
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%s: the weights of %d sum to %v", b.name, v, sum)
			}
		}
	}
	_, y := masked(maskOf(graph.Complete(maskNodes)), func(int, int) float64 { return 0 }, x)
	out := (&attention.Soft{Score: attention.ScaledDot{}}).Apply(grad.NewEval(), g, layers.In{Src: grad.Const(x)})
	if apart(y, out.Y.Value()) < 1e-2 {
		t.Error("another mask gives the same results")
	}
}

// hears reports whether there is an edge from u to v.
func hears(g *graph.Graph, u, v int) bool {
	for _, w := range g.Sources(v) {
		if int(w) == u {
			return true
		}
	}
	return false
}

// Within a window a word hears none further away, and all those nearer; sentences stay apart.
func TestSelfAttWindow(t *testing.T) {
	chains := graph.Chains(9, 3)
	for _, window := range []int{0, 1, 3} {
		g := newSelfAttNet(&stage.Stage{}, 5, 2, selfatt{Window: window}).pairs(chains)
		for v := range g.NumNodes() {
			for u := range int32(g.NumNodes()) {
				far := max(int(u)-v, v-int(u))
				want := (int(u) < 9) == (v < 9) && (window == 0 || far <= window)
				if got := hears(g, int(u), v); got != want {
					t.Errorf("window %d: %d hears %d: %v, want %v", window, v, u, got, want)
				}
			}
		}
	}
}
