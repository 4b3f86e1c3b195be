package layers_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// theirs brings rows of the edges of the graph into the framework's order.
func (s *scene) theirs(x *grad.Var) *grad.Var {
	back := make([]int32, len(s.order))
	for e, i := range s.order {
		back[i] = int32(e)
	}
	return x.Rows(back)
}

// others is the graph of the case's pairs that are no edges.
func (s *scene) others(t *testing.T) *graph.Graph {
	return graph.Must(graph.New(s.g.NumNodes(), s.Ints(t, "inputs", "other_src"), s.Ints(t, "inputs", "other_dst")))
}

// gcnOf returns a GCNConv with the weights of PyG's of that name. PyG's adds no loops
// where it is told not to.
func (s *scene) gcnOf(t *testing.T, name string, activation grad.Activation) *layers.GCNConv {
	w := s.matrix(t, "params", name+".lin.weight")
	l := &layers.GCNConv{In: w.Dim(0), Out: w.Dim(1), Activation: activation}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.W.Value, l.B.Value = w, s.Tensor(t, "params", name+".bias")
	return l
}

// gcnGrads adds the gradients of such a layer, by PyG's names.
func gcnGrads(all map[string]*tensor.Dense, grads grad.Grads, name string, l *layers.GCNConv) {
	all[name+".lin.weight"], all[name+".bias"] = golden.Transpose(grads.Param(l.W)), grads.Param(l.B)
}

// PyG's LGConv is one propagation, of which a LightGCN of K = 1 takes the mean with x.
func TestLGConvPyG(t *testing.T) {
	cases(t, "pyg/lgconv*.json", 2, func(t *testing.T, s *scene) {
		tp := grad.NewTape(1)
		in, watched := s.watch(t, tp)
		y := (&layers.LightGCN{K: 1}).Apply(tp, s.g, in).Y.Scale(2).Sub(in.Src)
		grads := s.CheckOutputs(t, tp, map[string]*grad.Var{"y": y})
		all := map[string]*tensor.Dense{}
		for key, x := range watched {
			all[key] = grads.Of(x)
		}
		s.CheckGrads(t, all)
	})
}

// The scores and both losses of PyG's LightGCN. Its BPR loss adds λ times the squares of
// the rows of x that it is given, over their number; ours leaves that to the caller.
func TestLightGCNPyG(t *testing.T) {
	s := stage(t, "pyg/lightgcn.json")
	l, tp := &layers.LightGCN{K: number(s, "num_layers")}, grad.NewTape(1)
	x := tp.Watch(s.Tensor(t, "params", "embedding.weight"))
	users, items, others := s.Ints(t, "inputs", "users"), s.Ints(t, "inputs", "items"), s.Ints(t, "inputs", "others")
	z := l.Forward(tp, s.g, x)
	score := func(of []int32) *grad.Var { return z.Rows(users).Mul(z.Rows(of)).SumAxis(1) }
	plain := l.Loss(z, users, items, others)
	squares := x.Rows(users).Square().Sum().Scale(config(s.Case, "lambda_reg", 0.0) / float64(len(users)))
	grads := s.CheckOutputs(t, tp, map[string]*grad.Var{
		"y": z, "right": score(items), "wrong": score(others), "plain": plain, "regularised": plain.Add(squares)})
	s.CheckGrads(t, map[string]*tensor.Dense{"embedding.weight": grads.Of(x)})
}

// GAE's recon_loss adds 1e-15 inside its logarithms, which is not seen here.
func TestInnerProductPyG(t *testing.T) {
	s := stage(t, "pyg/innerproductdecoder.json")
	l, tp := &layers.InnerProduct{}, grad.NewTape(1)
	z := tp.Watch(s.Tensor(t, "inputs", "x"))
	logits := s.theirs(l.Forward(tp, s.g, z))
	grads := s.CheckOutputs(t, tp, map[string]*grad.Var{
		"logits": logits, "chances": logits.Sigmoid(), "recon_loss": l.Loss(tp, s.g, s.others(t), z)})
	s.CheckGrads(t, map[string]*tensor.Dense{"x": grads.Of(z)})
}

// PyG's VGAE in eval mode: z is the mean there. Ours is so where nothing is recorded, so
// that the gradient of z is that of its formula without the draw.
func TestVGAEPyG(t *testing.T) {
	s := stage(t, "pyg/vgae.json")
	first, mu, log := s.gcnOf(t, "encoder.first", grad.ReLU), s.gcnOf(t, "encoder.mu", grad.Identity), s.gcnOf(t, "encoder.logstd", grad.Identity)
	l := &layers.VGAE{In: first.In, Hidden: first.Out, Out: mu.Out, First: first, Mu: mu, LogStd: log}
	golden.Compare(t, "z", l.Forward(nil, s.g, grad.Const(s.Tensor(t, "inputs", "x"))).Value(), s.Tensor(t, "outputs", "z"), s.Float32Error.Outputs)
	tp := grad.NewTape(1)
	x := tp.Watch(s.Tensor(t, "inputs", "x"))
	_, divergence := l.Encode(tp, s.g, x)
	z := mu.Forward(tp, s.g, first.Forward(tp, s.g, x))
	grads := s.CheckOutputs(t, tp, map[string]*grad.Var{
		"z": z, "kl_loss": divergence, "recon_loss": (&layers.InnerProduct{}).Loss(tp, s.g, s.others(t), z)})
	all := map[string]*tensor.Dense{"x": grads.Of(x)}
	for name, part := range map[string]*layers.GCNConv{"first": first, "mu": mu, "logstd": log} {
		gcnGrads(all, grads, "encoder."+name, part)
	}
	s.CheckGrads(t, all)
}

// PyG's loss is the sum of two means, ours half of it, as the paper's; PyG adds 1e-15
// inside the logarithms.
func TestDGIPyG(t *testing.T) {
	s := stage(t, "pyg/deepgraphinfomax.json")
	encoder := s.gcnOf(t, "encoder", grad.Identity)
	l, tp := &layers.DGI{Width: encoder.Out}, grad.NewTape(1)
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.W.Value = s.Tensor(t, "params", "weight")
	x := tp.Watch(s.Tensor(t, "inputs", "x"))
	h := encoder.Forward(tp, s.g, x)
	shuffled := encoder.Forward(tp, s.g, x.Rows(s.Ints(t, "inputs", "order")))
	grads := s.CheckOutputs(t, tp, map[string]*grad.Var{"h": h, "shuffled": shuffled, "loss": l.Loss(tp, h, shuffled).Scale(2)})
	all := map[string]*tensor.Dense{"x": grads.Of(x), "weight": grads.Param(l.W)}
	gcnGrads(all, grads, "encoder", encoder)
	s.CheckGrads(t, all)
}
