package message_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Where a softmax says yes to one edge alone its gradient is nothing, and what the
// rounding of two kernels leaves of it is multiplied with queries and keys, which are
// large then.

// saturated are the operands of attention on blocks whose queries are long.
type saturated struct{ q, k, v, dy *tensor.Dense }

func newSaturated(rng *rand.Rand, g *graph.Graph, heads, d int, long float64) saturated {
	a := saturated{tensor.New(g.NumDst(), heads, d), tensor.New(g.NumSrc(), heads, d), tensor.New(g.NumSrc(), heads, d), tensor.New(g.NumDst(), heads, d)}
	for _, x := range []*tensor.Dense{a.q, a.k, a.v, a.dy} {
		x.Normal(rng, 0, 1)
	}
	for i := range a.q.Data {
		a.q.Data[i] *= tensor.Float(long / math.Sqrt(float64(d)))
	}
	return a
}

// grads returns the gradients of q, k and v.
func (a saturated) grads(g *graph.Graph, drop float64) (dq, dk, dv *tensor.Dense) {
	t := grad.NewTape(5)
	q, k, v := t.Watch(a.q), t.Watch(a.k), t.Watch(a.v)
	y, _ := (&message.Attention{Q: q, K: k, V: v, Drop: drop}).Apply(t, g)
	gs := t.BackwardFrom(y, a.dy)
	return gs.Of(q), gs.Of(k), gs.Of(v)
}

// A destination that hears one source gives it all its attention, whatever the score.
func TestOneSourceHasNoSoftmaxGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 15))
	for _, d := range []int{1, 3, 8, 64, 121} {
		for name, g := range map[string]*graph.Graph{
			"one node": graph.Complete(1), "many alone": graph.Batch(graph.Complete(1), graph.Complete(1), graph.Band(1, 0)),
			"bipartite": graph.CompleteBipartite(1, 70), "without blocks": graph.Must(graph.New(5, []int32{0, 1, 1, 4}, []int32{1, 2, 0, 4})),
		} {
			for _, drop := range []float64{0, 0.4} {
				a := newSaturated(rng, g, 2, d, 2000)
				dq, dk, _ := a.grads(g, drop)
				for i, x := range append(dq.Data, dk.Data...) {
					if x != 0 {
						t.Fatalf("%s, width %d, dropout %v: gradient %d of q and k is %v, want 0", name, d, drop, i, x)
					}
				}
			}
		}
	}
}

// TestDominatedSoftmax compares gradients of attention on blocks where one source has
// nearly all weight with those in float64.
func TestDominatedSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 16))
	eps := 0x1p-23
	if unsafe.Sizeof(tensor.Float(0)) == 8 {
		eps = 0x1p-44
	}
	for _, n := range []int{2, 70, 150} {
		g, d := graph.Complete(n), 64
		a := newSaturated(rng, g, 1, d, 2000)
		for v := range n { // one key far above all others, and far from them
			copy(a.k.Row(v), a.q.Row((v+1)%n))
		}
		dq, dk, _ := a.grads(g, 0)
		wantQ, wantK := a.oracle()
		for name, x := range map[string]struct {
			got  *tensor.Dense
			want []float64
		}{"q": {dq, wantQ}, "k": {dk, wantK}} {
			compare.Near(t, fmt.Sprintf("%d nodes: gradient of %s", n, name), x.got.Data, x.want, compare.Off(0, 16*eps))
		}
	}
}

// oracle returns the gradients of q and k on a complete graph of one head in float64.
func (a saturated) oracle() (dq, dk []float64) {
	n, d := a.q.Rows(), a.q.RowLen()
	dq, dk = make([]float64, n*d), make([]float64, n*d)
	dot := func(x, y []tensor.Float) (s float64) {
		for i, v := range x {
			s += float64(v) * float64(y[i])
		}
		return s
	}
	scale := 1 / math.Sqrt(float64(d))
	for v := range n {
		z, g, top := make([]float64, n), make([]float64, n), math.Inf(-1)
		for u := range n {
			z[u], g[u] = scale*dot(a.q.Row(v), a.k.Row(u)), dot(a.dy.Row(v), a.v.Row(u))
			top = max(top, z[u])
		}
		for u := range z {
			z[u] -= top
		}
		p, c := softmax(z), 0.0
		for u := range p {
			c += p[u] * g[u]
		}
		for u := range p {
			for j := range d {
				dz := scale * p[u] * (g[u] - c)
				dq[v*d+j] += dz * float64(a.k.Row(u)[j])
				dk[u*d+j] += dz * float64(a.q.Row(v)[j])
			}
		}
	}
	return dq, dk
}
