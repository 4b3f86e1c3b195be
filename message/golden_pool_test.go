package message_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pooled is a golden case that reads out the members of a batch.
type pooled struct {
	*golden.Case
	t    *testing.T
	g    *graph.Graph // without edges
	tape *grad.Tape
	vars map[string]*grad.Var
}

func poolCase(t *testing.T, name string) *pooled {
	t.Helper()
	c := golden.Load(t, filepath.Join("testdata", "pooling", name+".json"))
	return &pooled{c, t, members(t, c), grad.NewTape(1), map[string]*grad.Var{}}
}

// members is a batch without edges, of members of the given numbers of nodes.
func members(t *testing.T, c *golden.Case) *graph.Graph {
	var gs []*graph.Graph
	for _, n := range c.Config["batch_num_nodes"].([]any) {
		gs = append(gs, graph.Must(graph.New(int(n.(float64)), nil, nil)))
	}
	g := graph.Batch(gs...)
	for v, m := range c.Ints(t, "inputs", "batch") {
		if o := g.NodeOffsets(); v < o[m] || v >= o[m+1] {
			t.Fatalf("node %d is not in member %d", v, m)
		}
	}
	return g
}

// in returns an input or a parameter, whose gradient check compares.
func (p *pooled) in(name string) *grad.Var {
	if v := p.vars[name]; v != nil {
		return v
	}
	section := "inputs"
	if p.Has("params", name) {
		section = "params"
	}
	p.vars[name] = p.tape.Watch(p.Tensor(p.t, section, name))
	return p.vars[name]
}

// linear applies the linear layer of a name, whose weight is out×in.
func (p *pooled) linear(name string, x *grad.Var) *grad.Var {
	return x.MatMulT(p.in(name + ".weight")).Add(p.in(name + ".bias"))
}

// check compares y and the gradient of everything that has one.
func (p *pooled) check(y *grad.Var) {
	p.t.Helper()
	golden.Compare(p.t, "y", y.Value(), p.Tensor(p.t, "outputs", "y"), p.Float32Error.Outputs)
	grads := p.tape.BackwardFrom(y, p.Tensor(p.t, "cotangents", "y"))
	if len(p.Grads) == 0 {
		p.t.Error("no gradients to compare")
	}
	for name := range p.Grads {
		golden.Compare(p.t, "gradient of "+name, grads.Of(p.in(name)), p.Tensor(p.t, "grads", name), p.Float32Error.Grads)
	}
}

func TestGoldenReadout(t *testing.T) {
	for name, r := range map[string]message.Reducer{
		"sumpooling": message.Sum, "avgpooling": message.Mean, "maxpooling": message.Max,
		"pyg_global_add_pool": message.Sum, "pyg_global_mean_pool": message.Mean, "pyg_global_max_pool": message.Max,
	} {
		t.Run(name, func(t *testing.T) {
			p := poolCase(t, name)
			p.check(message.Readout(p.g, p.in("x"), r))
		})
	}
}

func TestGoldenReadoutSoftmax(t *testing.T) {
	for name, transform := range map[string]string{
		"globalattentionpooling": "", "globalattentionpooling_feat": "feat_nn",
		"pyg_attentionalaggregation": "", "pyg_attentionalaggregation_nn": "nn",
	} {
		t.Run(name, func(t *testing.T) {
			p := poolCase(t, name)
			x := p.in("x")
			score := p.linear("gate_nn", x)
			if transform != "" {
				x = p.linear(transform, x)
			}
			if p.Has("outputs", "attention") {
				alpha := message.ApplyEdges(graph.Membership(p.g), message.U(score).Softmax())
				golden.Compare(t, "attention", alpha.Value(), p.Tensor(t, "outputs", "attention"), p.Float32Error.Outputs)
			}
			p.check(message.ReadoutSoftmax(p.g, x, score))
		})
	}
}

// TestGoldenSet2Set reads out with a query that an LSTM makes of the last answer.
func TestGoldenSet2Set(t *testing.T) {
	for name, c := range map[string]struct{ steps, layers int }{"set2set": {3, 1}, "set2set_layers2": {2, 2}, "pyg_set2set": {3, 1}} {
		t.Run(name, func(t *testing.T) {
			p := poolCase(t, name)
			p.check(p.set2set(c.steps, c.layers))
		})
	}
}

