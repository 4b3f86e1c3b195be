package sequence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func random(seed uint64, shape ...int) *grad.Param {
	p := grad.NewParam(shape...)
	p.Value.Normal(rand.New(rand.NewPCG(seed, 1)), 0, 0.8)
	return p
}

// weigh turns results into a loss.
func weigh(s message.State) *grad.Var {
	loss := grad.Const(tensor.New(1))
	for i, y := range s {
		loss = loss.Add(y.Mul(grad.Const(random(uint64(90+i), y.Shape()...).Value)).Sum())
	}
	return loss
}

func forest() *graph.Graph {
	return graph.Must(graph.Trees([]int32{-1, 0, 0, 1, 1, 1}, []int32{-1}, []int32{2, 0, -1, 2}))
}

// network is a recurrent layer with its states on a graph.
type network struct {
	name   string
	layer  any
	g      *graph.Graph
	states func(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State
	oracle func(g *graph.Graph, x *grad.Param) (h, c [][]float64)
}

const width = 3

// hiddenOf is the width of a state: a norm of two numbers would leave their order alone.
func hiddenOf(norm bool) int {
	if norm {
		return 6
	}
	return 2
}

func networks() []network {
	ragged := graph.Chains(4, 1, 0, 3)
	dag := graph.Must(graph.New(7, []int32{0, 0, 1, 2, 3, 1, 3}, []int32{2, 3, 3, 4, 4, 5, 4}))
	var out []network
	for name, l := range map[string]*sequence.LSTM{
		"LSTM":         {ForgetBias: 1},
		"no bias":      {NoBias: true},
		"diagonal":     {Peephole: sequence.DiagonalPeephole},
		"diagonal old": {Peephole: sequence.DiagonalPeephole, PeepOld: true},
		"full":         {Peephole: sequence.FullPeephole},
		"full old":     {Peephole: sequence.FullPeephole, PeepOld: true},

		"no forget":          {Forget: sequence.NoForget},
		"no forget, peeps":   {Forget: sequence.NoForget, Peephole: sequence.DiagonalPeephole},
		"no forget, full":    {Forget: sequence.NoForget, Peephole: sequence.FullPeephole, NoBias: true},
		"coupled":            {Forget: sequence.CoupledForget, ForgetBias: 1},
		"coupled, peeps old": {Forget: sequence.CoupledForget, Peephole: sequence.DiagonalPeephole, PeepOld: true},
		"coupled, peeps":     {Forget: sequence.CoupledForget, Peephole: sequence.DiagonalPeephole},
		"coupled, full":      {Forget: sequence.CoupledForget, Peephole: sequence.FullPeephole},
		"norm":               {LayerNorm: true, ForgetBias: 1},
		"norm, peeps":        {LayerNorm: true, Peephole: sequence.DiagonalPeephole},
		"norm, full, none":   {LayerNorm: true, Peephole: sequence.FullPeephole, Forget: sequence.NoForget, NoBias: true},
		"norm, coupled, old": {LayerNorm: true, Peephole: sequence.DiagonalPeephole, Forget: sequence.CoupledForget, PeepOld: true},
	} {
		l.In, l.Hidden = width, hiddenOf(l.LayerNorm)
		init := message.State{grad.Const(tensor.New(1, l.Hidden)), grad.Const(tensor.New(1, l.Hidden))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		states := func(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State { return l.ForwardFrom(t, g, x, init) }
		oracle := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) { return lstmOracle(l, g, x) }
		out = append(out, network{name, l, ragged, states, oracle})
		out = append(out, network{name + " reversed", l, graph.Reverse(ragged), states, oracle}, network{name + " on a dag", l, dag, states, oracle}, network{name + " on trees", l, forest(), states, oracle})
	}
	for name, l := range map[string]*sequence.RNN{
		"RNN":                      {},
		"RNN relu":                 {Activation: grad.ReLU},
		"RNN no bias":              {NoBias: true},
		"leaky":                    {Leak: 0.3},
		"leaky learnt":             {LearnLeak: true, Leak: 0.7},
		"residual":                 {Residual: true},
		"RNN silu":                 {Activation: grad.SiLU},
		"RNN norm":                 {LayerNorm: true},
		"RNN norm, leaky, no bias": {LayerNorm: true, NoBias: true, LearnLeak: true},
	} {
		l.In, l.Hidden = width, hiddenOf(l.LayerNorm)
		l.Init(rand.New(rand.NewPCG(1, 1)))
		states := func(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State { return l.ForwardFrom(t, g, x, nil) }
		oracle := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) { return rnnOracle(l, g, x) }
		out = append(out, network{name, l, ragged, states, oracle}, network{name + " on a dag", l, dag, states, oracle}, network{name + " on trees", l, forest(), states, oracle})
	}
	for name, l := range map[string]*sequence.GRU{
		"GRU":                      {},
		"GRU no bias":              {NoBias: true},
		"GRU reset before":         {ResetBefore: true},
		"GRU reset before no bias": {ResetBefore: true, NoBias: true},
		"GRU admits":               {UpdateAdmits: true},
		"GRU admits before":        {UpdateAdmits: true, ResetBefore: true},
		"minimal":                  {Minimal: true},
		"minimal no bias":          {Minimal: true, NoBias: true},
		"minimal before":           {Minimal: true, ResetBefore: true},
		"GRU norm":                 {LayerNorm: true},
		"GRU norm before":          {LayerNorm: true, ResetBefore: true},
		"minimal norm":             {LayerNorm: true, Minimal: true, UpdateAdmits: true},
	} {
		l.In, l.Hidden = width, hiddenOf(l.LayerNorm)
		l.Init(rand.New(rand.NewPCG(1, 1)))
		states := func(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State { return l.ForwardFrom(t, g, x, nil) }
		oracle := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) { return gruOracle(l, g, x) }
		out = append(out, network{name, l, ragged, states, oracle}, network{name + " on a dag", l, dag, states, oracle}, network{name + " on trees", l, forest(), states, oracle})
	}
	l := &sequence.TreeLSTM{In: width, Hidden: 2, ForgetBias: 1}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	tree := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) { return treeOracle(l, g, x) }
	out = append(out, network{"tree", l, forest(), l.States, tree}, network{"tree on a dag", l, dag, l.States, tree}, network{"tree on chains", l, ragged, l.States, tree})
	for name, l := range map[string]*sequence.TreeLSTM{
		"3-ary": {Arity: 3}, "3-ary, own child": {Arity: 3, OwnChild: true, ForgetBias: 1}, "5-ary": {Arity: 5},
	} {
		l.In, l.Hidden = width, 2
		l.Init(rand.New(rand.NewPCG(1, 1)))
		oracle := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) { return naryOracle(l, g, x) }
		out = append(out, network{name, l, forest(), l.States, oracle}, network{name + " on a dag", l, dag, l.States, oracle}, network{name + " on chains", l, ragged, l.States, oracle})
	}
	for name, l := range map[string]*sequence.Recursive{
		"recursive": {In: width, Hidden: 2, Arity: 3}, "recursive words": {In: 2, Hidden: 2, Arity: 4, Words: true},
	} {
		l.Init(rand.New(rand.NewPCG(1, 1)))
		states := func(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State {
			return l.ForwardFrom(t, g, x.Columns(0, l.In), nil)
		}
		oracle := func(g *graph.Graph, x *grad.Param) (h, c [][]float64) {
			cut := grad.NewParam(x.Value.Rows(), l.In)
			for v := range x.Value.Rows() {
				copy(cut.Value.Row(v), x.Value.Row(v)[:l.In])
			}
			return recursiveOracle(l, g, cut)
		}
		out = append(out, network{name, l, forest(), states, oracle}, network{name + " on a dag", l, dag, states, oracle})
	}
	return out
}

func each(t *testing.T, f func(t *testing.T, n network)) {
	for _, n := range networks() {
		t.Run(n.name, func(t *testing.T) {
			for i, p := range slices.Collect(params(n.layer)) {
				p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 7)), 0, 0.8)
			}
			f(t, n)
		})
	}
}

