package sequence_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// columnLength is the length of column j of a convolution's weights, over In and the taps.
func columnLength(l *sequence.Conv1D, j int) float64 {
	sum := 0.0
	for i := range l.In {
		for k := range l.Kernel {
			sum += math.Pow(float64(l.W.Value.Row(i)[k*l.Out+j]), 2)
		}
	}
	return math.Sqrt(sum)
}

// convOracle is the convolution of one sequence in loops, with zeros beyond its ends.
func convOracle(l *sequence.Conv1D, x [][]float64) [][]float64 {
	d := max(1, l.Dilation)
	y := make([][]float64, len(x))
	for t := range y {
		y[t] = make([]float64, l.Out)
		for j := range y[t] {
			y[t][j] = at(l.B, j)
			scale := 1.0
			if l.WeightNorm {
				scale = at(l.Gain, j) / columnLength(l, j)
			}
			for k := range l.Kernel {
				s := t + (k-(l.Kernel-1)/2)*d
				if l.Causal {
					s = t + (k-l.Kernel+1)*d
				}
				if s >= 0 && s < len(x) {
					y[t][j] += scale * product(x[s], l.W, k*l.Out+j)
				}
			}
		}
	}
	return y
}

func convs() map[string]*sequence.Conv1D {
	out := map[string]*sequence.Conv1D{
		"3": {Kernel: 3}, "5 by 2": {Kernel: 5, Dilation: 2}, "1": {Kernel: 1, NoBias: true},
		"causal 2": {Kernel: 2, Causal: true}, "causal 3 by 4": {Kernel: 3, Dilation: 4, Causal: true}, "longer than the chains": {Kernel: 41, Causal: true},
		"weight norm": {Kernel: 3, WeightNorm: true}, "weight norm, causal 2 by 2": {Kernel: 2, Dilation: 2, Causal: true, WeightNorm: true, NoBias: true},
	}
	for _, l := range out {
		l.In, l.Out = 3, 2
		l.Init(rand.New(rand.NewPCG(1, 1)))
		if l.B != nil {
			l.B.Value.Normal(rand.New(rand.NewPCG(2, 1)), 0, 1)
		}
		if l.Gain != nil {
			l.Gain.Value.Normal(rand.New(rand.NewPCG(3, 1)), 0, 1)
		}
	}
	return out
}

// A batch is the loops over each sequence, and nothing of one reaches another.
func TestConv1D(t *testing.T) {
	lengths := []int{7, 1, 0, 12, 2}
	g := graph.Chains(lengths...)
	x := random(1, g.NumNodes(), 3)
	for name, l := range convs() {
		got := l.Forward(nil, g, grad.Const(x.Value)).Value()
		from := 0
		for _, n := range lengths {
			var rows [][]float64
			for v := range n {
				rows = append(rows, row(x, from+v))
			}
			for v, want := range convOracle(l, rows) {
				compare.Near(t, fmt.Sprintf("%s: node %d of the sequence of %d", name, v, n), got.Row(from+v), want, compare.Off(1e-5, 0))
			}
			alone := l.Forward(nil, graph.Chains(n), grad.Const(x.Value.RowRange(from, from+n))).Value().Data
			if !slices.Equal(alone, got.RowRange(from, from+n).Data) {
				t.Errorf("%s: the sequence of %d differs alone", name, n)
			}
			from += n
		}
		gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var { return weigh(message.State{l.Forward(tp, g, tp.Use(x))}) })
	}
}

// Sparse features give what dense ones do; a batch of no chains gives no rows.
func TestConv1DSparseAndEmpty(t *testing.T) {
	x := tensor.New(5, 3)
	x.Row(1)[2], x.Row(3)[0] = 2, -1
	bag, _, err := sparse.FromCOO(5, 3, []int32{1, 3}, []int32{2, 0}, []tensor.Float{2, -1})
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range convs() {
		g := graph.Chains(3, 2)
		if a, b := l.Forward(nil, g, grad.Const(bag)), l.Forward(nil, g, grad.Const(x)); compare.Differ(a.Value().Data, b.Value().Data, rounded) != nil {
			t.Errorf("%s: sparse features give %v, dense ones %v", name, a.Value().Data, b.Value().Data)
		}
		for _, none := range []*graph.Graph{graph.Chains(), graph.Chains(0, 0)} {
			tp := grad.NewTape(1)
			y := l.Forward(tp, none, tp.Watch(tensor.New(0, 3)))
			tp.Backward(y.Sum())
			if !slices.Equal(y.Shape(), []int{0, 2}) {
				t.Errorf("%s: no chains give the shape %v", name, y.Shape())
			}
		}
	}
}

