package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// onSmallGraph are all kernels and layers on a graph of 40 nodes.
func onSmallGraph(t *testing.T, heads, dim int) []Benchmark {
	t.Helper()
	g, err := GraphOfSize("40x200")
	if err != nil {
		t.Fatal(err)
	}
	c := sparseChoice{graphs: []*Graph{g}, heads: heads}
	if dim > 0 {
		c.dims = []int{dim}
	}
	return slices.Concat(sparseBenchmarks(2, c), layerBenchmarks(2, c))
}

// Every kernel on a graph runs on any graph and width, and says what it took.
func TestSparseBenchmarks(t *testing.T) {
	shapes := []sparseShape{{0, 0}, {3, 5}}
	if sparing.Full() {
		shapes = append(shapes, sparseShape{1, 7})
	}
	for _, shape := range shapes {
		all := onSmallGraph(t, shape.heads, shape.dim)
		if len(all) < 12 {
			t.Fatalf("only %d benchmarks", len(all))
		}
		for _, b := range all {
			l, err := NewTimer("test", quick).Time(t.Context(), &b)
			if err != nil {
				t.Fatalf("%s: %v", b.name, err)
			}
			if l.Op != b.op || l.MedianMS <= 0 || l.Params["nodes"] != 40 || l.Params["edges"] != 200 {
				t.Errorf("%s: %+v", b.name, l)
			}
			if strings.HasPrefix(l.Op, "layer/") && l.Extra.ForwardMS <= 0 {
				t.Errorf("%s has no time of its forward pass", b.name)
			}
		}
	}
}