// params yields the Params of a model.
func params(model any) func(yield func(*grad.Param) bool) {
	return func(yield func(*grad.Param) bool) {
		for _, p := range grad.Params(model) {
			if !yield(p) {
				return
			}
		}
	}
}

func TestOracle(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		x := random(2, n.g.NumNodes(), width)
		h, c := n.oracle(n.g, x)
		s := n.states(nil, n.g, grad.Const(x.Value))
		for i, want := range [][][]float64{h, c} {
			for v, row := range want {
				compare.Near(t, fmt.Sprintf("state %d of node %d", i, v), s[i].Value().Row(v), row, compare.Off(1e-5, 0))
			}
		}
	})
}

func TestGradients(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		x := random(2, n.g.NumNodes(), width)
		gradtest.Check(t, []any{n.layer, x}, func(tp *grad.Tape) *grad.Var { return weigh(n.states(tp, n.g, tp.Use(x))) })
	})
}

// The fused gates, with and without a gradient for each operand and result.
func TestLSTMGates(t *testing.T) {
	z, c, p := random(1, 3, 8), random(2, 3, 2), random(3, 3, 2)
	for _, old := range []bool{false, true} {
		for _, only := range []int{-1, 0, 1} { // the result that the loss depends on
			gradtest.Check(t, []*grad.Param{z, c, p}, func(tp *grad.Tape) *grad.Var {
				h, next := sequence.LSTMGates(tp.Use(z), tp.Use(c), tp.Use(p), old)
				s := message.State{h, next}
				if only >= 0 {
					s = s[only : only+1]
				}
				return weigh(s)
			})
		}
	}
	gradtest.Check(t, z, func(tp *grad.Tape) *grad.Var {
		h, next := sequence.LSTMGates(tp.Use(z), grad.Const(c.Value), nil, false)
		return weigh(message.State{h, next})
	})
	if err := tensor.Try(func() { sequence.LSTMGates(grad.Const(c.Value), grad.Const(c.Value), nil, false) }); err == nil {
		t.Error("z of two columns for a cell of two was taken")
	}
}

