package models

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// coding is features of so many columns, some of which are codes: whole numbers, 0, and what is no word.
func coding(rng *rand.Rand, rows, width int, codes []columns.Code) *tensor.Dense {
	x := tensor.New(rows, width)
	for i := range x.Data {
		if rng.IntN(3) > 0 {
			x.Data[i] = tensor.Float(rng.NormFloat64())
		}
	}
	for _, c := range codes {
		for v := range rows {
			x.Row(v)[c.At] = tensor.Float(rng.IntN(c.Words + 1))
		}
		x.Row(0)[c.At], x.Row(1)[c.At], x.Row(2)[c.At] = tensor.Float(c.Words+1), -1, 0.5
		x.Row(3)[c.At] = tensor.Float(c.Words)
	}
	return x
}

// oneHot is what m makes of x: the other columns, times the matrix if there is one, and of each code a row of zeros with 1 in the place of
// the word, times the table.
func oneHot(x *tensor.Dense, m *coded) [][]float64 {
	out := make([][]float64, x.Rows())
	for v := range out {
		var plain []float64
		for _, j := range m.plain {
			plain = append(plain, float64(x.Row(v)[j]))
		}
		if p := m.Narrow; p != nil {
			times := make([]float64, p.Value.Dim(1))
			for i, f := range plain {
				for k, w := range p.Value.Row(i) {
					times[k] += f * float64(w)
				}
			}
			plain = times
		}
		out[v] = plain
		for i, c := range m.codes {
			hot := make([]float64, c.Words+1)
			if f := float64(x.Row(v)[c.At]); f >= 0 && f <= float64(c.Words) && f == math.Floor(f) {
				hot[int(f)] = 1
			}
			table := m.Rows[i].Value
			for k := range table.Dim(1) {
				sum := 0.0
				for word, h := range hot[1:] { // none where the code has no words
					sum += h * float64(table.Row(word)[k])
				}
				out[v] = append(out[v], sum)
			}
		}
	}
	return out
}

// Codes are read as one-hot rows times a matrix would be, dense or sparse, with few other columns, many, or none; and what masked makes of
// features in which every word is there once is the same.
func TestCodesAreOneHot(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		width, first int
		codes        []columns.Code
	}{
		{5, 8, []columns.Code{{At: 1, Words: 3}, {At: 4, Words: 40}}},
		{2, 8, []columns.Code{{At: 0, Words: 1}, {At: 1, Words: 17}}},
		{3, 8, []columns.Code{{At: 1}}},
		{70, 8, []columns.Code{{At: 0, Words: 5}, {At: 33, Words: 2}, {At: 34, Words: 16}}},
		{70, 66, []columns.Code{{At: 69, Words: 5}}},
		{70, 69, []columns.Code{{At: 69, Words: 5}}},
	} {
		x := coding(rng, 50, c.width, c.codes)
		m := newCoded(rng, c.width, c.codes, c.first)
		want := oneHot(x, m)
		wide, _ := codedWidth(c.width, c.codes, c.first)
		s := sparse.FromDense(x)
		dense := m.read(nil, grad.Const(x)).Value()
		for how, y := range map[string]*tensor.Dense{
			"dense": dense, "sparse": m.read(nil, grad.Const(s)).Value(), "sparse again": m.read(nil, grad.Const(s)).Value(),
			"masked":        m.masked(nil, grad.Const(m.presence(x)), m.of(grad.Const(x))).Value(),
			"masked sparse": m.masked(nil, grad.Const(m.presence(s).(*sparse.CSR).Dense()), m.of(grad.Const(s))).Value(),
		} {
			if y.Rows() != 50 || y.Dim(1) != wide {
				t.Fatalf("%v, %s: the result is %v, want 50 rows of %d", c, how, y.Shape(), wide)
			}
			by := compare.Off(1e-4, 1e-4)
			if m.Narrow == nil {
				by = compare.Exactly
			}
			compare.Near(t, fmt.Sprintf("%v, %s", c, how), y.Data, slices.Concat(want...), by)
		}
		if total := codedNumbers(c.width, c.codes, c.first); true {
			fits(t, total, m)
		}
	}
}