// What a kernel is compared with does the same work: on a graph, and on a matrix that is
// not square, with rows of no elements and values of its own.
func TestReferencesOfKernels(t *testing.T) {
	for name, b := range map[string]*Graph{"graph": sized(t, "30x150"), "matrix": smallMatrix(t)} {
		met := map[string]bool{}
		for _, k := range sparseKernels() {
			for _, s := range []sparseShape{{2, 3}, {1, 9}} {
				w := k.prepare(b, s)
				if w.plain.call == nil {
					t.Errorf("%s has no plain loop beside it", k.name)
				}
				if w.out == nil {
					continue
				}
				w.call()
				want := slices.Clone(w.out.Data)
				for _, r := range []reference{w.plain, w.rival} {
					if r.call == nil {
						continue
					}
					w.out.Fill(tensor.Float(math.NaN()))
					r.call()
					if r.share != 1 {
						t.Fatalf("%s: %v of the work", k.name, r.share)
					}
					for i, v := range w.out.Data {
						if d := float64(v - want[i]); !(math.Abs(d) <= 1e-4*math.Max(1, math.Abs(float64(want[i])))) {
							t.Fatalf("%s on a %s, %v, %q: element %d is %v, want %v", k.name, name, s, r.name, i, v, want[i])
						}
					}
					met[k.name+" "+r.name] = true
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
	b, s := smallMatrix(t), sparseShape{2, 3}
	a := newAttentionTask(b.get(), s)
	el, er, ft := a.t.Watch(a.el), a.t.Watch(a.er), a.t.Watch(a.ft)
	a.t.BackwardFrom(fusedAttention(a.g, el, er, ft), a.seed)
	p := newPlainAttention(a, s)
	p.reference().call()
	nearAll(t, "del", p.del, el.Grad())
	nearAll(t, "der", p.der, er.Grad())
	nearAll(t, "dft", p.dft, ft.Grad())

	g := b.get()
	m := newPlainMessage(g.In(), newOperand(g.NumSrc(), 6), newOperand(g.NumDst(), 6), newOperand(g.NumEdges(), 1), newOperand(6), newOperand(g.NumDst(), 6))
	m.run(g.NumDst())
	tape := grad.NewTape(1)
	u, v, e, w := tape.Watch(m.u), tape.Watch(m.v), tape.Watch(m.e), tape.Watch(m.w)
	y := message.UpdateAll(g, message.U(u).Mul(message.E(e)).Add(message.V(v)).Tanh().Mul(message.W(w)), message.Mean)
	tape.BackwardFrom(y, m.seed)
	nearAll(t, "y", m.y, y.Value())
	nearAll(t, "du", m.du, u.Grad())
	nearAll(t, "dv", m.dv, v.Grad())
	nearAll(t, "de", m.de, e.Grad())
	nearAll(t, "dw", m.dw, w.Grad())
}

func nearAll(t *testing.T, what string, got, want *tensor.Dense) {
	t.Helper()
	for i, v := range want.Data {
		if d := math.Abs(float64(got.Data[i] - v)); !(d <= 1e-4*math.Max(1, math.Abs(float64(v)))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got.Data[i], v)
		}
	}
}

// sized is a graph of a size.
func sized(t *testing.T, name string) *Graph {
	t.Helper()
	g, err := GraphOfSize(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smallMatrix is 5 × 7, with a row and a column of no elements.
func smallMatrix(t *testing.T) *Graph {
	t.Helper()
	a, err := sparse.New(5, 7, []int64{0, 3, 3, 4, 6, 9}, []int32{0, 2, 6, 1, 4, 3, 0, 2, 4}, []tensor.Float{2, -1, 0.5, 4, 3, -2, 1, 7, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	g, err := GraphOfMatrix("small", a)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A product with a matrix of one's own is with its values: y = A·x.
func TestOwnValues(t *testing.T) {
	b := smallMatrix(t)
	for _, k := range sparseKernels() {
		if k.name != "u_mul_e_sum" {
			continue
		}
		s := sparseShape{2, 3}
		w := k.prepare(b, s)
		w.call()
		x, in := newOperand(7, 6), b.get().In()
		for i := range 5 {
			for j := range 6 {
				want := 0.0
				for e := in.Offsets[i]; e < in.Offsets[i+1]; e++ {
					want += float64(b.weights[e]) * float64(x.Row(int(in.Cols[e]))[j])
				}
				if got := float64(w.out.Row(i)[j]); math.Abs(got-want) > 1e-5 {
					t.Fatalf("row %d, column %d: %v, want %v", i, j, got, want)
				}
			}
		}
	}
}

// What a kernel has to move counts the rows that it reads by the columns of a matrix that have
// elements, and those that it writes by its rows.
func TestCostNotSquare(t *testing.T) {
	g, s, one := smallMatrix(t), sparseShape{1, 4}, float64(floatSize)
	f := 4 * one
	want := map[string]float64{
		"copy_u_sum": (6+5)*f + 9*indexBytes + 8*5, "u_mul_e_sum": (6+5)*f + 9*(indexBytes+one) + 8*5,
		"copy_u_max": (6+5)*f + 9*indexBytes + 8*5, "u_dot_v": (6+4)*f + 9*(indexBytes+one) + 8*5,
		"edge_softmax": 2*9*one + 8*5, "message": (7+5)*3*f + 4*9*indexBytes, "gat_attention": (7+5)*(3*f+4*one) + 2*9*indexBytes,
	}
	for _, k := range sparseKernels() {
		if _, bytes, _ := k.cost(g, s); want[k.name] != 0 && bytes != want[k.name] {
			t.Errorf("%s moves %v bytes, want %v", k.name, bytes, want[k.name])
		}
		if _, bytes, _ := k.cost(sized(t, "1000x2"), s); k.name == "u_dot_v" && bytes != (2+2)*f+2*(indexBytes+one)+8*1000 {
			t.Errorf("%s moves %v bytes of two edges", k.name, bytes)
		}
	}
}

// All kernels run on a matrix that is not square; what needs a square one says so.
func TestNotSquare(t *testing.T) {
	b := smallMatrix(t)
	refused := 0
	for _, b := range All(Choice{Threads: 2, Graph: b}) {
		if !strings.Contains(b.name, "/small") {
			continue
		}
		_, err := NewTimer("test", quick).Time(t.Context(), &b)
		if strings.HasPrefix(b.op, "kernel/") != (err == nil) || err != nil && !strings.Contains(err.Error(), "5 × 7") {
			t.Errorf("%s: %v", b.name, err)
		}
		if err != nil {
			refused++
		} else if b.params["nodes"] != 7 || b.params["rows"] != 5 {
			t.Errorf("%s: its params are %v", b.name, b.params)
		}
	}
	if refused == 0 {
		t.Error("nothing needs a square matrix")
	}
	for _, empty := range []*sparse.CSR{{NumRows: 3, NumCols: 4, Offsets: []int64{0, 0, 0, 0}}, {Offsets: []int64{0}}} {
		if _, err := GraphOfMatrix("empty", empty); err == nil || !strings.Contains(err.Error(), "no elements that are not zero") {
			t.Errorf("%d × %d without elements: %v", empty.NumRows, empty.NumCols, err)
		}
	}
	if _, err := GraphOf("empty", graph.Must(graph.New(3, nil, nil)), nil); err == nil || !strings.Contains(err.Error(), "no edges") {
		t.Errorf("3 nodes without edges: %v", err)
	}
}

func TestGraphSaid(t *testing.T) {
	pairs, err := GraphOf("shop", graph.Must(graph.NewBipartite(3, 1, []int32{0, 2}, []int32{0, 0})), []tensor.Float{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for want, g := range map[string]*Graph{
		"30x1: 30 nodes, 1 edge": sized(t, "30x1"),
		"small: 5 × 7, 9 elements; u_mul_e_sum multiplies by its values":               smallMatrix(t),
		"shop: 2 edges from 3 nodes to 1 other; u_mul_e_sum multiplies by its weights": pairs,
	} {
		if got := g.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every kernel is timed at any number of heads: more than a row has columns have one each.
func TestManyHeads(t *testing.T) {
	for _, heads := range []int{3, 65, 1000} {
		all := onSmallGraph(t, heads, 0)
		for _, k := range sparseKernels() {
			if some, err := Choose(all, k.name); err != nil || len(some) == 0 {
				t.Errorf("%d heads: %s is not timed (%v)", heads, k.name, err)
			}
		}
		for _, b := range all {
			if got := b.params["heads"]; got != heads {
				t.Errorf("%s has %v heads, want %d", b.name, got, heads)
			}
		}
	}
}

func TestWalkReadsEverySource(t *testing.T) {
	g := graph.Ring(10, 1)
	x := tensor.New(10, 3)
	x.Fill(1)
	for _, parts := range []int{1, walkParts} {
		call, sums := walkInto(g, x, parts)
		call()
		total := tensor.Float(0)
		for _, v := range sums.Data {
			total += v
		}
		if total != 30 {
			t.Errorf("%d parts: %v elements read, want 30", parts, total)
		}
	}
}

func TestGraphSizes(t *testing.T) {
	drawn := graphSizes[:2]
	if sparing.Full() {
		drawn = graphSizes[:3] // a million edges
	}
	for _, s := range drawn {
		b, err := GraphOfSize(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if g := b.get(); g.NumSrc() != s.nodes || g.NumEdges() != s.edges || b.get() != g {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d, and the same graph each time", s.name, g.NumSrc(), g.NumEdges(), s.nodes, s.edges)
		}
	}
	for _, bad := range []string{"", "x", "12", "0x5", "5x-1", "5x0", "ax3", "citeseer", "9999999999x1", "uniform:", "uniform:5", "uniform:0x5", "uniform:grid:3", "Grid:3"} {
		if _, err := GraphOfSize(bad); err == nil || !strings.Contains(err.Error(), "NODESxEDGES") {
			t.Errorf("size %q gives %v", bad, err)
		}
	}
	for _, bad := range []string{"grid:", "grid:0", "grid:-1", "grid:3x3", "grid:16385", "grid:99999999999999999999"} {
		if _, err := GraphOfSize(bad); err == nil || !strings.Contains(err.Error(), "from 1 to 16384, such as grid:1000") {
			t.Errorf("size %q gives %v", bad, err)
		}
	}
}
