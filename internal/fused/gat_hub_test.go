package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// hubs returns the structure of a graph with a destination of 2,500 in-edges,
// a source of as many out-edges, loops, parallel edges, and nodes without any.
func hubs(t testing.TB, rng *rand.Rand) *sparse.CSR {
	const nodes, hub = 700, 2500 // in pieces of 1024: first, middle and last ones
	var r, c []int32
	put := func(v, u int32) { r, c = append(r, v), append(c, u) }
	for range hub {
		put(3, rng.Int32N(600))
		put(rng.Int32N(600), 5)
	}
	for i := range int32(600) {
		put(i, i)
		put(rng.Int32N(600), rng.Int32N(600))
	}
	a, _, err := sparse.FromCOO(nodes, nodes, r, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// oracle is the attention and its gradients in float64, edge by edge.
type oracle struct {
	k                        *fused.GAT
	dOut                     *tensor.Dense
	out, el, er, ft, ee, wgt []float64
}

func newOracle(k *fused.GAT, dOut *tensor.Dense) *oracle {
	zero := func(x *tensor.Dense) []float64 { return make([]float64, len(x.Data)) }
	n := k.In.NNZ() * k.El.RowLen()
	o := &oracle{k: k, dOut: dOut, out: zero(dOut), el: zero(k.El), er: zero(k.Er), ft: zero(k.Ft), ee: make([]float64, n), wgt: make([]float64, n)}
	for v := range k.In.NumRows {
		for h := range k.El.RowLen() {
			o.row(v, h)
		}
	}
	return o
}

// row does one head of one destination.
func (o *oracle) row(v, h int) {
	k, heads := o.k, o.k.El.RowLen()
	d := k.Ft.RowLen() / heads
	lo, hi := int(k.In.Offsets[v]), int(k.In.Offsets[v+1])
	z, alpha, factor := make([]float64, hi-lo), make([]float64, hi-lo), make([]float64, hi-lo)
	top, sum := math.Inf(-1), 0.0
	leaky := func(x float64) float64 {
		if x > 0 {
			return x
		}
		return float64(k.Slope) * x
	}
	for i := range z {
		z[i] = float64(k.El.Row(int(k.In.Cols[lo+i]))[h] + k.Er.Row(v)[h]) // the same sign at the kink
		if k.Ee != nil {
			z[i] = float64(float(z[i]) + k.Ee.Row(lo + i)[h])
		}
		top = max(top, leaky(z[i]))
	}
	for i := range z {
		alpha[i] = math.Exp(leaky(z[i]) - top)
		sum += alpha[i]
	}
	out, dOut := o.out[v*heads*d+h*d:][:d], o.dOut.Row(v)[h*d:][:d]
	c := 0.0
	dots := make([]float64, hi-lo)
	for i := range z {
		alpha[i] /= sum
		u := int(k.In.Cols[lo+i])
		ft, dft := k.Ft.Row(u)[h*d:][:d], o.ft[u*heads*d+h*d:][:d]
		factor[i] = 1
		if k.Drop != nil && !k.Drop.Off {
			factor[i] = 0
			if k.Drop.Keeps(lo+i, h) {
				factor[i] = k.Drop.Scale
			}
		}
		g := 0.0
		for j, y := range dOut {
			g += float64(y) * float64(ft[j])
		}
		dots[i] = g
		o.wgt[(lo+i)*heads+h] = g * alpha[i] * factor[i]
		if k.Weight != nil {
			factor[i] *= float64(k.Weight.Row(lo + i)[min(h, k.Weight.RowLen()-1)])
		}
		w := alpha[i] * factor[i]
		for j := range out {
			out[j] += w * float64(ft[j])
			dft[j] += w * float64(dOut[j])
		}
		c += alpha[i] * factor[i] * g
	}
	for i := range z {
		u := int(k.In.Cols[lo+i])
		dz := alpha[i] * (dots[i]*factor[i] - c)
		if !(z[i] > 0) {
			dz *= float64(k.Slope)
		}
		o.ee[(lo+i)*heads+h] = dz
		o.el[u*heads+h] += dz
		o.er[v*heads+h] += dz
	}
}

func hubAttention(t testing.TB, heads, d int, spread float) (*fused.GAT, *tensor.Dense) {
	rng := rand.New(rand.NewPCG(uint64(heads), uint64(d)))
	a := hubs(t, rng)
	drop := tensor.NewMask(7, 8, 9, 0.5)
	k := &fused.GAT{
		In: a, El: normal(rng, a.NumCols, heads), Er: normal(rng, a.NumRows, heads), Ft: normal(rng, a.NumCols, heads, d),
		Ee: normal(rng, a.NNZ(), heads), Weight: normal(rng, a.NNZ(), heads), Slope: 0.2, Drop: &drop,
	}
	for i := range k.El.Data {
		k.El.Data[i] *= spread
	}
	return k, normal(rng, a.NumRows, heads, d)
}

// ofOracle is for what the oracle says, relative to the largest element.
var ofOracle = compare.PartOfLargest(2e-5)

func TestAttentionHubs(t *testing.T) {
	for _, hd := range [][2]int{{1, 7}, {2, 3}, {3, 5}, {8, 8}, {8, 16}, {12, 9}} {
		for _, spread := range []float{1, 300} {
			t.Run(fmt.Sprintf("%dx%d/%v", hd[0], hd[1], spread), func(t *testing.T) {
				k, dOut := hubAttention(t, hd[0], hd[1], spread)
				want := newOracle(k, dOut)
				out, rec, into := dOut.Like(), records(k), gradsOf(k)
				k.Forward(out, rec)
				k.Backward(dOut, out, rec, into)
				compare.Near(t, "out", out.Data, want.out, ofOracle)
				compare.Near(t, "El", into.El.Data, want.el, ofOracle)
				compare.Near(t, "Er", into.Er.Data, want.er, ofOracle)
				compare.Near(t, "Ft", into.Ft.Data, want.ft, ofOracle)
				compare.Near(t, "Ee", into.Ee.Data, want.ee, ofOracle)
				compare.Near(t, "Weight", into.Weight.Data, want.wgt, ofOracle)
				set := gradsOf(k)
				set.Sets = fused.SetFt
				set.Ft.Fill(float(math.NaN()))
				k.Backward(dOut, out, rec, set)
				compare.Near(t, "Ft, set", set.Ft.Data, want.ft, ofOracle)
				compare.Near(t, "El beside it", set.El.Data, want.el, ofOracle)
				k.Backward(dOut, out, rec, &fused.GATGrads{Ft: set.Ft, Sets: fused.SetFt})
				compare.Near(t, "Ft alone, set", set.Ft.Data, want.ft, ofOracle)
			})
		}
	}
}

// What comes out does not depend on the number of threads, to the bit.
func TestAttentionThreads(t *testing.T) {
	for _, hd := range sparing.Some([][2]int{{8, 8}, {1, 7}, {4, 64}}) {
		k, dOut := hubAttention(t, hd[0], hd[1], 1)
		var first []*tensor.Dense
		for _, n := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(n)
			out, rec, into := dOut.Like(), records(k), gradsOf(k)
			clear(rec.Data) // there are places that nothing sets
			k.Forward(out, rec)
			k.Backward(dOut, out, rec, into)
			y, dx := k.Ee.Like(), k.Ee.Like()
			sparse.Softmax{A: k.In}.Into(y, k.Ee)
			sparse.Softmax{A: k.In, Add: true}.Grad(dx, y, k.Weight)
			values := make([]float, k.In.NNZ())
			sparse.DropValues(values, k.In, k.Drop)
			undo()
			all := []*tensor.Dense{out, tensor.Of(rec.Data, len(rec.Data)), into.El, into.Er, into.Ft, into.Ee, into.Weight, y, dx, tensor.Of(values, len(values))}
			if first == nil {
				first = all
			}
			for i, x := range all {
				compare.Equal(t, fmt.Sprintf("%dx%d, result %d on %d threads", hd[0], hd[1], i, n), x.Data, first[i].Data)
			}
		}
	}
}

// On more threads than there are groups each edge has a place, in one round or in several, and groups end
// within a round and with one. The bits are those of copies. A source of all edges is a chunk of its own.
func TestAttentionPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	hub := sparse.CSR{NumRows: 900, NumCols: 3, Cols: make([]int32, 900)}
	for v := range int64(901) {
		hub.Offsets = append(hub.Offsets, v)
	}
	for i, a := range []*sparse.CSR{hubs(t, rng), regular(t, rng, 600, 900, 1500), &hub} {
		for _, hd := range sparing.Some([][2]int{{8, 8}, {1, 7}, {2, 3}, {4, 16}, {11, 2}, {16, 8}}) {
			for j, groups := range [][3]int{{1 << 9, 1 << 17, 1 << 22}, {1, 1, 1}, {1 << 20, 1 << 20, 1 << 20}} {
				undo := fused.SetCopiesFrom(groups)
				k := &fused.GAT{In: a, El: normal(rng, a.NumCols, hd[0]), Er: normal(rng, a.NumRows, hd[0]), Ft: normal(rng, a.NumCols, hd[0], hd[1]), Slope: 0.2}
				dOut := normal(rng, a.NumRows, hd[0], hd[1])
				var first *fused.GATGrads
				for _, c := range [][2]int{{1, 1 << 24}, {16, 1 << 24}, {9, 1 << 12}, {33, 1 << 9}, {16, 1}} {
					threads, places := par.SetThreads(c[0]), fused.SetErMost(c[1])
					out, rec := dOut.Like(), records(k)
					k.Forward(out, rec)
					into := &fused.GATGrads{El: spoiltLike(k.El), Er: spoiltLike(k.Er), Ft: spoiltLike(k.Ft), Sets: fused.SetEl | fused.SetEr | fused.SetFt}
					k.Backward(dOut, out, rec, into)
					into.Sets = 0
					k.Backward(dOut, out, rec, into)
					threads()
					places()
					if first == nil {
						first = into
					}
					what := fmt.Sprintf("graph %d, %v heads, groups %d, %d threads and %d places", i, hd, j, c[0], c[1])
					compare.Equal(t, what+": El", into.El.Data, first.El.Data)
					compare.Equal(t, what+": Er", into.Er.Data, first.Er.Data)
					compare.Equal(t, what+": Ft", into.Ft.Data, first.Ft.Data)
				}
				undo()
			}
		}
	}
}