// Gates held open or shut do what their names say.
func TestGatesShut(t *testing.T) {
	const inf = 1e4
	c := []tensor.Float{0.3, -0.7}
	step := func(i, f, o tensor.Float) (h, next []tensor.Float) {
		z := tensor.Of([]tensor.Float{i, i, f, f, 2, -1, o, o}, 1, 8)
		a, b := sequence.LSTMGates(grad.Const(z), grad.Const(tensor.Of(c, 1, 2)), nil, false)
		return a.Value().Data, b.Value().Data
	}
	if _, next := step(-inf, inf, 0); !slices.Equal(next, c) {
		t.Errorf("remembering made %v of %v", next, c)
	}
	if _, next := step(inf, -inf, 0); math.Abs(float64(next[0])-math.Tanh(2)) > 1e-6 {
		t.Errorf("forgetting left %v", next)
	}
	if h, _ := step(0, 0, -inf); h[0] != 0 || h[1] != 0 {
		t.Errorf("a shut output gate let %v out", h)
	}
}

// A batch of ragged sequences, or of trees, gives the bits of its members.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		other := graph.Chains(2) // whose edges have no kinds
		x, y := random(2, n.g.NumNodes(), width), random(3, 2, width)
		both := tensor.Of(append(slices.Clone(x.Value.Data), y.Value.Data...), n.g.NumNodes()+2, width)
		got := n.states(nil, graph.Batch(n.g, other), grad.Const(both))
		a, b := n.states(nil, n.g, grad.Const(x.Value)), n.states(nil, other, grad.Const(y.Value))
		for i := range got {
			if !slices.Equal(got[i].Value().Data, append(slices.Clone(a[i].Value().Data), b[i].Value().Data...)) {
				t.Errorf("state %d of the batch differs from its members'", i)
			}
		}
	})
}

