package pool_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

// membersOf is the case's batch: its edges, or none, on members of its numbers of nodes.
func membersOf(t *testing.T, c *golden.Case) *graph.Graph {
	offsets := batchOf(t, c).NodeOffsets()
	edges := golden.Edges{}
	if c.Graph != nil {
		edges = *c.Graph
	}
	return graph.Must(graph.WithMembers(graph.Must(graph.New(offsets[len(offsets)-1], edges.Src, edges.Dst)), offsets))
}

// checkKept compares what is kept with PyG's, which lists it by score, the best first;
// ours keeps the order of the nodes. Gradients are those of x and of more.
func checkKept(t *testing.T, c *golden.Case, tp *grad.Tape, x *grad.Var, k pool.Kept, more func(grad.Grads) map[string]*tensor.Dense) {
	t.Helper()
	perm := c.Ints(t, "outputs", "perm")
	places := make([]int32, len(perm))
	for i, v := range perm {
		at := slices.Index(k.Nodes, v)
		if at < 0 || len(perm) != len(k.Nodes) {
			t.Fatalf("kept are %v, want %v in any order", k.Nodes, perm)
		}
		places[i] = int32(at)
	}
	count := map[[2]int32]int{} // of each pair of nodes of before
	for e, u := range k.Graph.In().Cols {
		count[[2]int32{k.Nodes[u], k.Nodes[k.Graph.Destinations()[e]]}]++
	}
	src, dst := c.Ints(t, "outputs", "edge_src"), c.Ints(t, "outputs", "edge_dst")
	for e := range src {
		count[[2]int32{src[e], dst[e]}]--
	}
	for pair, n := range count {
		if n != 0 {
			t.Errorf("%d edges too many are kept of %v", n, pair)
		}
	}
	grads := c.CheckOutputs(t, tp, map[string]*grad.Var{"y": k.Y.Rows(places), "score": k.Score.Rows(perm)})
	all := more(grads)
	all["x"] = grads.Of(x)
	c.CheckGrads(t, all)
}

func TestGoldenTopK(t *testing.T) {
	c := golden.Load(t, filepath.Join("testdata", "pyg_topkpooling.json"))
	l, tp := &pool.TopK{In: 3, Ratio: c.Config["ratio"].(float64)}, grad.NewTape(1)
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.P.Value = golden.Transpose(c.Tensor(t, "params", "select.weight"))
	x := tp.Watch(c.Tensor(t, "inputs", "x"))
	checkKept(t, c, tp, x, l.Forward(tp, membersOf(t, c), x), func(grads grad.Grads) map[string]*tensor.Dense {
		return map[string]*tensor.Dense{"select.weight": golden.Transpose(grads.Param(l.P))}
	})
}

// PyG's SAGPooling around a GCNConv without loops of its own. It multiplies the score by
// a weight over its length, which is a sign, and here +1: nothing is learnt of it.
func TestGoldenSAG(t *testing.T) {
	c := golden.Load(t, filepath.Join("testdata", "pyg_sagpooling.json"))
	l, tp := &pool.SAG{In: 3, Ratio: c.Config["ratio"].(float64)}, grad.NewTape(1)
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.GCN.W.Value, l.GCN.B.Value = golden.Transpose(c.Tensor(t, "params", "gnn.lin.weight")), c.Tensor(t, "params", "gnn.bias")
	x := tp.Watch(c.Tensor(t, "inputs", "x"))
	checkKept(t, c, tp, x, l.Forward(tp, membersOf(t, c), x), func(grads grad.Grads) map[string]*tensor.Dense {
		return map[string]*tensor.Dense{"gnn.lin.weight": golden.Transpose(grads.Param(l.GCN.W)), "gnn.bias": grads.Param(l.GCN.B), "select.weight": nil}
	})
}

func TestGoldenSort(t *testing.T) {
	for _, name := range []string{"pyg_sortaggregation_k2", "pyg_sortaggregation_k6"} {
		c := golden.Load(t, filepath.Join("testdata", name+".json"))
		tp := grad.NewTape(1)
		x := tp.Watch(c.Tensor(t, "inputs", "x"))
		y := (&pool.Sort{K: int(c.Config["k"].(float64))}).Forward(tp, membersOf(t, c), x)
		c.CheckGrads(t, map[string]*tensor.Dense{"x": c.CheckOutputs(t, tp, map[string]*grad.Var{"y": y}).Of(x)})
	}
}

// PyG's dense_diff_pool, the shares by its SAGEConv. It pads all members to the largest: its
// entropy is a mean over padding, too. Its link loss is the root of ours, which of parallel
// edges is another, so that case has neither.
func TestGoldenDiff(t *testing.T) {
	for _, name := range []string{"pyg_dense_diff_pool", "pyg_dense_diff_pool_parallel"} {
		c := golden.Load(t, filepath.Join("testdata", name+".json"))
		g, tp := membersOf(t, c), grad.NewTape(1)
		l := &pool.Diff{In: 3, Clusters: int(c.Config["clusters"].(float64))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		matrices := map[string]*grad.Param{"lin_l.weight": l.GNN.W, "lin_r.weight": l.GNN.WRoot}
		for key, p := range matrices {
			p.Value = golden.Transpose(c.Tensor(t, "params", key))
		}
		l.GNN.B.Value = c.Tensor(t, "params", "lin_l.bias")
		x := tp.Watch(c.Tensor(t, "inputs", "x"))
		d := l.Forward(tp, g, x)
		back, clusters := make([]int32, d.Graph.NumEdges()), int32(l.Clusters)
		for e, u := range d.Graph.In().Cols { // ours are by destination
			back[u*clusters+d.Graph.Destinations()[e]%clusters] = int32(e)
		}
		outs := map[string]*grad.Var{
			"y": d.Y.Reshape(-1, l.Clusters, 3), "adj": d.Weight.Rows(back).Reshape(-1, l.Clusters, l.Clusters)}
		if c.Has("outputs", "link_loss") {
			longest, at := 0, g.NodeOffsets()
			for m := range len(at) - 1 {
				longest = max(longest, at[m+1]-at[m])
			}
			outs["link_loss"] = d.Link.Sqrt()
			outs["ent_loss"] = d.Entropy.Scale(float64(g.NumNodes()) / float64(longest*(len(at)-1)))
		}
		grads := c.CheckOutputs(t, tp, outs)
		all := map[string]*tensor.Dense{"x": grads.Of(x), "lin_l.bias": grads.Param(l.GNN.B)}
		for key, p := range matrices {
			all[key] = golden.Transpose(grads.Param(p))
		}
		c.CheckGrads(t, all)
	}
}
