package message_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// manyHubs has destinations with so many in-edges, one after another among others with
// a few, and a last one with none.
func manyHubs(degrees ...int) *graph.Graph {
	rng := rand.New(rand.NewPCG(7, uint64(len(degrees))))
	const n = 60
	var src, dst []int32
	for v := range int32(n - 1) {
		deg := 1 + rng.IntN(5)
		if i := int(v) - 20; i >= 0 && i < len(degrees) {
			deg = degrees[i]
		}
		for range deg {
			src, dst = append(src, rng.Int32N(n)), append(dst, v)
		}
	}
	return graph.Must(graph.New(n, src, dst))
}

// walked is attention by GATv2 in float64: the sum over each destination's edges of
// U's rows, weighed by the softmax of scores, and its gradients by U, V and W.
type walked struct {
	g          *graph.Graph
	m          *broad
	heads, dim int
	slope      float64
	y          terms
	dU, dV, dW terms
}

// terms is sums in float64, and the sums of the absolute values of their terms: to
// these rounding is relative, not to what cancels.
type terms struct{ sum, size []float64 }

func newTerms(n int) terms { return terms{make([]float64, n), make([]float64, n)} }

func (s terms) add(k int, v float64) {
	s.sum[k] += v
	s.size[k] += math.Abs(v)
}

func newWalked(g *graph.Graph, m *broad, slope float64, dy *tensor.Dense) *walked {
	shape, f := m.U.Value.Shape(), m.U.Value.RowLen()
	w := &walked{
		g: g, m: m, heads: shape[1], dim: shape[2], slope: slope,
		y: newTerms(g.NumDst() * f), dU: newTerms(g.NumSrc() * f), dV: newTerms(g.NumDst() * f), dW: newTerms(f),
	}
	for v := range g.NumDst() {
		for h := range w.heads {
			w.head(v, h, dy.Row(v)[h*w.dim:][:w.dim])
		}
	}
	return w
}

// leaky is LeakyReLU of u + v, whose sign is that of the sum in Float, and its slope.
func (w *walked) leaky(u, v tensor.Float) (y, slope float64) {
	if z := float64(u) + float64(v); u+v > 0 {
		return z, 1
	} else {
		return w.slope * z, w.slope
	}
}

// head does one head of one destination, whose gradient is dy.
func (w *walked) head(v, h int, dy []tensor.Float) {
	at, d := h*w.dim, w.dim
	in := w.g.In()
	cols := in.Cols[in.Offsets[v]:in.Offsets[v+1]]
	vs, a := w.m.V.Value.Row(v)[at:], w.m.W.Value.Data[at:]
	alpha, g := make([]float64, len(cols)), make([]float64, len(cols))
	top, sum, c := math.Inf(-1), 0.0, 0.0
	for e, u := range cols {
		for j, x := range w.m.U.Value.Row(int(u))[at : at+d] {
			y, _ := w.leaky(x, vs[j])
			alpha[e] += float64(a[j]) * y
			g[e] += float64(x) * float64(dy[j])
		}
		top = max(top, alpha[e])
	}
	for e := range cols {
		alpha[e] = math.Exp(alpha[e] - top)
		sum += alpha[e]
	}
	for e := range cols {
		alpha[e] /= sum
		c += alpha[e] * g[e]
	}
	f := w.heads * d
	for e, u := range cols {
		for j, x := range w.m.U.Value.Row(int(u))[at : at+d] {
			y, slope := w.leaky(x, vs[j])
			w.y.add(v*f+at+j, alpha[e]*float64(x))
			w.dU.add(int(u)*f+at+j, alpha[e]*float64(dy[j]))
			for _, ds := range [2]float64{alpha[e] * g[e], -alpha[e] * c} {
				w.dU.add(int(u)*f+at+j, ds*float64(a[j])*slope)
				w.dV.add(v*f+at+j, ds*float64(a[j])*slope)
				w.dW.add(at+j, ds*y)
			}
		}
	}
}