// codedShape is what a model reads of the ring with codes among the features of nodes, and of edges if it reads these.
func codedShape(e EdgesRead) Shape {
	s := Shape{In: 5, Out: 3, Codes: []columns.Code{{At: 1, Words: 3}, {At: 3, Words: 20}}}
	if e.Kinds() {
		s.EdgeKinds = 2
	}
	if e.Numbers() {
		s.EdgeIn, s.EdgeCodes = 2, []columns.Code{{At: 1, Words: 4}}
	}
	return s
}

// codedRing is the ring with such features.
func codedRing(s Shape) (*graph.Graph, layers.In) {
	g, in := ring(s.EdgeKinds)
	rng := rand.New(rand.NewPCG(6, 6))
	in.Src = grad.Const(coding(rng, 6, 5, s.Codes))
	in.Edge = nil
	if s.EdgeIn > 0 {
		in.Edge = grad.Const(coding(rng, g.NumEdges(), s.EdgeIn, s.EdgeCodes))
	}
	return g, in
}

// unpacked is the float32 of rows.
func unpacked(rows [][]float64) *grad.Var {
	x := tensor.New(len(rows), len(rows[0]))
	for v, row := range rows {
		for k, f := range row {
			x.Row(v)[k] = tensor.Float(f)
		}
	}
	return grad.Const(x)
}

// Every model reads learnt rows in place of codes, of nodes and of edges, to the bit as its layers read one-hot rows times a matrix; the
// rows of the words that are there get gradients; and its JSON makes it again.
func TestEveryModelReadsCodes(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			m := With(must(Named(name)), Settings{Hidden: 4, Layers: 2, Heads: 2, Dropout: grad.Zero, AttentionDropout: grad.Zero})
			s := codedShape(TraitsOf(m).Edges)
			g, in := codedRing(s)
			net := must(New(m, s, 7))
			says := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data)
			plain := *net
			plain.Shape, plain.Codes, plain.EdgeCodes = s.read(net.Settings.firstWidth()), nil, nil
			read := in
			read.Src = unpacked(oneHot(in.Src.Value(), net.Codes))
			if in.Edge != nil {
				read.Edge = unpacked(oneHot(in.Edge.Value(), net.EdgeCodes))
			}
			if want := plain.Forward(grad.NewEval(), g, read).Value().Data; !slices.Equal(says, want) {
				t.Errorf("the result is %v, want %v", says, want)
			}
			tape := grad.NewTape(1)
			y := net.Forward(tape, g, in)
			grads := tape.Backward(y.Mul(y).Sum())
			for _, p := range []*coded{net.Codes, net.EdgeCodes} {
				if p == nil {
					continue
				}
				for i, rows := range p.Rows {
					if gr := grads.Param(rows); gr == nil || !slices.ContainsFunc(gr.Data, func(v tensor.Float) bool { return v != 0 }) {
						t.Errorf("the rows of code %d get no gradient", i)
					}
				}
			}
			fits(t, net.Numbers(), net)
			other := new(Network)
			again(t, net, other)
			if !slices.Equal(other.Forward(grad.NewEval(), g, in).Value().Data, says) {
				t.Error("a network that is made again of its JSON says something else")
			}
		})
	}
}

