package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What a kernel is compared with does the same work: on a graph, and on a matrix that is
// not square, with rows of no elements and values of its own.
func TestReferencesOfKernels(t *testing.T) {
	for name, b := range map[string]*bench.Graph{"graph": sized(t, "30x150"), "matrix": smallMatrix(t)} {
		met := map[string]bool{}
		for _, k := range all() {
			for _, s := range []bench.Shape{{Heads: 2, Dim: 3}, {Heads: 1, Dim: 9}} {
				w := k.prepare(b, s)
				if w.Plain.Call == nil {
					t.Errorf("%s has no plain loop beside it", k.name)
				}
				if w.Out == nil {
					continue
				}
				w.Call()
				want := slices.Clone(w.Out.Data)
				for _, r := range []bench.Reference{w.Plain, w.Rival} {
					if r.Call == nil {
						continue
					}
					w.Out.Fill(tensor.Float(math.NaN()))
					r.Call()
					if r.Share != 1 {
						t.Fatalf("%s: %v of the work", k.name, r.Share)
					}
					compare.Near(t, fmt.Sprintf("%s on a %s, %v, %q", k.name, name, s, r.Name), w.Out.Data, want, compare.Part(1e-4))
					met[k.name+" "+r.Name] = true
				}
			}
		}
		if len(met) < 11 {
			t.Errorf("only %d were compared: %v", len(met), met)
		}
	}
}

// The plain loops of attention and of a message have the gradients that a tape has.
func TestReferencesOfGradients(t *testing.T) {
	b, s := smallMatrix(t), bench.Shape{Heads: 2, Dim: 3}
	a := newAttentionTask(b.Get(), s)
	tape := grad.NewTape(1)
	el, er, ft := tape.Watch(a.el), tape.Watch(a.er), tape.Watch(a.ft)
	tape.BackwardFrom(fusedAttention(a.g, el, er, ft), a.seed)
	p := newPlainAttention(a, s)
	p.reference().Call()
	compare.Near(t, "del", p.del.Data, el.Grad().Data, compare.Part(1e-4))
	compare.Near(t, "der", p.der.Data, er.Grad().Data, compare.Part(1e-4))
	compare.Near(t, "dft", p.dft.Data, ft.Grad().Data, compare.Part(1e-4))

	g := b.Get()
	m := newPlainMessage(g.In(), bench.Operand(g.NumSrc(), 6), bench.Operand(g.NumDst(), 6), bench.Operand(g.NumEdges(), 1), bench.Operand(6), bench.Operand(g.NumDst(), 6))
	m.run(g.NumDst())
	tape = grad.NewTape(1)
	u, v, e, w := tape.Watch(m.u), tape.Watch(m.v), tape.Watch(m.e), tape.Watch(m.w)
	y := message.UpdateAll(g, message.U(u).Mul(message.E(e)).Add(message.V(v)).Tanh().Mul(message.W(w)), message.Mean)
	tape.BackwardFrom(y, m.seed)
	compare.Near(t, "y", m.y.Data, y.Value().Data, compare.Part(1e-4))
	compare.Near(t, "du", m.du.Data, u.Grad().Data, compare.Part(1e-4))
	compare.Near(t, "dv", m.dv.Data, v.Grad().Data, compare.Part(1e-4))
	compare.Near(t, "de", m.de.Data, e.Grad().Data, compare.Part(1e-4))
	compare.Near(t, "dw", m.dw.Data, w.Grad().Data, compare.Part(1e-4))
}

// A product with a matrix of one's own is with its values: y = A·x.
func TestOwnValues(t *testing.T) {
	b := smallMatrix(t)
	for _, k := range all() {
		if k.name != "u_mul_e_sum" {
			continue
		}
		s := bench.Shape{Heads: 2, Dim: 3}
		w := k.prepare(b, s)
		w.Call()
		x, in := bench.Operand(7, 6), b.Get().In()
		for i := range 5 {
			for j := range 6 {
				want := 0.0
				for e := in.Offsets[i]; e < in.Offsets[i+1]; e++ {
					want += float64(b.Weights[e]) * float64(x.Row(int(in.Cols[e]))[j])
				}
				if got := float64(w.Out.Row(i)[j]); math.Abs(got-want) > 1e-5 {
					t.Fatalf("row %d, column %d: %v, want %v", i, j, got, want)
				}
			}
		}
	}
}

// What a kernel has to move counts the rows that it reads by the columns of a matrix that have
// elements, and those that it writes by its rows.
func TestCostNotSquare(t *testing.T) {
	g, s, one := smallMatrix(t), bench.Shape{Heads: 1, Dim: 4}, float64(bench.FloatSize)
	f := 4 * one
	want := map[string]float64{
		"copy_u_sum": (6+5)*f + 9*bench.IndexBytes + 8*5, "u_mul_e_sum": (6+5)*f + 9*(bench.IndexBytes+one) + 8*5,
		"copy_u_max": (6+5)*f + 9*bench.IndexBytes + 8*5, "u_dot_v": (6+4)*f + 9*(bench.IndexBytes+one) + 8*5,
		"edge_softmax": 2*9*one + 8*5, "message": (7+5)*3*f + 4*9*bench.IndexBytes, "gat_attention": (7+5)*(3*f+4*one) + 2*9*bench.IndexBytes,
	}
	for _, k := range all() {
		if _, bytes, _ := k.cost(g, s); want[k.name] != 0 && bytes != want[k.name] {
			t.Errorf("%s moves %v bytes, want %v", k.name, bytes, want[k.name])
		}
		if _, bytes, _ := k.cost(sized(t, "1000x2"), s); k.name == "u_dot_v" && bytes != (2+2)*f+2*(bench.IndexBytes+one)+8*1000 {
			t.Errorf("%s moves %v bytes of two edges", k.name, bytes)
		}
	}
}

// sized is a graph of a size.
func sized(t *testing.T, name string) *bench.Graph {
	t.Helper()
	g, err := bench.GraphOfSize(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smallMatrix is 5 × 7, with a row and a column of no elements.
func smallMatrix(t *testing.T) *bench.Graph {
	t.Helper()
	a, err := sparse.New(5, 7, []int64{0, 3, 3, 4, 6, 9}, []int32{0, 2, 6, 1, 4, 3, 0, 2, 4}, []tensor.Float{2, -1, 0.5, 4, 3, -2, 1, 7, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	g, err := bench.GraphOfMatrix("small", a)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