// The gradients of a batch, whose levels have more than 32 rows, are the sums of those of
// five members at a time, whose levels have fewer. Of chains read the other way, and where a
// state has several parents, the levels are the same sums: those run in full.
func TestBatchGradients(t *testing.T) {
	const members, few = 35, 5
	each(t, func(t *testing.T, n network) {
		if (strings.HasSuffix(n.name, "reversed") || strings.HasSuffix(n.name, "on a dag")) && !sparing.Full() {
			return
		}
		nodes := n.g.NumNodes()
		graphs := make([]*graph.Graph, members)
		for i := range graphs {
			graphs[i] = n.g
		}
		x := random(2, members*nodes, width)
		weights := random(3, members*nodes, n.states(nil, n.g, grad.Const(x.Value.RowRange(0, nodes)))[0].Dim(1))
		gradients := func(tape *grad.Tape, g *graph.Graph, from int) map[string]*tensor.Dense {
			rows := func(p *grad.Param) *tensor.Dense { return p.Value.RowRange(from, from+g.NumNodes()) }
			tape.Reset()
			in, w, loss := tape.Watch(rows(x)), grad.Const(rows(weights)), grad.Const(tensor.New(1))
			for _, y := range n.states(tape, g, in) {
				loss = loss.Add(y.Mul(w).Sum())
			}
			grads := tape.Backward(loss)
			out := map[string]*tensor.Dense{"x": grads.Of(in)}
			for name, p := range grad.Params(n.layer) {
				out[name] = grads.Param(p)
			}
			return out
		}
		all := gradients(grad.NewTape(1), graph.Batch(graphs...), 0)
		sums, part, tape := map[string][]float64{}, graph.Batch(graphs[:few]...), grad.NewTape(1)
		for i := 0; i < members; i += few {
			for name, d := range gradients(tape, part, i*nodes) {
				if sums[name] == nil {
					sums[name] = make([]float64, len(all[name].Data))
				}
				to := sums[name]
				if name == "x" {
					to = to[i*nodes*width:]
				}
				for k, v := range d.Data {
					to[k] += float64(v)
				}
			}
		}
		for name, want := range sums {
			compare.Near(t, "gradient of "+name+", and of the members", all[name].Data, want, compare.Off(1e-4, 1e-5))
		}
	})
}

func TestEmpty(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		for _, s := range n.states(grad.NewTape(1), graph.Chains(), grad.Const(tensor.New(0, width))) {
			if s.Dim(0) != 0 || s.Dim(1) != 2 && s.Dim(1) != 6 {
				t.Errorf("shape is %v, want no rows of the state's width", s.Shape())
			}
		}
	})
}

// New numbers for the nodes change nothing.
func TestPermutation(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		number, old := make([]int32, n.g.NumNodes()), make([]int32, n.g.NumNodes())
		for i, p := range rand.New(rand.NewPCG(5, 5)).Perm(len(number)) {
			number[i], old[p] = int32(p), int32(i)
		}
		var src, dst []int32
		for e, v := range n.g.Destinations() {
			src, dst = append(src, number[n.g.In().Cols[e]]), append(dst, number[v])
		}
		h := graph.Must(graph.New(len(number), src, dst))
		if n.g.Kinds() != nil {
			h = graph.Must(graph.WithKinds(h, n.g.Kinds()))
		}
		x := grad.Const(random(2, len(number), width).Value)
		got, want := n.states(nil, h, x.Rows(old)), n.states(nil, n.g, x)
		for i := range got {
			golden.Compare(t, "state", got[i].Rows(number).Value(), want[i].Value(), 0)
		}
	})
}

func TestConcurrent(t *testing.T) {
	each(t, func(t *testing.T, n network) {
		x := grad.Const(random(2, n.g.NumNodes(), width).Value)
		want := n.states(nil, n.g, x)[0].Value()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if !slices.Equal(n.states(grad.NewEval(), n.g, x)[0].Value().Data, want.Data) {
					t.Error("a goroutine got another result")
				}
			})
		}
		wg.Wait()
	})
}

// On a chain a Tree-LSTM is an LSTM.
func TestTreeIsChain(t *testing.T) {
	a := &sequence.TreeLSTM{In: width, Hidden: 2}
	a.Init(rand.New(rand.NewPCG(1, 1)))
	b := &sequence.LSTM{In: width, Hidden: 2, NoBias: true}
	b.Init(rand.New(rand.NewPCG(2, 1)))
	for _, w := range [][3]*grad.Param{{b.W, a.W, a.WF}, {b.U, a.U, a.UF}} {
		for r := range w[0].Value.Rows() {
			igo, f := w[1].Value.Row(r), w[2].Value.Row(r)
			copy(w[0].Value.Row(r), slices.Concat(igo[:2], f, igo[2:]))
		}
	}
	g, x := graph.Chains(5), grad.Const(random(2, 5, width).Value)
	golden.Compare(t, "h", a.Forward(nil, g, x).Value(), b.Forward(nil, g, x).Value(), 0)
}