// Networks of graphs and of links read codes as their layers read one-hot rows times a matrix.
func TestGraphsAndLinksReadCodes(t *testing.T) {
	for _, name := range []string{"gin", "gcn", "pna", "nnconv", "rgcn"} {
		m := must(Named(name))
		s := codedShape(TraitsOf(m).Graphs.Edges)
		g, in := codedRing(s)
		g = graph.Must(graph.WithMembers(g, []int{0, 6}))
		net := must(NewGraphs(With(m, Settings{Hidden: 4, Layers: 3, Dropout: grad.Zero}), s, "set2set", "topk", 7))
		says := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data)
		plain := *net
		plain.Shape, plain.Codes, plain.EdgeCodes = s.read(net.Settings.firstWidth()), nil, nil
		read := in
		read.Src = unpacked(oneHot(in.Src.Value(), net.Codes))
		if in.Edge != nil {
			read.Edge = unpacked(oneHot(in.Edge.Value(), net.EdgeCodes))
		}
		if want := plain.Forward(grad.NewEval(), g, read).Value().Data; !slices.Equal(says, want) {
			t.Errorf("%s: the result is %v, want %v", name, says, want)
		}
		fits(t, net.Numbers(), net)
		other := new(GraphNetwork)
		again(t, net, other)
		if !slices.Equal(other.Forward(grad.NewEval(), g, in).Value().Data, says) {
			t.Errorf("%s: made again of its JSON it says something else", name)
		}
	}
	s := codedShape(ReadsNone)
	g, in := codedRing(s)
	for _, m := range []LinkModel{GAE{}, VGAE{}} {
		net := must(NewLinks(m, 5, 7, s.Codes...))
		z, _ := net.Encode(nil, g, in.Src)
		plain := *net
		plain.Words = nil
		want, _ := plain.Encode(nil, g, unpacked(oneHot(in.Src.Value(), net.Words)))
		if !slices.Equal(z.Value().Data, want.Value().Data) {
			t.Errorf("%s: the rows are %v, want %v", net, z.Value(), want.Value())
		}
		fits(t, net.Numbers(), net)
		other := new(LinkNetwork)
		again(t, net, other)
		if y, _ := other.Encode(nil, g, in.Src); !slices.Equal(y.Value().Data, z.Value().Data) {
			t.Errorf("%s: made again of its JSON it says something else", net)
		}
	}
}

// The gradients of learnt rows, of nodes and of edges, of the matrix of many columns, and of what reads them are those that differences
// give. So are those of a head of edges, whose codes are of the larger number where both directions differ.
func TestGradientsOfCodes(t *testing.T) {
	s := codedShape(MayNumbers)
	g, in := codedRing(s)
	m := GAT{Hidden: 3, Heads: 2, Layers: 2, Dropout: grad.Zero, AttentionDropout: grad.Zero}
	net := must(New(m, s, 3))
	gradtest.Check(t, net, func(t *grad.Tape) *grad.Var { return net.Forward(t, g, in).Tanh().Sum() })
	wide := Shape{In: 80, Out: 2, Codes: []columns.Code{{At: 7, Words: 4}}}
	x := grad.Const(coding(rand.New(rand.NewPCG(4, 4)), 6, 80, wide.Codes))
	narrowed := must(New(GCN{Hidden: 3, Dropout: grad.Zero}, wide, 3))
	gradtest.Check(t, narrowed, func(t *grad.Tape) *grad.Var { return narrowed.Forward(t, g, layers.In{Src: x}).Tanh().Sum() })
	edges := must(NewEdges(GCN{Hidden: 3, Dropout: grad.Zero}, Shape{In: 5, Out: 2, Codes: s.Codes, EdgeCodes: s.EdgeCodes}, Pairs{Own: 2}, 3))
	p := edges.Whole(Hop{Graph: g}, in.Src)
	p.Ends = &Ends{From: []int32{0, 3, 4}, To: []int32{1, 5, 4}, Own: in.Edge.Rows([]int32{3, 4, 5})}
	gradtest.Check(t, edges, func(t *grad.Tape) *grad.Var { return edges.Run(t, p).Tanh().Sum() })
	fits(t, edges.Numbers(), edges)
	both := &Pairing{Mirrored: true, Edge: []int32{0, 2}, Of: []int32{0, 0, 1, 1}}
	both.Describe(tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6, 7, 6}, 4, 2), columns.Code{At: 1, Words: 9})
	if want := []tensor.Float{2, 4, 6, 6}; !slices.Equal(both.Own.Data, want) {
		t.Errorf("the pairs have the features %v, want %v", both.Own.Data, want)
	}
}

// What has no codes is read as it was: no Params, no numbers drawn, and the JSON says nothing of them.
func TestWithoutCodes(t *testing.T) {
	net := must(New(GCN{}, Shape{In: 5, Out: 3}, 1))
	x := grad.Const(tensor.New(2, 5))
	if net.Codes != nil || net.EdgeCodes != nil || net.Codes.read(nil, x) != x || codedNumbers(5, nil, 3) != 0 {
		t.Error("there are codes")
	}
	if text := string(must(json.Marshal(net.Shape))); text != `{"In":5,"Out":3}` {
		t.Error(text)
	}
}