// A NaN or an infinity stays in its column of its row, and the kernels in plain
// Go agree on which results are numbers.
func TestAttentionNotFinite(t *testing.T) {
	bad := []float{float(math.NaN()), float(math.Inf(1)), float(math.Inf(-1))}
	for _, hd := range [][2]int{{1, 4}, {3, 4}, {8, 4}, {8, 8}} {
		heads, d := hd[0], hd[1]
		rng := rand.New(rand.NewPCG(31, uint64(heads)))
		a := random(rng, 40, 30, 200, false)
		k := &fused.GAT{In: a, El: normal(rng, 30, heads), Er: normal(rng, 40, heads), Ft: normal(rng, 30, heads, d), Slope: 0.2}
		for range 4 {
			k.El.Data[rng.IntN(len(k.El.Data))] = bad[rng.IntN(3)]
			k.Er.Data[rng.IntN(len(k.Er.Data))] = bad[rng.IntN(3)]
		}
		run := func() (*tensor.Dense, *fused.GATGrads) {
			out, rec, into := tensor.New(40, heads, d), records(k), gradsOf(k)
			k.Forward(out, rec)
			k.Backward(out, out, rec, into)
			return out, into
		}
		out, into := run()
		undo := cpu.Disable()
		want, wantInto := run()
		undo()
		y := tensor.New(a.NNZ(), heads)
		z, _, _ := unfused(k, want.Like())
		for i, s := range z.Data {
			if !(s > 0) {
				z.Data[i] = s * k.Slope
			}
		}
		sparse.Softmax{A: a}.Into(y, z)
		alone := want.Like()
		sparse.Product{A: a, Weights: y, Add: true}.Into(alone, k.Ft)
		for name, pair := range map[string][2]*tensor.Dense{
			"out": {out, want}, "out of Softmax": {out, alone}, "El": {into.El, wantInto.El}, "Er": {into.Er, wantInto.Er}, "Ft": {into.Ft, wantInto.Ft},
		} {
			for i, v := range pair[0].Data {
				w := pair[1].Data[i]
				if !(math.Abs(float64(v-w)) <= 1e-4*(1+math.Abs(float64(w)))) && !(v != v && w != w) && v != w {
					t.Errorf("%d heads: %s at %d is %v, want %v", heads, name, i, v, w)
				}
			}
		}
	}
}

func TestAttentionAllocatesNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	if sparing.Raced {
		t.Skip("the race detector empties pools")
	}
	k, dOut := hubAttention(t, 8, 8, 1)
	out, rec := dOut.Like(), records(k)
	into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
	y := k.Ee.Like()
	values := make([]float, k.In.NNZ())
	if n := sparing.Allocations(func() {
		k.Forward(out, rec)
		k.Backward(dOut, out, rec, into)
		sparse.Softmax{A: k.In}.Into(y, k.Ee)
		sparse.Softmax{A: k.In, Add: true}.Grad(y, k.Ee, k.Ee)
		sparse.DropValues(values, k.In, k.Drop)
	}); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

// Where there is nothing to carry, what is to be set is zero.
func TestAttentionSetsNothing(t *testing.T) {
	a, err := sparse.New(2, 3, []int64{0, 0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &fused.GAT{In: a, El: tensor.New(3, 1), Er: tensor.New(2, 1), Ft: tensor.New(3, 1, 4), Slope: 0.2}
	out, rec := tensor.New(2, 1, 4), records(k)
	k.Forward(out, rec)
	into := &fused.GATGrads{Ft: tensor.New(3, 1, 4), Sets: fused.SetFt}
	into.Ft.Fill(float(math.NaN()))
	k.Backward(out, out, rec, into)
	compare.Equal(t, "Ft", into.Ft.Data, k.Ft.Data)
}

// plainHub is hubAttention with nothing at the edges but the mask.
func plainHub(t testing.TB, heads, d int, drop float64) (*fused.GAT, *tensor.Dense) {
	k, dOut := hubAttention(t, heads, d, 1)
	k.Ee, k.Weight = nil, nil
	mask := tensor.NewMask(7, 8, 9, drop)
	k.Drop = &mask
	return k, dOut
}

// Attention with nothing at its edges equals the oracle, whether its logits are
// large, and whatever gradients are wanted.
func TestAttentionPlainHubs(t *testing.T) {
	type hubCase struct {
		heads, d    int
		drop, large float64
	}
	cases := []hubCase{
		{8, 8, 0, 0}, {8, 8, 0.5, 23}, {8, 8, 0, 25}, {16, 8, 0.5, 0}, {16, 8, 0, 25},
		{8, 3, 0.5, 0}, {8, 7, 0.5, 23}, {8, 1, 0, 25}, {16, 5, 0.5, 0},
		{1, 7, 0, 0}, {1, 7, 0.5, 23}, {1, 7, 0, 25}, {1, 1, 0.5, 0}, {1, 8, 0.5, 0},
	}
	if sparing.Full() { // other widths on the same paths
		cases = append(cases, hubCase{8, 8, 0.5, 0}, hubCase{8, 8, 0.5, 1e4}, hubCase{8, 3, 0, 0}, hubCase{16, 2, 0, 25},
			hubCase{1, 7, 0.5, 0}, hubCase{1, 7, 0.5, 1e4}, hubCase{1, 3, 0, 0})
	}
	for _, c := range sparing.Some(cases) {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			k, dOut := plainHub(t, c.heads, c.d, c.drop)
			checkPlainHub(t, k, dOut, float(c.large))
		})
	}
}

