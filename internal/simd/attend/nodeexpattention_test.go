package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// spokesOf returns nodes with edges to columns, and random strides: for eight heads
// or one.
func spokesOf(rng *rand.Rand, rows, cols, most int) func() *NodeExpAttention {
	o, c := simdtest.Edges(rng, rows, cols, most)
	perm := make([]int32, len(c))
	for i := range perm {
		perm[i] = rng.Int32()
	}
	k := NodeExpAttention{
		Offsets: o, Cols: c, Perm: perm, Last: len(c) - 1, Ahead: rng.IntN(2) * 3,
		AddY: rng.IntN(2), AddRec: rng.IntN(2), Heads: 1 + 7*rng.IntN(2), Width: 8 - max(0, rng.IntN(12)-4), Factors: make([]Float, 4*NodeExpMost),
		Stream: rng.IntN(2) == 0,
	}
	if rng.IntN(2) == 0 {
		k.Rows, k.First = orderOf(rng, len(c)-int(o[0])), int(o[0])
	}
	heads, width := k.heads()
	stride := func(n int) int { return n + rng.IntN(3) }
	k.FarStride, k.RecStride = stride(NodeExpRecord*heads), stride(NodeExpRecord*heads)
	k.OwnStride, k.DerStride = stride(2*heads), stride(heads)
	k.XStride, k.YStride, k.VStride = stride(heads*width), stride(heads*width), stride(heads*width)
	slope, column := Float(rng.Float64()), rng.IntN(20)
	var d *vec.Dropout
	if rng.IntN(2) == 0 {
		mask := vec.NewDropout(rng.Uint64(), 1, 2, 0.4)
		d = &mask
	}
	return func() *NodeExpAttention {
		s := k
		s.Prepare(slope, d, column)
		return &s
	}
}

// checkNodeExpAttention compares both kernels with plain Go.
func checkNodeExpAttention(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	const cols = 9
	k := spokesOf(rng, rows, cols, most)
	pos := func() Float { return Float(math.Abs(rng.NormFloat64())) + 0.01 }
	s := k()
	heads, _ := s.heads()
	node := func(stride int) int { return rows * stride }
	var done [2][]int
	what := fmt.Sprintf("%d nodes of up to %d edges, %d heads of %d, rows of edges %t", rows, most, s.Heads, s.Width, s.Rows != nil)
	with := heads == 8 && s.Width == 8 && rng.IntN(2) == 0
	simdtest.Trial(t, "Attend, "+what, 2e-5, [][]Float{
		simdtest.Draw(cols*s.FarStride, pos), simdtest.Draw(cols*s.XStride, simdtest.Positive(rng)), simdtest.Draw(node(s.YStride), pos), simdtest.Draw(node(s.RecStride), pos), simdtest.Draw(64, pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.X, s.Y, s.Rec = x[0], x[1], x[2], x[3]
		if with {
			s.Bias = x[4]
		}
		done[0] = append(done[0], s.Attend())
	})
	rec := simdtest.Draw(cols*s.FarStride, pos)
	for u := range cols {
		for h := range heads {
			rec[u*s.FarStride+2*heads+h] = -pos() // so that dz has one sign
		}
	}
	simdtest.Trial(t, "Retrace, "+what, 2e-5, [][]Float{
		rec, simdtest.Draw(cols*s.XStride, pos), simdtest.Draw(node(s.YStride), pos), simdtest.Draw(node(s.RecStride), pos),
		simdtest.Draw(node(s.OwnStride), pos), simdtest.Draw(node(s.VStride), pos), simdtest.Draw(max(cols, len(s.Cols))*s.DerStride, pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.X, s.Y, s.Rec, s.Own, s.V, s.Der = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
		done[1] = append(done[1], s.Retrace())
	})
	if heads == 1 {
		simdtest.Trial(t, "Pair, "+what, 2e-5, [][]Float{simdtest.Draw(node(s.XStride), pos), simdtest.Draw(node(s.VStride), pos), simdtest.Draw(node(s.RecStride), pos)}, func(x [][]Float) {
			s := k()
			s.X, s.V, s.Rec = x[0], x[1], x[2]
			s.Pair(rows)
		})
	}
	for i, d := range done {
		if d[0] != d[1] {
			t.Fatalf("kernel %d, %s: did %d nodes, in plain Go %d", i, what, d[0], d[1])
		}
	}
}

func TestAsmNodeExpAttention(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for rows := range 40 {
		for _, most := range []int{0, 1, 5, 20} {
			checkNodeExpAttention(t, rng, rows, most)
		}
	}
	for _, most := range simdtest.Lengths() {
		checkNodeExpAttention(t, rng, 2, most)
	}
	checkNodeExpAttention(t, rng, 5, NodeExpMost)
	checkNodeExpAttention(t, rng, 1, 2*NodeExpMost)
}

// A result that is written past the caches has the bits of one that is not, and
// nothing beside it is touched.
func TestNodeExpAttentionStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for rows := range 40 {
		checkStream(t, rng, rows)
	}
}

func checkStream(t *testing.T, rng *rand.Rand, rows int) {
	t.Helper()
	const cols = 9
	for _, kernel := range []struct {
		name string
		run  func(*NodeExpAttention) int
	}{{"Attend", (*NodeExpAttention).Attend}, {"Retrace", (*NodeExpAttention).Retrace}} {
		s := *spokesOf(rng, rows, cols, 12)()
		s.Heads, s.Width, s.AddY, s.YStride = 8, 8, 0, 64+8*rng.IntN(2)
		s.FarStride, s.RecStride, s.XStride, s.OwnStride, s.VStride, s.DerStride = 24, 16, 64, 16, 64, 8
		next := simdtest.Positive(rng)
		s.Far, s.X, s.Own, s.V = simdtest.Draw(cols*24, next), simdtest.Draw(cols*64, next), simdtest.Draw(rows*16, next), simdtest.Draw(rows*64, next)
		rec, der := simdtest.Draw(rows*16, next), simdtest.Draw(max(cols, len(s.Cols))*8, next)
		what := fmt.Sprintf("%s of %d nodes", kernel.name, rows)
		var first *NodeExpAttention
		simdtest.StreamTrial(t, what, rows*s.YStride, func(y []Float, stream bool) {
			clear(y) // between the rows
			k := s
			k.Y, k.Stream, k.Rec, k.Der = y, stream, slices.Clone(rec), slices.Clone(der)
			kernel.run(&k)
			if goes := k.stream == 1; rows > 0 && goes != (stream && cpu.Aligned(y, k.YStride, cpu.Widest)) {
				t.Fatalf("%s: goes past the caches: %t, asked for: %t", what, goes, stream)
			}
			if first == nil {
				first = &k
			}
			compare.Near(t, what+", Rec", k.Rec, first.Rec, compare.SameBits.OrNaN())
			compare.Near(t, what+", Der", k.Der, first.Der, compare.SameBits.OrNaN())
		})
	}
}

func FuzzNodeExpAttention(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkNodeExpAttention(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(most))
	})
}

