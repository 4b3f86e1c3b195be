package message_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The functions after a [models] mark are quoted word for word in
// docs/models/ten-lines.md, section "Six models in ten lines", those after a [primitives] mark
// in docs/library/primitives.md.

// [models] [primitives]
// pna: y_v = [m ‖ s·m ‖ m/s]·W,  m = [mean ‖ max ‖ min ‖ std]_u x_u,  s = log(d_v+1)/δ
func pna(g *graph.Graph, x, w *grad.Var, delta float64) *grad.Var {
	d := tensor.New(g.NumDst(), 1)
	for v := range d.Data { // a node that hears nobody counts as one that hears one
		d.Data[v] = tensor.Float(math.Log(float64(max(1, g.InDegree(v))+1)) / delta)
	}
	m, s := message.UpdateAll(g, message.U(x), message.Mean, message.Max, message.Min, message.Std), grad.Const(d)
	return grad.Concat(m, m.Mul(s), m.Div(s)).MatMul(w)
}

// [models] [primitives]
// rgcn: y_v = Σ_e c_e·W_r(e)·x_u + W₀·x_v, where r(e) is the kind of the edge and w holds the W_r side by side
func rgcn(g *graph.Graph, x, w, self, c *grad.Var) *grad.Var {
	xw := x.MatMul(w).Reshape(x.Dim(0), -1, self.Dim(1)) // N×K×F: every relation's product, once a node
	m := message.U(xw).Pick(g.Kinds()).Mul(message.E(c))
	return message.UpdateAll(g, m, message.Sum).Add(x.MatMul(self))
}

// [models] [primitives]
// edgeConv: y_v = max_u W₂·ReLU(A·x_u + B·x_v), the first layer on nodes because it is linear in both
func edgeConv(g *graph.Graph, x, a, b, w2 *grad.Var) *grad.Var {
	hidden := message.UAddV(x.MatMul(a), x.MatMul(b)).ReLU()
	return message.UpdateAll(g, hidden.MatMul(w2), message.Max)
}

// [models] [primitives]
// pointer: loss = −log softmax_u(vᵀ·tanh(e_u + d_t)) of the chosen edge into each step, on inputs → steps
func pointer(g *graph.Graph, inputs, steps, v *grad.Var, chosen []int32) *grad.Var {
	score := message.UAddV(inputs, steps).Tanh().Dot(message.W(v))
	return message.ApplyEdges(g, score.LogSoftmax()).Rows(chosen).Mean().Neg()
}

// headSays is what a controller says to the heads of a memory, a row each.
type headSays struct{ key, beta, gate, shift, gamma *grad.Var }

// [models]
// address: w = sharpen(shift(g·softmax_i(β·cos(k, M_i)) + (1−g)·w')), on CompleteBipartite(slots, heads)
func address(g *graph.Graph, mem *grad.Var, h headSays, last *grad.Var) *grad.Var {
	unit := func(x *grad.Var) *grad.Var { return x.Div(x.Dot(x).Shift(1e-12).Sqrt()) }
	score := message.UDotV(unit(mem), unit(h.key)).Mul(message.V(h.beta))
	w := message.ApplyEdges(g, score.Softmax()).Reshape(last.Shape()...) // heads×slots
	w = w.Sub(last).Mul(h.gate).Add(last)
	s := h.shift.Split(1, 1, 1) // by −1, 0 and 1: +1 moves the focus to the next slot
	w = w.Roll(-1).Mul(s[0]).Add(w.Mul(s[1])).Add(w.Roll(1).Mul(s[2]))
	return w.Shift(1e-12).Log().Mul(h.gamma).Softmax()
}

// [models] [primitives]
// hop: u' = u + Σ_i softmax_i(m_i·u)·c_i, on slots → queries
func hop(g *graph.Graph, m, c, u *grad.Var) *grad.Var {
	p := message.UDotV(m, u).Softmax()
	return u.Add(message.UpdateAll(g, message.U(c).Mul(p), message.Sum))
}

func TestPNA(t *testing.T) {
	g := odd()
	m := &struct{ X, W *grad.Param }{param(1, 8, 2), param(2, 24, 3)}
	y := pna(g, grad.Const(m.X.Value), grad.Const(m.W.Value), 1).Value()
	compare.Equal(t, "a node that hears nobody", y.RowRange(7, 8).Data, []tensor.Float{0, 0, 0})
	if gradtest.Sharp { // in float32 the step is so long that another message becomes the largest
		gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(pna(g, tp.Use(m.X), tp.Use(m.W), 1)) })
	}
	// Node 3 hears node 2 alone: mean, max and min are its row, the deviation is 0.
	x, s := wide(m.X.Value.Row(2)), math.Log(2)
	row := slices.Concat(x, x, x, []float64{0, 0})
	out := tensor.New(1, 3)
	for i, scale := range []float64{1, s, 1 / s} {
		for k, v := range row {
			for j, w := range m.W.Value.Row(i*8 + k) {
				out.Data[j] += tensor.Float(v * scale * float64(w))
			}
		}
	}
	compare.Arrays(t, "node 3", []*tensor.Dense{y.RowRange(3, 4)}, []*tensor.Dense{out}, rounded)
}