// One destination whose part of the logit is large, which is seen when others have
// been computed already.
func TestAttentionPlainOutOfRange(t *testing.T) {
	for _, hd := range [][2]int{{8, 8}, {8, 3}, {16, 8}, {1, 7}} {
		larges := []float{24, 25} // either side of what exponentials take
		if hd[0] == 16 || hd[1] == 3 {
			larges = []float{-60, 1e4}
		}
		for _, large := range larges {
			t.Run(fmt.Sprint(hd, large), func(t *testing.T) {
				k, dOut := plainHub(t, hd[0], hd[1], 0.5)
				k.Er.Row(k.In.NumRows * 5 / 6)[hd[0]-1] = large
				checkPlainHub(t, k, dOut, 0)
			})
		}
	}
}

func checkPlainHub(t *testing.T, k *fused.GAT, dOut *tensor.Dense, large float) {
	heads := k.El.RowLen()
	if large > 0 {
		k.El.Data[len(k.El.Data)/2], k.Er.Data[len(k.Er.Data)/3], k.Er.Data[3*heads] = large, -large, large
	}
	want := newOracle(k, dOut)
	out, rec, into := dOut.Like(), records(k), gradsOf(k)
	into.Ee, into.Weight = nil, nil
	k.Forward(out, rec)
	compare.Near(t, "out", out.Data, want.out, ofOracle)
	for i, which := range []string{"first", "second"} { // the second adds
		k.Backward(dOut, out, rec, into)
		for j, x := range []*tensor.Dense{into.Ft, into.El, into.Er} {
			w := append([]float64(nil), [][]float64{want.ft, want.el, want.er}[j]...)
			for at := range w {
				w[at] *= float64(i + 1)
			}
			compare.Near(t, fmt.Sprintf("gradient %d, %s", j, which), x.Data, w, ofOracle)
		}
	}
	all := gradsOf(k) // those of the edges, of the same statistics
	k.Backward(dOut, out, rec, all)
	compare.Near(t, "El beside Ee", all.El.Data, want.el, ofOracle)
	compare.Near(t, "Ft beside Ee", all.Ft.Data, want.ft, ofOracle)
	compare.Near(t, "Ee", all.Ee.Data, want.ee, ofOracle)
	compare.Near(t, "Weight", all.Weight.Data, want.wgt, ofOracle)
}