// near holds got against such sums.
func (s terms) near(t *testing.T, what string, got []tensor.Float) {
	t.Helper()
	part := compare.In(1e-4, 1e-12) // scores of some hundreds have few places left
	compare.Near(t, what, got, s.sum, compare.PartOfTerms(part, part, s.size))
}

// TestHubs compares GATv2 with its formula on graphs of several destinations that are
// cut into parts, or only done tile by tile, or taken in pieces by the walk, on either
// side of what a tile, a chunk and a call take. Some of them, hubs and others, have
// scores that the walk does not take.
func TestHubs(t *testing.T) {
	g := manyHubs(300, 700, 150, 1023, 1024, 1025, 2049, 4500, 40)
	for _, shape := range sparing.Some([][2]int{{8, 8}, {1, 64}, {2, 16}}) {
		m := newBroad(g, shape[0], shape[1])
		for v := 0; v < g.NumDst(); v++ {
			for j := range m.V.Value.Row(v) {
				m.V.Value.Row(v)[j] *= []tensor.Float{1, 20, 3}[v%3]
			}
		}
		dy := param(8, g.NumDst(), shape[0], shape[1]).Value
		want := newWalked(g, m, 0.2, dy)
		type sizes struct{ tile, work, window int }
		for i, c := range sparing.Some([]sizes{
			{48 << 10, 1 << 14, 1 << 20}, {512, 1 << 14, 1 << 20}, {48 << 10, 1 << 18, 1 << 20}, {512, 1 << 18, 1 << 9}, {8 << 10, 1 << 10, 1 << 14},
		}) {
			for j, joins := range []bool{true, false} {
				if (i+j)%2 != 0 && (shape[0] != 8 || i > 2) && !sparing.Full() {
					continue // eight heads go another way
				}
				what := fmt.Sprintf("heads %v, tiles and chunks of %v, joined %v", shape, c, joins)
				message.SetTileBytes(t, c.tile)
				message.SetChunks(t, c.work, c.window)
				message.SetJoin(t, joins)
				want.compare(t, what, dy)
				if joins && shape[0] == 8 && (i%3 == 0 || sparing.Full()) {
					past := cpu.StreamFrom
					cpu.StreamFrom = 1
					want.compare(t, what+", stored past the caches", dy)
					if cpu.Path() == "avx512" {
						undo := cpu.Narrow()
						want.compare(t, what+", by AVX2", dy)
						undo()
					}
					cpu.StreamFrom = past
				}
			}
		}
	}
}

// compare computes the same by messages.
func (w *walked) compare(t *testing.T, what string, dy *tensor.Dense) {
	t.Helper()
	tape := grad.NewTape(3)
	u, v, a := tape.Use(w.m.U), tape.Use(w.m.V), tape.Use(w.m.W)
	y := message.UpdateAll(w.g, message.U(u).Mul(message.UAddV(u, v).LeakyReLU(w.slope).Dot(message.W(a)).Softmax()), message.Sum)
	w.y.near(t, what+": y", y.Value().Data)
	grads := tape.Backward(y.Mul(grad.Const(dy)).Sum())
	w.dU.near(t, what+": gradient of U", grads.Param(w.m.U).Data)
	w.dV.near(t, what+": gradient of V", grads.Param(w.m.V).Data)
	w.dW.near(t, what+": gradient of W", grads.Param(w.m.W).Data)
}

