package message_test

import (
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scaledDot is a case of PyTorch's scaled_dot_product_attention. Its arrays are
// batch × heads × rows × width: each head of each sequence is a block of a graph.
type scaledDot struct {
	*golden.Case
	blocks, queries, keys int
}

// visible reports whether query i may hear key j.
func (c scaledDot) visible(t *testing.T, i, j int) bool {
	if c.Config["is_causal"] == true {
		return j <= i
	}
	return c.Inputs["attn_mask"].Dtype != "bool" || c.Tensor(t, "inputs", "attn_mask").Row(i)[j] != 0
}

// graphs returns who hears whom: as a list of edges, and as blocks where these can say it.
func (c scaledDot) graphs(t *testing.T) map[string]*graph.Graph {
	var src, dst []int32
	blocks := make([]*graph.Graph, c.blocks)
	whole := true
	for b := range c.blocks {
		for i := range c.queries {
			for j := range c.keys {
				if !c.visible(t, i, j) {
					whole = false
					continue
				}
				src, dst = append(src, int32(b*c.keys+j)), append(dst, int32(b*c.queries+i))
			}
		}
		blocks[b] = graph.CompleteBipartite(c.keys, c.queries)
		if c.Config["is_causal"] == true && c.keys == c.queries {
			blocks[b] = graph.Causal(c.keys)
		}
	}
	all := map[string]*graph.Graph{"edges": graph.Must(graph.NewBipartite(c.blocks*c.keys, c.blocks*c.queries, src, dst))}
	if whole || c.Config["is_causal"] == true && c.keys == c.queries {
		all["blocks"] = graph.Batch(blocks...)
	}
	return all
}

// check compares the result and the gradients on a graph.
func (c scaledDot) check(t *testing.T, g *graph.Graph) {
	tape := grad.NewTape(1)
	in := map[string]*grad.Var{}
	rows := func(x *tensor.Dense) *tensor.Dense { return x.Reshape(-1, x.Dim(-1)) }
	for name, a := range c.Inputs {
		if a.Dtype != "bool" {
			in[name] = tape.Watch(rows(c.Tensor(t, "inputs", name)))
		}
	}
	a := &message.Attention{Q: in["query"], K: in["key"], V: in["value"]}
	if s, ok := c.Config["scale"].(float64); ok {
		a.Scale = s
	}
	if mask := in["attn_mask"]; mask != nil {
		kinds := make([]int32, g.NumEdges())
		for e, u := range g.In().Cols {
			kinds[e] = g.Destinations()[e]%int32(c.queries)*int32(c.keys) + u%int32(c.keys)
		}
		a.Bias = message.W(mask.Reshape(-1, 1)).Pick(kinds)
	}
	y, _ := a.Apply(tape, g)
	golden.Compare(t, "y", y.Value(), rows(c.Tensor(t, "outputs", "y")), c.Float32Error.Outputs)
	gs := tape.BackwardFrom(y, rows(c.Tensor(t, "cotangents", "y")))
	for name, x := range in {
		golden.Compare(t, "d"+name, gs.Of(x), rows(c.Tensor(t, "grads", name)), c.Float32Error.Grads)
	}
}

func TestGoldenScaledDotProduct(t *testing.T) {
	files, err := filepath.Glob("testdata/attention/*.json")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	ran := map[string]int{}
	for _, file := range files {
		c := scaledDot{Case: golden.Load(t, file)}
		q, k := c.Inputs["query"].Shape, c.Inputs["key"].Shape
		c.blocks, c.queries, c.keys = q[0]*q[1], q[2], k[2]
		for name, g := range c.graphs(t) {
			ran[name]++
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) { c.check(t, g) })
		}
	}
	if ran["blocks"] != 4 {
		t.Errorf("%v were run, want 4 on blocks", ran)
	}
}