func TestRGCN(t *testing.T) {
	kinds := make([]int32, odd().NumEdges())
	for e := range kinds {
		kinds[e] = int32(e % 3)
	}
	g := graph.Must(graph.WithKinds(odd(), kinds))
	m := &struct{ X, W, Self, C *grad.Param }{param(1, 8, 2), param(2, 2, 3*4), param(3, 2, 4), param(4, 13, 1)}
	run := func(tp *grad.Tape) *grad.Var { return rgcn(g, tp.Use(m.X), tp.Use(m.W), tp.Use(m.Self), tp.Use(m.C)) }
	gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
	out := tensor.New(8, 4)
	add := func(v int, x []tensor.Float, c tensor.Float, w *tensor.Dense, col int) {
		for i, a := range x {
			for j := range out.Row(v) {
				out.Row(v)[j] += c * a * w.Row(i)[col+j]
			}
		}
	}
	for e, v := range g.Destinations() {
		add(int(v), m.X.Value.Row(int(g.In().Cols[e])), m.C.Value.Data[e], m.W.Value, int(g.Kinds()[e])*4)
	}
	for v := range 8 {
		add(v, m.X.Value.Row(v), 1, m.Self.Value, 0)
	}
	compare.Arrays(t, "rgcn", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{out}, rounded)
}

func TestEdgeConv(t *testing.T) {
	g := odd()
	m := &struct{ X, A, B, W *grad.Param }{param(1, 8, 2), param(2, 2, 4), param(3, 2, 4), param(4, 4, 3)}
	run := func(tp *grad.Tape) *grad.Var {
		return edgeConv(g, tp.Use(m.X), tp.Use(m.A), tp.Use(m.B), tp.Use(m.W))
	}
	gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
	x := grad.Const(m.X.Value)
	u, v := x.Rows(g.In().Cols), x.Rows(g.Destinations())
	h := u.MatMul(grad.Const(m.A.Value)).Add(v.MatMul(grad.Const(m.B.Value))).ReLU().MatMul(grad.Const(m.W.Value)).Value()
	out := tensor.New(8, 3)
	for i := range out.Data {
		out.Data[i] = tensor.Float(math.Inf(-1))
	}
	for e, d := range g.Destinations() {
		for j, y := range h.Row(e) {
			out.Row(int(d))[j] = max(out.Row(int(d))[j], y)
		}
	}
	for _, d := range []int{4, 6, 7} { // hear nobody
		clear(out.Row(d))
	}
	compare.Arrays(t, "edgeConv", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{out}, rounded)
}

func TestPointer(t *testing.T) {
	g := graph.CompleteBipartite(4, 2)
	m := &struct{ In, Steps, V *grad.Param }{param(1, 4, 3), param(2, 2, 3), param(3, 3)}
	chosen := []int32{2, 4 + 1}
	run := func(tp *grad.Tape) *grad.Var { return pointer(g, tp.Use(m.In), tp.Use(m.Steps), tp.Use(m.V), chosen) }
	gradtest.Check(t, m, run)
	loss := 0.0
	for step, c := range []int{2, 1} {
		logit := make([]float64, 4)
		for u := range logit {
			for k, v := range m.V.Value.Data {
				logit[u] += float64(v) * tanh(float64(m.In.Value.Row(u)[k]+m.Steps.Value.Row(step)[k]))
			}
		}
		loss -= math.Log(softmax(logit)[c]) / 2
	}
	compare.Arrays(t, "loss", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{dense([]float64{loss}, 1)}, rounded)
}

