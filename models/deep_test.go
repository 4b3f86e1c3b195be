package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// deep are networks with parts around their convolutions: each part alone, and all of them.
func deep() []Settings {
	base := Settings{Hidden: 4, Layers: 3, Heads: 2, OutHeads: 3, Dropout: grad.Zero, AttentionDropout: grad.Zero}
	var all []Settings
	for _, part := range []func(s *Settings){
		func(s *Settings) { s.Norm = NormLayer },
		func(s *Settings) { s.Norm = NormBatch },
		func(s *Settings) { s.Residual = true },
		func(s *Settings) { s.ResidualLinear = true },
		func(s *Settings) { s.Input = 6 },
		func(s *Settings) { s.Output = true },
		func(s *Settings) { s.Layers, s.Output = 1, true },
		func(s *Settings) { s.Norm, s.Residual, s.Input, s.Output = NormLayer, true, 8, true },
		func(s *Settings) { s.Norm, s.ResidualLinear, s.Input, s.Output = NormBatch, true, 4, true },
	} {
		s := base
		part(&s)
		all = append(all, s)
	}
	return all
}

// Every model that has the parts is made with each of them, for nodes and for edges: the forward has the right shape, every Param has
// a gradient, Numbers is no more than there are, and the JSON makes the same network again.
func TestEveryDeepModel(t *testing.T) {
	for _, name := range Having("Norm") {
		m := must(Named(name))
		for _, set := range deep() {
			s, kinds := shapeFor(TraitsOf(m).Edges)
			g, in := ring(kinds)
			if s.EdgeIn == 0 {
				in.Edge = nil
			}
			net, err := New(With(m, set), s, 7)
			if err != nil {
				t.Fatal(err)
			}
			says := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data)
			tape := grad.NewTape(1)
			y := net.Forward(tape, g, in)
			check(t, y, 6, 3)
			if params, moved := graded(t, tape, y, net); moved < params/2 { // running statistics have none, nor a bias before a norm
				t.Errorf("%s: %d of %d Params have a gradient", net, moved, params)
			}
			fits(t, net.Numbers(), net)
			other := new(Network)
			again(t, net, other)
			if !slices.Equal(other.Forward(grad.NewEval(), g, in).Value().Data, says) {
				t.Errorf("%s: made again of its JSON it says something else", net)
			}
			hidden := net.Hidden(grad.NewEval(), Hop{Graph: g, Edge: in.Edge}, in.Src)
			check(t, hidden, 6, hidden.Dim(1))
			edges := must(NewEdges(With(m, set), s, Pairs{Mirrored: true}, 7))
			p := edges.Whole(Hop{Graph: g, Edge: in.Edge}, in.Src)
			p.Ends = &Ends{From: []int32{0, 3}, To: []int32{1, 5}}
			check(t, edges.Run(grad.NewEval(), p), 2, 3)
			fits(t, edges.Numbers(), edges)
		}
	}
}