// A causal convolution does not see the future, on the reverse graph not the past; chains
// whose nodes have any numbers are chains.
func TestConv1DLooksBack(t *testing.T) {
	l := convs()["causal 3 by 4"]
	g := graph.Chains(12)
	x := random(1, 12, 3).Value
	y, back := l.Forward(nil, g, grad.Const(x)).Value(), l.Forward(nil, graph.Reverse(g), grad.Const(x)).Value()
	changed := x.Clone()
	changed.Row(6)[1] += 1
	z, zback := l.Forward(nil, g, grad.Const(changed)).Value(), l.Forward(nil, graph.Reverse(g), grad.Const(changed)).Value()
	for v := range 12 {
		if reached := !slices.Equal(y.Row(v), z.Row(v)); reached != (v == 6 || v == 10) {
			t.Errorf("a change at node 6 reaches node %d: %v", v, reached)
		}
		if reached := !slices.Equal(back.Row(v), zback.Row(v)); reached != (v == 6 || v == 2) {
			t.Errorf("backwards a change at node 6 reaches node %d: %v", v, reached)
		}
	}
	number := []int32{3, 0, 4, 1, 2}
	renamed := graph.Must(graph.New(5, number[:4], number[1:]))
	five := grad.Const(random(2, 5, 3).Value)
	want := l.Forward(nil, graph.Chains(5), five.Rows(number)).Value()
	if got := l.Forward(nil, renamed, five).Rows(number).Value(); !slices.Equal(got.Data, want.Data) {
		t.Errorf("with other numbers %v, want %v", got.Data, want.Data)
	}
}

// What is no chain, and fields that say nothing, are told in words.
func TestConv1DMisuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := &sequence.Conv1D{In: 3, Out: 2, Kernel: 3}
	x := grad.Const(tensor.New(3, 3))
	if e := misused(func() { l.Forward(nil, graph.Chains(3), x) }); e == nil || !strings.Contains(e.Why, "was Init called") {
		t.Errorf("without Init: %v", e)
	}
	l.Init(rng)
	tree := graph.Must(graph.Trees([]int32{-1, 0, 0}))
	if e := misused(func() { l.Forward(nil, tree, x) }); e == nil || !strings.Contains(e.Why, "node 0 has several predecessors") {
		t.Errorf("a tree: %v", e)
	}
	ring := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}))
	func() {
		defer func() {
			var cycle *graph.CycleError
			if err, _ := recover().(error); !errors.As(err, &cycle) {
				t.Errorf("a ring: %v", err)
			}
		}()
		l.Forward(nil, ring, x)
	}()
	for want, wrong := range map[string]*sequence.Conv1D{"even one has no middle": {Kernel: 4}, "want at least 1": {}, "Dilation is -1": {Kernel: 3, Dilation: -1}} {
		wrong.In, wrong.Out = 3, 2
		if e := misused(func() { wrong.Init(rng); wrong.Forward(nil, graph.Chains(3), x) }); e == nil || !strings.Contains(e.Why, want) {
			t.Errorf("got %v, want a TapeError about %q", e, want)
		}
	}
	for want, f := range map[string]func(){
		"x has 2 columns, In is 3": func() { l.Forward(nil, graph.Chains(3), grad.Const(tensor.New(3, 2))) },
		"the graph has 2 nodes":    func() { l.Forward(nil, graph.Chains(2), x) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
}

// A TCN is its convolutions, hears as far as its comment says, and nothing of the future.
func TestTCN(t *testing.T) {
	net := &sequence.TCN{In: 2, Widths: []int{3, 3, 4}, Kernel: 2}
	net.Init(rand.New(rand.NewPCG(1, 1)))
	if net.Skip[0] == nil || net.Skip[1] != nil || net.Skip[2] == nil {
		t.Error("a block has a convolution beside it where its width does not change, or none where it does")
	}
	const reach = 1 + 2*(2-1)*(1<<3-1)
	g := graph.Chains(20, 3)
	x := random(1, 23, 2)
	ones := tensor.New(23, 2)
	for p := range params(net) { // everything is above zero, so that no ReLU hides a change
		for i, v := range p.Value.Data {
			p.Value.Data[i] = max(v, -v)
		}
	}
	ones.Fill(1)
	y := net.Forward(nil, g, grad.Const(ones)).Value()
	ones.Row(2)[0] = 2
	z := net.Forward(nil, g, grad.Const(ones)).Value()
	for v := range 23 {
		if reached := !slices.Equal(y.Row(v), z.Row(v)); reached != (v >= 2 && v < 2+reach && v < 20) {
			t.Errorf("a change at node 2 reaches node %d: %v", v, reached)
		}
	}
	block := func(i int, x *grad.Var) *grad.Var {
		h := net.Second[i].Forward(nil, g, net.First[i].Forward(nil, g, x).ReLU()).ReLU()
		if net.Skip[i] != nil {
			x = net.Skip[i].Forward(nil, g, x)
		}
		return h.Add(x).ReLU()
	}
	xv := grad.Const(x.Value)
	if want := block(2, block(1, block(0, xv))); !slices.Equal(net.Forward(nil, g, xv).Value().Data, want.Value().Data) {
		t.Error("it is not its blocks")
	}
	net.Dropout = 0.2
	for i, v := range x.Value.Data { // and no ReLU is near its corner
		x.Value.Data[i] = max(v, -v)
	}
	gradtest.Check(t, []any{net, x}, func(tp *grad.Tape) *grad.Var { return weigh(message.State{net.Forward(tp, g, tp.Use(x))}) })
	net.Widths = append(net.Widths, 5)
	if e := misused(func() { net.Forward(nil, g, xv) }); e == nil || !strings.Contains(e.Why, "was Init called") {
		t.Errorf("a width added after Init: %v", e)
	}
	if e := misused(func() { (&sequence.TCN{In: 2}).Init(rand.New(rand.NewPCG(1, 1))) }); e == nil {
		t.Error("a TCN without blocks was made")
	}
}

// tcnOracle is a TCN of one sequence in loops.
func tcnOracle(l *sequence.TCN, x [][]float64) [][]float64 {
	relu := func(y [][]float64) [][]float64 {
		for _, r := range y {
			for j := range r {
				r[j] = max(0, r[j])
			}
		}
		return y
	}
	for i := range l.Widths {
		z := relu(convOracle(l.Second[i], relu(convOracle(l.First[i], x))))
		if l.Skip[i] != nil {
			x = convOracle(l.Skip[i], x)
		}
		for v := range z {
			for j := range z[v] {
				z[v][j] += x[v][j]
			}
		}
		x = relu(z)
	}
	return x
}

// With and without a weight norm it is the loops; the norm is of the two convolutions of a
// block, not of the one beside them, and changes nothing until its gains do.
func TestTCNWeightNorm(t *testing.T) {
	g, x := graph.Chains(6, 1, 4), random(1, 11, 2)
	xv := grad.Const(x.Value)
	var first []tensor.Float
	for _, norm := range []bool{false, true} {
		net := &sequence.TCN{In: 2, Widths: []int{3, 3}, WeightNorm: norm}
		net.Init(rand.New(rand.NewPCG(1, 1)))
		if got := net.Forward(nil, g, xv).Value().Data; !norm {
			first = slices.Clone(got)
		} else if compare.Differ(got, first, rounded) != nil {
			t.Errorf("before training the norm makes %v of %v", got, first)
		}
		if (net.First[1].Gain != nil) != norm || (net.Second[0].Gain != nil) != norm || net.Skip[0].Gain != nil {
			t.Errorf("WeightNorm %v: gains are not where they belong", norm)
		}
		for i, p := range slices.Collect(params(net)) {
			p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 3)), 0.3, 0.5)
		}
		y := net.Forward(nil, g, xv).Value()
		for _, n := range [][2]int{{0, 6}, {6, 7}, {7, 11}} {
			var rows [][]float64
			for v := n[0]; v < n[1]; v++ {
				rows = append(rows, row(x, v))
			}
			for v, want := range tcnOracle(net, rows) {
				compare.Near(t, fmt.Sprintf("WeightNorm %v: node %d", norm, n[0]+v), y.Row(n[0]+v), want, compare.Part(1e-4))
			}
			if alone := net.Forward(nil, graph.Chains(n[1]-n[0]), xv.RowRange(n[0], n[1])).Value().Data; !slices.Equal(alone, y.RowRange(n[0], n[1]).Data) {
				t.Errorf("WeightNorm %v: nodes %d to %d differ alone", norm, n[0], n[1])
			}
		}
		gradtest.Check(t, []any{net, x}, func(tp *grad.Tape) *grad.Var { return weigh(message.State{net.Forward(tp, g, tp.Use(x))}) })
		if norm {
			net.First[0].Gain = nil
			if e := misused(func() { net.Forward(nil, g, xv) }); e == nil || !strings.Contains(e.Why, "was Init called") {
				t.Errorf("a norm without gains: %v", e)
			}
		}
	}
}