// The gradients of what runs across the in-edges of a node have closed forms. With c the
// sum of dy·y, or of dy, over the edges:
//
//	softmax      y·(dy − c)
//	log-softmax  dy − eʸ·c
//	normalise    (dy − c)/Σx
func TestAcrossGradients(t *testing.T) {
	const heads = 3
	g := manyHubs(10, 300, 1025, 2049)
	x, dy := param(1, g.NumEdges(), heads), param(2, g.NumEdges(), heads).Value
	for i, v := range x.Value.Data {
		x.Value.Data[i] = max(v, -v) + 0.1 // a sum of what is not negative has no small one
	}
	for _, kind := range []string{"softmax", "log-softmax", "normalise"} {
		dx, off := newTerms(len(dy.Data)), g.In().Offsets
		for v := range g.NumDst() {
			for h := range heads {
				across(kind, dx, edgeColumn{int(off[v]), int(off[v+1]), h, heads}, x.Value.Data, dy.Data)
			}
		}
		for _, tile := range []int{48 << 10, 512} {
			message.SetTileBytes(t, tile)
			tape := grad.NewTape(1)
			e := message.E(tape.Use(x))
			y := map[string]func() message.Msg{"softmax": e.Softmax, "log-softmax": e.LogSoftmax, "normalise": e.Normalise}[kind]()
			grads := tape.Backward(message.ApplyEdges(g, y).Mul(grad.Const(dy)).Sum())
			dx.near(t, fmt.Sprintf("%s in tiles of %d bytes", kind, tile), grads.Param(x).Data)
		}
	}
}

// edgeColumn is the edges of one destination, and a column of heads.
type edgeColumn struct{ lo, hi, h, heads int }

// across adds the gradient of one column.
func across(kind string, dx terms, at edgeColumn, x, dy []tensor.Float) {
	sum, c := 0.0, 0.0
	weight := func(k int) float64 {
		if kind == "normalise" {
			return float64(x[k])
		}
		return math.Exp(float64(x[k]))
	}
	for e := at.lo; e < at.hi; e++ {
		sum += weight(e*at.heads + at.h)
	}
	for e := at.lo; e < at.hi; e++ {
		k := e*at.heads + at.h
		if g := float64(dy[k]); kind == "log-softmax" {
			c += g
		} else {
			c += g * weight(k) / sum
		}
	}
	for e := at.lo; e < at.hi; e++ {
		k := e*at.heads + at.h
		by, less := 1/sum, c/sum // normalise
		switch kind {
		case "softmax":
			by, less = weight(k)/sum, weight(k)/sum*c
		case "log-softmax":
			by, less = 1, weight(k)/sum*c
		}
		dx.add(k, by*float64(dy[k]))
		dx.add(k, -less)
	}
}

// The gradient of a table of biases is summed in 16 parts of the blocks: here there are
// fewer blocks than that, as many, and more.
func TestBiasBlocks(t *testing.T) {
	for _, n := range []int{15, 16, 17, 40} {
		some := make([]*graph.Graph, n)
		for i := range some {
			some[i] = graph.Complete(3 + i%2)
		}
		g := graph.Batch(some...)
		h := &heads{Q: param(1, g.NumDst(), 2, 9), K: param(2, g.NumSrc(), 2, 9), V: param(3, g.NumSrc(), 2, 5), Bias: biasParam(g, "a kind and head")}
		b := &biased{h, biases(g)["a kind and head"], 0}
		what, want := fmt.Sprintf("%d blocks", n), b.truth(g)
		reference.Near(t, what, b.run(g), want)
		message.SetFuse(t, false)
		reference.Near(t, what+", in tiles", b.run(g), want)
		message.SetFuse(t, true)
	}
}

// Threads share the columns of the gradient of a picked row, 16 to each.
func TestPickedColumns(t *testing.T) {
	g := manyHubs(300)
	kinds := make([]int32, g.NumEdges())
	for e := range kinds {
		kinds[e] = int32(e * 5 % 7)
	}
	for _, n := range []int{1, 15, 16, 17, 33, 70} {
		u, w, dy := param(1, g.NumSrc(), n), param(2, 7, n), param(3, g.NumDst(), n).Value
		dw, dst := newTerms(7*n), g.Destinations()
		for e, from := range g.In().Cols {
			for j, v := range u.Value.Row(int(from)) {
				dw.add(int(kinds[e])*n+j, float64(v)*float64(dy.Row(int(dst[e]))[j]))
			}
		}
		tape := grad.NewTape(1)
		y := message.UpdateAll(g, message.U(tape.Use(u)).Mul(message.W(tape.Use(w)).Pick(kinds)), message.Sum)
		dw.near(t, fmt.Sprintf("%d columns", n), tape.Backward(y.Mul(grad.Const(dy)).Sum()).Param(w).Data)
	}
}
