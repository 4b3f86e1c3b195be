package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

// none is a layer without Params.
type none struct{}

func (*none) Init(*rand.Rand) {}

// TestGraclusOracle compares with loops over the nodes and edges of each cluster.
func TestGraclusOracle(t *testing.T) {
	g := scene()
	m := newModel(&none{}, g)
	weight := make([]tensor.Float, g.NumEdges())
	for e := range weight {
		weight[e] = tensor.Float(e+1) / 4
	}
	for _, l := range []pool.Graclus{{}, {Aggregate: layers.AggregateMean, Seed: 1}, {Aggregate: layers.AggregateSum, Seed: 2}} {
		for _, w := range [][]tensor.Float{nil, weight} {
			c := l.Forward(nil, g, grad.Const(m.X.Value), w)
			if !slices.Equal(c.Graph.NodeOffsets()[:3], []int{0, c.Graph.NodeOffsets()[1], c.Graph.NodeOffsets()[1]}) || len(c.Graph.NodeOffsets()) != 5 {
				t.Errorf("members %v", c.Graph.NodeOffsets())
			}
			for k := range c.Graph.NumNodes() {
				for j := range width {
					var of []float64
					sum := 0.0
					for v, cluster := range c.Cluster {
						if int(cluster) == k {
							x := float64(m.X.Value.Row(v)[j])
							of, sum = append(of, x), sum+x
						}
					}
					if len(of) < 1 || len(of) > 2 {
						t.Fatalf("cluster %d has %d nodes", k, len(of))
					}
					want := slices.Max(of)
					switch l.Aggregate {
					case layers.AggregateMean:
						want = sum / float64(len(of))
					case layers.AggregateSum:
						want = sum
					}
					compare.Number(t, fmt.Sprintf("%+v, cluster %d", l, k), c.Y.Value().Row(k)[j], want, compare.Off(1e-5, 0))
				}
			}
			for d := range c.Graph.NumNodes() {
				for k, from := range c.Graph.Sources(d) {
					want := 0.0
					for v := range g.NumNodes() {
						for e, u := range g.Sources(v) {
							if c.Cluster[u] == from && int(c.Cluster[v]) == d {
								if w == nil {
									want++
								} else {
									want += float64(w[e])
								}
							}
						}
					}
					compare.Number(t, "weight", c.Weight[k], want, compare.Off(1e-5, 0))
				}
			}
			if got, _ := analysis.Matching(g, rand.New(rand.NewPCG(l.Seed, 0x6c1)), w); !slices.Equal(got, c.Cluster) {
				t.Errorf("clusters %v, want %v", c.Cluster, got)
			}
		}
	}
}

// Two pairs of nodes with two edges from one pair to the other, each way: edges of clusters are sums,
// of weights that add up exactly.
func TestGraclusAddsWeights(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 2, 1, 3, 0, 1, 2, 3}, []int32{1, 3, 0, 2, 2, 3, 0, 1})) // the last four join the pairs
	weight := make([]tensor.Float, g.NumEdges())
	for e, k := range g.EdgeOrder() {
		weight[e] = []tensor.Float{9, 9, 9, 9, 1, 2, 4, 0.5}[k]
	}
	c := (&pool.Graclus{}).Forward(nil, g, grad.Const(tensor.New(4, 1)), weight)
	if !slices.Equal(c.Cluster, []int32{0, 0, 1, 1}) || c.Graph.NumEdges() != 2 {
		t.Fatalf("clusters %v, edges %v", c.Cluster, c.Graph)
	}
	for k, d := range c.Graph.Destinations() {
		if want := []tensor.Float{4.5, 3}[d]; c.Weight[k] != want {
			t.Errorf("the edge into cluster %d weighs %v, want %v", d, c.Weight[k], want)
		}
	}
}

// TestGraclusGradient checks x, in float64.
func TestGraclusGradient(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("float32")
	}
	g := scene()
	for _, a := range []layers.Aggregator{"", layers.AggregateMean, layers.AggregateSum} {
		m := newModel(&none{}, g)
		gradtest.Check(t, m, func(t *grad.Tape) *grad.Var {
			return (&pool.Graclus{Aggregate: a}).Forward(t, g, t.Use(m.X), nil).Y.Square().Sum()
		})
	}
}

func TestGraclusWrong(t *testing.T) {
	g := scene()
	x := grad.Const(tensor.New(8, width))
	for want, f := range map[string]func(){
		"pool.Graclus: it has no aggregator called lstm": func() { (&pool.Graclus{Aggregate: layers.AggregateLSTM}).Forward(nil, g, x, nil) },
		"1 weights for 9 edges":                          func() { new(pool.Graclus).Forward(nil, g, x, []tensor.Float{1}) },
		"want a row for each":                            func() { new(pool.Graclus).Forward(nil, g, x.RowRange(0, 7), nil) },
	} {
		var got string
		func() {
			defer func() { got = fmt.Sprint(recover()) }()
			f()
		}()
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A path of eight nodes becomes one of four, and then of two.
func ExampleGraclus() {
	g := graph.Undirected(graph.Chains(8))
	x := grad.Const(tensor.Of([]tensor.Float{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1))
	l := &pool.Graclus{}
	c := l.Forward(nil, g, x, nil)
	fmt.Println(c.Cluster, c.Graph, c.Y.Value())
	c = l.Forward(nil, c.Graph, c.Y, c.Weight)
	fmt.Println(c.Cluster, c.Graph, c.Y.Value())
	// Output:
	// [0 0 1 1 2 2 3 3] Graph(4 nodes, 6 edges) Dense[4 1][1 3 5 7]
	// [0 0 1 1] Graph(2 nodes, 2 edges) Dense[2 1][3 7]
}