func (p *pooled) set2set(steps, layers int) *grad.Var {
	x, of := p.in("x"), graph.Membership(p.g)
	zero := grad.Const(tensor.New(of.NumDst(), x.Dim(1)))
	h, c := slices.Repeat([]*grad.Var{zero}, layers), slices.Repeat([]*grad.Var{zero}, layers)
	asked := grad.Concat(zero, zero)
	for range steps {
		q := asked
		for l := range layers {
			part := func(x *grad.Var, from string) *grad.Var {
				return x.MatMulT(p.in(fmt.Sprintf("lstm.weight_%s_l%d", from, l))).Add(p.in(fmt.Sprintf("lstm.bias_%s_l%d", from, l)))
			}
			z := part(q, "ih").Add(part(h[l], "hh")).Split(x.Dim(1), x.Dim(1), x.Dim(1), x.Dim(1))
			c[l] = z[1].Sigmoid().Mul(c[l]).Add(z[0].Sigmoid().Mul(z[2].Tanh()))
			h[l] = z[3].Sigmoid().Mul(c[l].Tanh())
			q = h[l]
		}
		answer := message.UpdateAll(of, message.U(x).Mul(message.UDotV(x, q).Softmax()), message.Sum)
		asked = grad.Concat(q, answer)
	}
	return asked
}

// indexed is the bipartite graph whose edges are the rows of a golden case's
// array, from one source to the destinations that its index or ptr names.
func indexed(t *testing.T, c *golden.Case) *graph.Graph {
	rows := c.Inputs["src"].Shape[0]
	var dst []int32
	if c.Has("inputs", "index") {
		dst = c.Ints(t, "inputs", "index")
	} else {
		ptr := c.Ints(t, "inputs", "ptr")
		for v := range len(ptr) - 1 {
			dst = append(dst, slices.Repeat([]int32{int32(v)}, int(ptr[v+1]-ptr[v]))...)
		}
	}
	n, ok := c.Config["num_nodes"].(float64)
	if !ok {
		n = c.Config["dim_size"].(float64)
	}
	return graph.Must(graph.NewBipartite(1, int(n), make([]int32, rows), dst))
}

func TestGoldenSoftmax(t *testing.T) {
	cases(t, "scatter/softmax_*.json", 8, func(t *testing.T, w *watched) {
		w.compare(t, message.EdgeSoftmax(w.g, message.OnEdges(w.g, w.in["src"])), true)
	})
}

func TestGoldenScatter(t *testing.T) {
	byName := map[string]message.Reducer{"sum": message.Sum, "mean": message.Mean, "max": message.Max, "min": message.Min}
	cases(t, "scatter/scatter_*.json", 5, func(t *testing.T, w *watched) {
		r, ok := byName[w.c.Config["reduce"].(string)]
		if !ok {
			t.Fatal(w.c.Config)
		}
		y := message.UpdateAll(w.g, message.CopyE(message.OnEdges(w.g, w.in["src"])), r)
		if strings.HasSuffix(w.c.Name, "_ties") { // PyG shares their gradient
			golden.Compare(t, "y", y.Value(), w.c.Tensor(t, "outputs", "y"), w.c.Float32Error.Outputs)
			return
		}
		w.compare(t, y, false)
	})
}

// product is the product of the messages into each node, 1 where there are none. There is
// no reducer for it: its size is the exponential of a sum of logarithms, and its sign says
// whether an odd number of them is negative. A zero makes the product zero, but then no
// gradient is a number: it divides by each message. A framework gives the zero the product
// of the others.
func product(g *graph.Graph, m message.Msg) *grad.Var {
	size := message.UpdateAll(g, m.Abs().Log(), message.Sum).Exp()
	negative := message.UpdateAll(g, m.Sign().Scale(-0.5).Shift(0.5), message.Sum) // how many
	return size.Mul(negative.Scale(math.Pi).Cos())
}

func TestGoldenProduct(t *testing.T) {
	cases(t, "scatter/product_mul.json", 1, func(t *testing.T, w *watched) {
		w.compare(t, product(w.g, message.CopyE(message.OnEdges(w.g, w.in["src"]))), false)
		tp := grad.NewTape(1)
		x := tp.Watch(tensor.Of([]tensor.Float{-2, 0, 3, -4}, 4, 1))
		y := product(graph.Must(graph.NewBipartite(1, 3, make([]int32, 4), []int32{0, 0, 1, 1})), message.E(x))
		if got := y.Value().Data; got[0] != 0 || math.Abs(float64(got[1])+12) > 1e-5 || got[2] != 1 {
			t.Errorf("products are %v, want 0, -12 and 1", got)
		}
		if d := tp.Backward(y.Sum()).Of(x).Data; d[0] != 0 || d[1] == d[1] || math.Abs(float64(d[2])+4) > 1e-5 {
			t.Errorf("gradients are %v, want 0, NaN, -4 and 3", d)
		}
	})
}