func TestAddress(t *testing.T) {
	const slots = 5
	g := graph.CompleteBipartite(slots, 1)
	mem := param(1, slots, 3)
	says := func(beta, gate, shift, gamma float64) headSays {
		s := []float64{0, 0, 0}
		s[int(shift)+1] = 1
		one := func(x ...float64) *grad.Var { return grad.Const(dense(x, 1, len(x))) }
		return headSays{grad.Const(mem.Value.RowRange(2, 3)), one(beta), one(gate), one(s...), one(gamma)}
	}
	last := grad.Const(dense([]float64{0, 0, 0, 0, 1}, 1, slots))
	m := grad.Const(mem.Value)
	for _, c := range []struct {
		what string
		says headSays
		want []float64
	}{
		{"content finds its slot", says(500, 1, 0, 1), []float64{0, 0, 1, 0, 0}},
		{"and moves on", says(500, 1, 1, 1), []float64{0, 0, 0, 1, 0}},
		{"or back", says(500, 1, -1, 1), []float64{0, 1, 0, 0, 0}},
		{"a closed gate keeps, the shift wraps", says(500, 0, 1, 1), []float64{1, 0, 0, 0, 0}},
		{"no strength is uniform, sharpened too", says(0, 1, 0, 50), []float64{0.2, 0.2, 0.2, 0.2, 0.2}},
	} {
		compare.Near(t, c.what, address(g, m, c.says, last).Value().Data, c.want, compare.Off(1e-5, 0))
	}
	all := &struct{ Mem, Key, Beta, Gate, Shift, Gamma *grad.Param }{mem, param(2, 2, 3), param(3, 2, 1), param(4, 2, 1), param(5, 2, 3), param(6, 2, 1)}
	two := graph.CompleteBipartite(slots, 2)
	before := grad.Const(param(7, 2, slots).Value).Softmax()
	gradtest.Check(t, all, func(tp *grad.Tape) *grad.Var {
		h := headSays{tp.Use(all.Key).Tanh(), tp.Use(all.Beta).Softplus(), tp.Use(all.Gate).Sigmoid(), tp.Use(all.Shift).Softmax(), tp.Use(all.Gamma).Softplus().Shift(1)}
		return weigh(address(two, tp.Use(all.Mem), h, before))
	})
}

func TestHop(t *testing.T) {
	g := graph.CompleteBipartite(4, 2)
	m := &struct{ M, C, U *grad.Param }{param(1, 4, 3), param(2, 4, 3), param(3, 2, 3)}
	run := func(tp *grad.Tape) *grad.Var { return hop(g, tp.Use(m.M), tp.Use(m.C), tp.Use(m.U)) }
	gradtest.Check(t, m, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
	out := m.U.Value.Clone()
	for q := range 2 {
		logit := make([]float64, 4)
		for i := range logit {
			for k, u := range m.U.Value.Row(q) {
				logit[i] += float64(u * m.M.Value.Row(i)[k])
			}
		}
		for i, p := range softmax(logit) {
			for k, c := range m.C.Value.Row(i) {
				out.Row(q)[k] += tensor.Float(p) * c
			}
		}
	}
	compare.Arrays(t, "hop", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{out}, rounded)
}

// A page quotes functions word for word: those under its mark.
var pages = []struct {
	path, section, mark string
	lines, count        int // of a function at most; of functions at least
}{
	{"../docs/models/ten-lines.md", "Six models in ten lines", "models", 10 + 3, 6}, // a body of ten
	{"../docs/library/primitives.md", "From GCN to LSTM", "primitives", 15, 15},
}

// TestPagesQuoteFunctions compares marked functions with what the pages have of
// them, and counts their lines.
func TestPagesQuoteFunctions(t *testing.T) {
	written := marked(t)
	for _, p := range pages {
		section := readSection(t, p.path, p.section)
		quoted := blocks(section, "go")
		if len(quoted) < p.count || len(quoted) != len(written[p.mark]) {
			t.Errorf("%s quotes %d functions of the %d that are marked, want at least %d", p.path, len(quoted), len(written[p.mark]), p.count)
		}
		for _, f := range written[p.mark] {
			if !slices.Contains(quoted, f) {
				t.Errorf("%s does not quote\n%s", p.path, f)
			}
			if n := strings.Count(f, "\n"); n > p.lines {
				t.Errorf("%d lines, more than %d:\n%s", n, p.lines, f)
			}
		}
	}
}

// TestPageQuotesExplain finds what docs/library/primitives.md says that Explain prints
// among what the examples do print.
func TestPageQuotesExplain(t *testing.T) {
	quoted := blocks(readSection(t, "../docs/library/primitives.md", "From GCN to LSTM"), "text")
	if len(quoted) < 4 {
		t.Errorf("%d quotations", len(quoted))
	}
	outputs := strings.ReplaceAll(testSources(t), "\t// ", "")
	for _, q := range quoted {
		if !strings.Contains(outputs, q) {
			t.Errorf("no example prints\n%s", q)
		}
	}
}

// marked returns the functions of this package's tests by the marks they have.
func marked(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?ms)^// (\[[a-z\[\] ]+\])\n(.*?^}\n)`).FindAllStringSubmatch(testSources(t), -1) {
		for _, mark := range strings.Fields(m[1]) {
			mark = strings.Trim(mark, "[]")
			out[mark] = append(out[mark], m[2])
		}
	}
	return out
}

// testSources returns this package's test files, one after another.
func testSources(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(src)
	}
	return all.String()
}

// readSection returns what a page says under a heading, up to the next of its
// level.
func readSection(t *testing.T, path, heading string) string {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(doc), heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %s", path, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// blocks returns the fenced blocks of a language.
func blocks(text, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