// A highway layer against its formula, with its gate shut and open.
func TestHighway(t *testing.T) {
	l := &sequence.Highway{Width: 3}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	if b := l.B.Value.Data; !slices.Equal(b, []tensor.Float{0, 0, 0, -1, -1, -1}) {
		t.Errorf("the biases begin at %v, want a gate of −1", b)
	}
	x := random(1, 4, 3)
	y := l.Forward(nil, grad.Const(x.Value)).Value()
	for v := range 4 {
		for j := range 3 {
			r := row(x, v)
			gate := sigma(product(r, l.W, 3+j) + at(l.B, 3+j))
			want := gate*max(0, product(r, l.W, j)+at(l.B, j)) + (1-gate)*r[j]
			if got := float64(y.Row(v)[j]); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("element %d of row %d is %v, want %v", j, v, got, want)
			}
		}
	}
	gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var { return weigh(message.State{l.Forward(tp, tp.Use(x))}) })
	bias(l.B, 1, 3, -shut)
	if got := l.Forward(nil, grad.Const(x.Value)).Value(); !slices.Equal(got.Data, x.Value.Data) {
		t.Errorf("a shut gate made %v of %v", got.Data, x.Value.Data)
	}
	if err := tensor.Try(func() { l.Forward(nil, grad.Const(tensor.New(2, 4))) }); err == nil || !strings.Contains(err.Error(), "Width is 3") {
		t.Errorf("a wrong width: %v", err)
	}
}
