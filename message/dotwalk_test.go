package message_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dotWalked is dot-product attention of eight heads of eight.
type dotWalked struct {
	g       *graph.Graph
	q, k, v *grad.Param
	drop    float64
}

func newDotWalked(g *graph.Graph, drop float64) *dotWalked {
	return &dotWalked{g, param(1, g.NumDst(), 8, 8), param(2, g.NumSrc(), 8, 8), param(3, g.NumSrc(), 8, 8), drop}
}

func (w *dotWalked) message(t *grad.Tape) message.Msg {
	return message.U(t.Use(w.v)).Mul(message.UDotV(t.Use(w.k), t.Use(w.q)).Scale(1/math.Sqrt(8)).Softmax().Dropout(t, w.drop))
}

// run returns the result and all gradients.
func (w *dotWalked) run() []*tensor.Dense {
	t := grad.NewTape(3)
	y := message.UpdateAll(w.g, w.message(t), message.Sum)
	out := []*tensor.Dense{y.Value()}
	for _, d := range t.Backward(weigh(y)) {
		out = append(out, d.Value)
	}
	return out
}

// truth is what the formula says of what run returns.
func (w *dotWalked) truth() [][]rounding.Result {
	return sum(w.g, w.message(grad.NewTape(3))).results(arrays(w.v, w.k, w.q)...)
}

// hubs has one destination and one source with so many edges, beside others.
func hubs(edges int) *graph.Graph {
	rng := rand.New(rand.NewPCG(uint64(edges), 3))
	const n = 50
	var src, dst []int32
	for range edges {
		src, dst = append(src, rng.Int32N(n), 9), append(dst, 7, rng.Int32N(n-1))
	}
	return graph.Must(graph.New(n, src, dst))
}

// lists are graphs whose edges are listed.
func lists() map[string]*graph.Graph {
	h := hub(100)
	return map[string]*graph.Graph{
		"odd": odd(), "bipartite": sides(), "hub": h, "hubs": hubs(1500), "no edges": graph.Must(graph.New(3, nil, nil)),
		"view": graph.Must(graph.Dst(h, []int32{5, 39, 7, 0})),
	}
}

// The walk is what tiles are, forward and backward, and has the same bits on any number of threads.
func TestDotWalk(t *testing.T) {
	for name, g := range lists() {
		for _, drop := range []float64{0, 0.4} {
			for _, by := range []tensor.Float{1, 8} { // times which the scores of some destinations are
				w, what := newDotWalked(g, drop), fmt.Sprintf("%s, dropout %g, scores %g times", name, drop, by)
				for v := 0; v < len(w.q.Value.Data); v += 3 * 64 {
					for j := range 64 {
						w.q.Value.Data[v+j] *= by
					}
				}
				got := w.run()
				undo := par.SetThreads(4)
				compare.Arrays(t, what+", four threads", w.run(), got, compare.SameBits)
				undo()
				want := w.truth()
				reference.Near(t, what, got, want)
				message.SetFuse(t, false)
				reference.Near(t, what+", in tiles", w.run(), want)
				message.SetFuse(t, true)
			}
		}
	}
}

// Gradients that nobody wants are not made, and the others have the same bits.
func TestDotWalkFrozen(t *testing.T) {
	w := newDotWalked(hubs(1100), 0)
	all := w.run()
	for frozen := range 7 {
		want := all[:1:1]
		for i, p := range []*grad.Param{w.v, w.k, w.q} { // as they are used
			if p.Frozen = frozen>>i&1 == 1; !p.Frozen {
				want = append(want, all[1+i])
			}
		}
		compare.Arrays(t, fmt.Sprintf("frozen %b", frozen), w.run(), want, compare.SameBits)
	}
}

// One Var in several places, and views that share some rows, get the sum of what each would.
func TestDotWalkShared(t *testing.T) {
	g := hubs(40)
	n := g.NumNodes()
	attend := func(q, k, v *grad.Var) message.Msg { return message.U(v).Mul(message.UDotV(k, q).Scale(0.3).Softmax()) }
	for name, operands := range map[string]func(x *grad.Var) (q, k, v *grad.Var){
		"one": func(x *grad.Var) (q, k, v *grad.Var) { y := x.RowRange(0, n); return y, y, y },
		"apart": func(x *grad.Var) (q, k, v *grad.Var) {
			return x.RowRange(2*n, 3*n), x.RowRange(0, n), x.RowRange(n, 2*n)
		},
		"shifted":   func(x *grad.Var) (q, k, v *grad.Var) { return x.RowRange(1, n+1), x.RowRange(0, n), x.RowRange(2, n+2) },
		"k after v": func(x *grad.Var) (q, k, v *grad.Var) { return x.RowRange(0, n), x.RowRange(7, n+7), x.RowRange(3, n+3) },
	} {
		x := param(5, 3*n, 8, 8)
		run := func() []*tensor.Dense {
			tape := grad.NewTape(1)
			q, k, v := operands(tape.Use(x))
			y := message.UpdateAll(g, attend(q, k, v), message.Sum)
			return []*tensor.Dense{y.Value(), tape.Backward(weigh(y))[0].Value}
		}
		q, k, v := operands(grad.NewTape(1).Use(x))
		want := sum(g, attend(q, k, v)).results(x.Value.Data)
		reference.Near(t, name, run(), want)
		message.SetFuse(t, false)
		reference.Near(t, name+", in tiles", run(), want)
		message.SetFuse(t, true)
	}
}