// The deep networks of PyTorch Geometric: results, gradients, running statistics, and what an evaluation says after one step.
func TestDeepPyG(t *testing.T) {
	for path, m := range map[string]Model{
		"deep_gcn": GCN{Hidden: 4, Layers: 3, Dropout: grad.Zero, Norm: NormLayer, ResidualLinear: true, Input: 4, Output: true},
		"deep_gat": GAT{Hidden: 4, Layers: 3, Heads: 1, Dropout: grad.Zero, AttentionDropout: grad.Zero, Norm: NormBatch, ResidualLinear: true, Output: true},
	} {
		t.Run(path, func(t *testing.T) {
			c := golden.Load(t, "testdata/"+path+".json")
			g := graph.Must(graph.New(c.Graph.NumSrc, c.Graph.Src, c.Graph.Dst))
			net := must(New(m, Shape{In: 5, Out: 3}, 1))
			names := theirNames(t, c, net)
			x := c.Tensor(t, "inputs", "x")
			tape := grad.NewTape(1)
			grads := c.CheckOutputs(t, tape, map[string]*grad.Var{"y": net.Forward(tape, g, layers.In{Src: grad.Const(x)})})
			all := map[string]*tensor.Dense{}
			for their, p := range names {
				if all[their] = grads.Param(p); strings.HasSuffix(their, "weight") && p.Value.Axes() == 2 && !strings.Contains(their, "att") {
					all[their] = golden.Transpose(grads.Param(p))
				} else if p.Value.Axes() == 2 {
					all[their] = all[their].Reshape(1, 1, 4)
				}
			}
			for i := range 3 { // ours is one bias, which is the sum of both
				if c.Has("grads", fmt.Sprintf("convs.%d.bias", i)) {
					all[fmt.Sprintf("convs.%d.bias", i)] = all[fmt.Sprintf("lins.%d.bias", i)]
				}
			}
			c.CheckGrads(t, all)
			for i, l := range net.Layers {
				if norm, ok := l.(*block).Norm.(*layers.BatchNorm); ok {
					golden.Compare(t, "mean", norm.Mean.Value, c.Tensor(t, "inputs", fmt.Sprintf("norms.%d.running_mean", i)), c.Float32Error.Outputs)
					golden.Compare(t, "variance", norm.Variance.Value, c.Tensor(t, "inputs", fmt.Sprintf("norms.%d.running_var", i)), c.Float32Error.Outputs)
				}
			}
			after := net.Forward(grad.NewEval(), g, layers.In{Src: grad.Const(x)}).Value()
			golden.Compare(t, "evaluated", after, c.Tensor(t, "inputs", "evaluated"), c.Float32Error.Outputs)
		})
	}
}

// theirNames gives a network the case's Params, and returns them by PyG's names.
func theirNames(t *testing.T, c *golden.Case, net *Network) map[string]*grad.Param {
	names := map[string]*grad.Param{}
	linear := func(name string, l *layers.Linear) {
		l.W.Value = golden.Transpose(c.Tensor(t, "params", name+".weight"))
		names[name+".weight"] = l.W
		if l.B != nil {
			l.B.Value = c.Tensor(t, "params", name+".bias")
			names[name+".bias"] = l.B
		}
	}
	if net.Input != nil {
		linear("lin_in", net.Input)
	}
	linear("pred", net.Output)
	for i, l := range net.Layers {
		b, conv := l.(*block), fmt.Sprintf("convs.%d.", i)
		linear(fmt.Sprintf("lins.%d", i), b.Skip)
		bias := c.Tensor(t, "params", fmt.Sprintf("lins.%d.bias", i))
		var own *grad.Param
		switch l := b.Conv.(type) {
		case *gcnLayer:
			l.W.Value = golden.Transpose(c.Tensor(t, "params", conv+"lin.weight"))
			for j, v := range c.Tensor(t, "params", conv+"bias").Data {
				bias.Data[j] += v
			}
			names[conv+"lin.weight"], own = l.W, l.B
		case *gatLayer:
			l.W.Value = golden.Transpose(c.Tensor(t, "params", conv+"lin.weight"))
			l.AttnL.Value = c.Tensor(t, "params", conv+"att_src").Reshape(1, 4)
			l.AttnR.Value = c.Tensor(t, "params", conv+"att_dst").Reshape(1, 4)
			names[conv+"lin.weight"], names[conv+"att_src"], names[conv+"att_dst"], own = l.W, l.AttnL, l.AttnR, l.B
		}
		own.Value = bias
		names[fmt.Sprintf("lins.%d.bias", i)] = own
		norm := fmt.Sprintf("norms.%d.", i)
		for name, p := range grad.Params(b.Norm) {
			if !p.Frozen {
				their := norm + map[string]string{"Gain": "weight", "B": "bias"}[name]
				p.Value, names[their] = c.Tensor(t, "params", their), p
			}
		}
	}
	for _, p := range grad.Params(net) {
		p.Changed()
	}
	return names
}