// One gradient alone has the same bits as with the others, on any number of
// threads.
func TestAttentionPlainThreads(t *testing.T) {
	for _, hd := range sparing.Some([][2]int{{8, 8}, {16, 8}, {8, 3}, {16, 6}, {1, 7}, {1, 2}}) {
		k, dOut := plainHub(t, hd[0], hd[1], 0.3)
		var first []*tensor.Dense
		for _, n := range append([]int{1}, sparing.Some([]int{3, 8})...) {
			undo := par.SetThreads(n)
			out, rec := dOut.Like(), records(k)
			clear(rec.Data)
			k.Forward(out, rec)
			sums := tensor.Of(append([]float(nil), rec.Data...), len(rec.Data))
			into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
			k.Backward(dOut, out, rec, into)
			el, er, ft := k.El.Like(), k.Er.Like(), k.Ft.Like()
			k.Backward(dOut, out, rec, &fused.GATGrads{El: el})
			k.Backward(dOut, out, rec, &fused.GATGrads{Er: er})
			k.Backward(dOut, out, rec, &fused.GATGrads{Ft: ft})
			undo()
			compare.Equal(t, "El alone", el.Data, into.El.Data)
			compare.Equal(t, "Er alone", er.Data, into.Er.Data)
			compare.Equal(t, "Ft alone", ft.Data, into.Ft.Data)
			all := []*tensor.Dense{out, sums, into.El, into.Er, into.Ft}
			if first == nil {
				first = all
			}
			for i, x := range all {
				compare.Equal(t, fmt.Sprintf("%v heads, result %d on %d threads", hd, i, n), x.Data, first[i].Data)
			}
		}
	}
}

func TestAttentionPlainAllocatesNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	if sparing.Raced {
		t.Skip("the race detector empties pools")
	}
	for _, hd := range [][2]int{{8, 8}, {8, 3}, {1, 7}} {
		k, dOut := plainHub(t, hd[0], hd[1], 0.5)
		out, rec := dOut.Like(), records(k)
		into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
		if n := sparing.Allocations(func() {
			k.Forward(out, rec)
			k.Backward(dOut, out, rec, into)
		}); n >= 1 {
			t.Errorf("%v heads: %v allocations", hd, n)
		}
	}
}

// Rows without elements come to nothing, and so do all gradients.
func TestAttentionOfNoElements(t *testing.T) {
	for _, heads := range []int{1, 3, 8} {
		k, _ := plainHub(t, heads, 0, 0.5)
		out, rec, into := tensor.New(k.In.NumRows, heads, 0), records(k), gradsOf(k)
		into.El.Fill(3)
		into.Sets = fused.SetEl
		k.Forward(out, rec)
		k.Backward(out, out, rec, into)
		for i, x := range []*tensor.Dense{into.El, into.Er, into.Ee, into.Weight} {
			if !slices.Equal(x.Data, make([]float, len(x.Data))) {
				t.Errorf("%d heads: gradient %d is not zero", heads, i)
			}
		}
	}
}

// Attention on nothing: no destinations, no sources, or no edges between them.
func TestAttentionEmpty(t *testing.T) {
	for _, heads := range []int{1, 3, 8} {
		for _, size := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {5, 5}} {
			rows, cols := size[0], size[1]
			in, err := sparse.New(rows, cols, make([]int64, rows+1), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			k := &fused.GAT{In: in, El: tensor.New(cols, heads), Er: tensor.New(rows, heads), Ft: tensor.New(cols, heads, 8), Slope: 0.2}
			out, rec := tensor.New(rows, heads, 8), records(k)
			out.Fill(3)
			k.Forward(out, rec)
			for i, v := range out.Data {
				if v != 0 {
					t.Fatalf("%d heads, %d destinations, %d sources: element %d is %v", heads, rows, cols, i, v)
				}
			}
			into := gradsOf(k)
			k.Backward(tensor.New(rows, heads, 8), out, rec, into)
			for _, g := range []*tensor.Dense{into.El, into.Er, into.Ft} {
				for i, v := range g.Data {
					if v != 0 {
						t.Fatalf("%d heads, %d destinations, %d sources: element %d of a gradient is %v", heads, rows, cols, i, v)
					}
				}
			}
		}
	}
}