// checkNodeExps compares with plain Go, also what is in range, for eight heads and for
// one. One of so many elements is anything.
func checkNodeExps(t *testing.T, rng *rand.Rand, rows, every int) {
	t.Helper()
	next := func() Float {
		if rng.IntN(every) == 0 {
			return simdtest.Special[rng.IntN(len(simdtest.Special))]
		}
		return Float(rng.NormFloat64() * 6)
	}
	for _, c := range []struct {
		name   string
		run    func(*NodeExps, int, Float) bool
		xs, ys int
	}{{"Rows", (*NodeExps).Rows, 8 + rng.IntN(3), 16 + rng.IntN(3)}, {"Column", (*NodeExps).Column, 1, 4}} {
		what, slope := fmt.Sprintf("%s of %d powers", c.name, rows), Float(rng.Float64())
		var within []bool
		simdtest.Trial(t, what, 1e-6, [][]Float{simdtest.Draw(rows*c.xs, next), simdtest.Draw(rows*c.ys, simdtest.Plain(rng))}, func(x [][]Float) {
			p := NodeExps{X: x[0], Y: x[1], XStride: c.xs, YStride: c.ys}
			within = append(within, c.run(&p, rows, slope))
		})
		if within[0] != within[1] {
			t.Fatalf("%s: in range is %v, in plain Go %v", what, within[0], within[1])
		}
	}
}

func TestAsmNodeExps(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	for rows := range 100 {
		checkNodeExps(t, rng, rows, 1<<20)
		checkNodeExps(t, rng, rows, 100)
	}
}

func FuzzNodeExps(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, every uint8) {
		checkNodeExps(t, rand.New(rand.NewPCG(seed, 0)), int(rows), 1+int(every))
	})
}

// An element out of range is seen wherever it stands, and its exponentials alone are NaN.
func TestNodeExpsInRange(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for _, v := range []float64{inRange, -inRange, inRange + 0.01, -inRange - 0.01, 1e30, math.Inf(1), math.Inf(-1), math.NaN()} {
			for at := range 24 {
				x := make([]Float, 24)
				x[at] = Float(v)
				p := NodeExps{X: x, Y: make([]Float, 48), XStride: 8, YStride: 16}
				undo := func() {}
				if slow {
					undo = cpu.Disable()
				}
				got := p.Rows(3, 0.5)
				column := NodeExps{X: x[:at+1], Y: make([]Float, 96)}
				gotColumn := column.Column(at+1, 0.5)
				undo()
				want := math.Abs(v) <= inRange
				if got != want || gotColumn != want {
					t.Errorf("%v at %d: in range is %v, of one head %v, want %v", v, at, got, gotColumn, want)
				}
				for i := range at + 1 {
					up := 16*(i/8) + i%8
					for _, y := range []Float{p.Y[up], p.Y[up+8], column.Y[4*i+1], column.Y[4*i+2]} {
						if math.IsNaN(float64(y)) != (i == at && !want) {
							t.Errorf("%v at %d: an exponential of element %d is %v", v, at, i, y)
						}
					}
				}
			}
		}
	}
}