// In loops: (((x·I + b)·W on the mean of neighbours, + the same row, normalised, ReLU)…)·O. SGC-like sums would not tell a norm before
// the residual from one after it.
func TestDeepOrder(t *testing.T) {
	g, in := ring(0)
	for _, norm := range []Norm{"", NormLayer, NormBatch} {
		set := MLP{Hidden: 4, Layers: 2, Dropout: grad.Zero, Norm: norm, Residual: true, Input: 4, Output: true}
		net := must(New(set, Shape{In: 5, Out: 3}, 3))
		got := net.Forward(grad.NewTape(1), g, layers.In{Src: in.Src}).Value()
		rows := rowsOf(in.Src.Value())
		rows = times(rows, net.Input)
		for _, l := range net.Layers {
			next := times(rows, &l.(*block).Conv.(*denseLayer).Linear)
			for i := range next {
				for j := range next[i] {
					next[i][j] += rows[i][j]
				}
			}
			switch norm {
			case NormLayer:
				normalise(next)
			case NormBatch:
				next = turned(next)
				normalise(next)
				next = turned(next)
			}
			for i := range next {
				for j := range next[i] {
					next[i][j] = max(0, next[i][j])
				}
			}
			rows = next
		}
		for i, want := range times(rows, net.Output) {
			compare.Near(t, fmt.Sprintf("norm %q: row %d", norm, i), got.Row(i), want, compare.Off(1e-5, 0))
		}
	}
}

func rowsOf(x *tensor.Dense) (rows [][]float64) {
	for i := range x.Dim(0) {
		var row []float64
		for _, v := range x.Row(i) {
			row = append(row, float64(v))
		}
		rows = append(rows, row)
	}
	return rows
}

func times(rows [][]float64, l *layers.Linear) (out [][]float64) {
	for _, row := range rows {
		y := make([]float64, l.Out)
		for j := range y {
			y[j] = float64(l.B.Value.Data[j])
			for k, v := range row {
				y[j] += v * float64(l.W.Value.Row(k)[j])
			}
		}
		out = append(out, y)
	}
	return out
}

// normalise takes the mean off each row and divides it by its deviation.
func normalise(rows [][]float64) {
	for _, row := range rows {
		mean, square := 0., 0.
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			square += (v - mean) * (v - mean) / float64(len(row))
		}
		for j := range row {
			row[j] = (row[j] - mean) / math.Sqrt(square+1e-5)
		}
	}
}

func turned(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows[0]))
	for j := range out {
		for i := range rows {
			out[j] = append(out[j], rows[i][j])
		}
	}
	return out
}

func TestDeepGradients(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("differences of float32 are too coarse: run with -tags f64")
	}
	g, in := ring(0)
	for _, set := range deep() {
		for _, m := range []Model{GCN{}, GAT{}, SAGE{}} {
			net := must(New(With(m, set), Shape{In: 5, Out: 3}, 7))
			gradtest.Check(t, net, func(tape *grad.Tape) *grad.Var {
				return net.Forward(tape, g, layers.In{Src: in.Src}).Square().Sum()
			})
		}
	}
}

// Dropout is after each activation and after the first linear layer, and nowhere before the first convolution. Features of ones and
// weights of the identity show the places: what is kept is doubled each time.
func TestDeepDropout(t *testing.T) {
	const n, width, layered = 40, 8, 3
	loops := numbersTo(n)
	g := graph.Must(graph.New(n, loops, loops))
	x := tensor.New(n, width)
	x.Fill(1)
	for _, input := range []int{0, width} {
		net := must(New(GCN{Hidden: width, Layers: layered, Dropout: 0.5, Input: input, Output: true}, Shape{In: width, Out: width}, 1))
		for _, p := range grad.Params(net) {
			if p.Value.Axes() == 2 {
				p.Value.Fill(0)
				for i := range width {
					p.Value.Row(i)[i] = 1
				}
				p.Changed()
			}
		}
		times := layered
		if input > 0 {
			times++
		}
		kept, want := 0, tensor.Float(int(1)<<times)
		for _, v := range net.Forward(grad.NewTape(1), g, layers.In{Src: grad.Const(x)}).Value().Data {
			switch v {
			case want:
				kept++
			case 0:
			default:
				t.Fatalf("Input %d: %v, want 0 or %v: there are %d dropouts", input, v, want, times)
			}
		}
		if share := float64(kept) / (n * width); math.Abs(share-1/float64(want)) > 0.06 {
			t.Errorf("Input %d: %.3f are kept, want 1/%v", input, share, want)
		}
	}
}