// A score that is no number or infinite is that in its destination and head, and nowhere else.
func TestDotWalkOdd(t *testing.T) {
	for _, g := range []*graph.Graph{odd(), hubs(1100)} {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			w := newDotWalked(g, 0)
			w.q.Value.Data[2*64+9], w.q.Value.Data[(g.NumDst()-2)*64+20] = tensor.Float(x), tensor.Float(x)
			got := w.run()
			message.SetFuse(t, false)
			want := w.run()
			message.SetFuse(t, true)
			compare.Arrays(t, fmt.Sprintf("%v, and in tiles", x), got, want, compare.Off(1e-3, 0).OrNaN())
		}
	}
}

// The walk adds what comes next to its rows, with the bits of a sum by itself, and the gradient
// that the caller gave is not written to.
func TestDotWalkAdds(t *testing.T) {
	for name, g := range lists() {
		for _, by := range []tensor.Float{1, tensor.Float(math.Inf(1))} { // which destination 1 goes another way for
			w, root := newDotWalked(g, 0.4), param(4, g.NumDst(), 64)
			w.q.Value.Data[min(64+9, len(w.q.Value.Data)-1)] *= by
			run := func(read bool, from *tensor.Dense) []*tensor.Dense {
				t, params := grad.NewTape(3), []*grad.Param{root, w.q, w.k, w.v}
				m, r := w.message(t), t.Use(root).Scale(2)
				sum := message.UpdateAll(g, m, message.Sum).Reshape(-1, 64)
				if read {
					sum.Value()
				}
				y := sum.Add(r)
				out, ops := []*tensor.Dense{y.Value().Clone()}, strings.Join(t.Operations(), " ")
				if got := strings.Contains(ops, "UpdateAll.DotProducts+Add"); got != !read {
					panic(ops)
				}
				gs := grad.Grads(nil)
				if from == nil {
					gs = t.Backward(weigh(y))
				} else {
					gs = t.BackwardFrom(y, from)
				}
				for _, p := range params {
					out = append(out, gs.Param(p).Clone())
				}
				return out
			}
			from := param(5, g.NumDst(), 64).Value
			kept := from.Clone()
			compare.Arrays(t, name, run(false, nil), run(true, nil), compare.Exactly.OrNaN())
			compare.Arrays(t, name+", from a gradient", run(false, from), run(true, from), compare.Exactly.OrNaN())
			compare.Arrays(t, name+": the gradient that was given", []*tensor.Dense{from}, []*tensor.Dense{kept}, compare.SameBits)
		}
	}
}

// Explain says which attention is walked.
func TestDotWalkIs(t *testing.T) {
	g, tape := odd(), grad.NewTape(1)
	of := func(heads, width int) *grad.Var { return tape.Use(param(1, g.NumDst(), heads, width)) }
	weights := func(heads, width int) message.Msg {
		return message.UDotV(of(heads, width), of(heads, width)).Scale(0.5).Softmax()
	}
	edge := message.E(tape.Use(param(1, g.NumEdges(), 8, 1)))
	for name, c := range map[string]struct {
		m    message.Msg
		want bool
	}{
		"8×8":              {message.U(of(8, 8)).Mul(weights(8, 8)), true},
		"dropout":          {weights(8, 8).Dropout(tape, 0.5).Mul(message.U(of(8, 8))), true},
		"4×16":             {message.U(of(4, 16)).Mul(weights(4, 16)), false},
		"wider values":     {message.U(of(8, 16)).Mul(weights(8, 8)), false},
		"a bias":           {message.U(of(8, 8)).Mul(message.UDotV(of(8, 8), of(8, 8)).Add(edge).Softmax()), false},
		"weights of edges": {message.U(of(8, 8)).Mul(weights(8, 8).Mul(edge)), false},
	} {
		said := message.Explain(g, c.m, message.Sum)
		if got := strings.Contains(said, "dot-product attention: a walk"); got != c.want {
			t.Errorf("%s: walked is %v. Explain says\n%s", name, got, said)
		}
	}
}

// A processor without AVX-512 has a walk, too.
func TestDotWalkNarrow(t *testing.T) {
	if cpu.Path() != "avx512" {
		t.Skip("this processor has nothing narrower")
	}
	w := newDotWalked(hub(50), 0)
	defer cpu.Narrow()()
	if said := message.Explain(w.g, w.message(grad.NewTape(1)), message.Sum); !strings.Contains(said, "dot-product attention: a walk") {
		t.Errorf("Explain says\n%s", said)
	}
	reference.Near(t, "by AVX2", w.run(), w.truth())
}