// A batch norm's statistics are those of all rows: Needed computes them all. With another norm it computes those that are needed,
// which gives the same rows.
func TestNeededOfDeep(t *testing.T) {
	const n = 60
	var src, dst []int32
	for v := range int32(n) {
		src, dst = append(src, v, (v+1)%n), append(dst, (v+1)%n, v)
	}
	x := tensor.New(n, 5)
	x.Normal(rand.New(rand.NewPCG(5, 6)), 0, 1)
	d := &datasets.Dataset{Graph: graph.Must(graph.New(n, src, dst)), Features: x, Labels: make([]int32, n), Classes: 2}
	k, err := Prepare(d, &Preparation{})
	if err != nil {
		t.Fatal(err)
	}
	for norm, blocks := range map[Norm]bool{"": true, NormLayer: true, NormBatch: false} {
		for _, m := range []Model{GCN{}, GAT{}, SAGE{}} {
			net := must(New(With(m, Settings{Hidden: 8, Layers: 3, Dropout: grad.Zero, Norm: norm, Residual: true, Output: true}), Shape{In: 5, Out: 2}, 1))
			p := k.Needed(net, []int32{7, 8})
			if (p.Rows == nil) != blocks {
				t.Errorf("%s: only needed rows are computed: %v", net, p.Rows == nil)
			}
			few, all := net.Run(grad.NewTape(1), p).Value(), net.Run(grad.NewTape(1), k.All(net)).Value()
			for i, v := range []int{7, 8} {
				if !slices.Equal(few.Row(i), all.Row(v)) {
					t.Errorf("%s: %v, want %v", net, few.Row(i), all.Row(v))
				}
			}
		}
	}
}

// An explanation differentiates a network on a part of the graph: a batch norm has the running statistics there too, which are not
// those of the rows at hand.
func TestStillOfDeep(t *testing.T) {
	g, in := ring(0)
	in.Edge = nil
	net := must(New(GCN{Hidden: 4, Dropout: 0.5, Norm: NormBatch, Residual: true, Input: 3, Output: true}, Shape{In: 5, Out: 3}, 1))
	tape := grad.NewTape(1)
	tape.Backward(net.Forward(tape, g, in).Sum())
	want := slices.Clone(net.Forward(grad.NewEval(), g, in).Value().Data)
	still, err := net.still()
	if err != nil {
		t.Fatal(err)
	}
	if got := still.Forward(grad.NewTape(2), g, in).Value(); !slices.Equal(got.Data, want) {
		t.Errorf("%v, want %v", got.Data, want)
	}
}

func TestDeepSays(t *testing.T) {
	for want, m := range map[string]Model{
		"GCN, layers of width 64, then 64; a linear layer at the beginning, of width 32; residuals; layer norm; a linear layer at the end, of width 3": GCN{Hidden: 64, Input: 32, Residual: true, Norm: NormLayer, Output: true},
		"GAT, 2 layers with 8 heads of width 8; residuals through a matrix; batch norm; a linear layer at the end, of width 3":                         GAT{ResidualLinear: true, Norm: NormBatch, Output: true},
		"GAT, 4 heads of width 8; a linear layer at the end, of width 3":                                                                               GAT{Layers: 1, Heads: 4, Output: true},
		"GraphSAGE, layers of width 16, then 3; layer norm":                                                                                            SAGE{Norm: NormLayer},
	} {
		if got := must(New(m, Shape{In: 5, Out: 3}, 1)).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, m := range map[string]Model{
		`Norm "group": there is no such name; the choices are layer and batch`: GCN{Norm: "group"},
		`Input -1`:                  GCN{Input: -1},
		`Input 65537`:               GCN{Input: 65537},
		`GCNII has no setting Norm`: GCN2{Norm: NormLayer},
	} {
		if _, err := New(m, Shape{In: 5, Out: 3}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := NewGraphs(GCN{Norm: NormLayer}, Shape{In: 5, Out: 3}, "", "", 1); err == nil {
		t.Error("networks of graphs have their own norms")
	}
}
