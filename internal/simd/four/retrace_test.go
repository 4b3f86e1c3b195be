//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// retraced is what the way back of attention is given and sets, and its shape.
type retraced[F number] struct {
	far, x, y, rec, own, v, der []F
}

// retrace is the twin of RetraceHeads8. strides are in the order of RetraceStrides, in elements; factor is the mask's.
func (a *retraced[F]) retrace(offsets []int64, cols, edges []int32, s RetraceStrides, heads, width, down int, slope F, factor func(k, h int) F) {
	for i := range len(offsets) - 1 {
		for h := range heads {
			own, y, v := a.own[i*int(s.Own)+h:], a.y[i*int(s.Y)+h*width:][:width], a.v[i*int(s.V)+h*width:][:width]
			acc, del := make([]F, width), F(0)
			for k := offsets[i]; k < offsets[i+1]; k++ {
				c := int(cols[k])
				far, x, mask := a.far[c*int(s.Far)+h:], a.x[c*int(s.X)+h*width:][:width], factor(int(k), h)
				up, low := own[0]*far[0], own[down]*far[down]
				alpha, dot, sloped := max(up, low), F(0), low*slope
				if up > low {
					sloped = up
				}
				for j := range x {
					acc[j] += alpha * mask * x[j]
					dot += x[j] * v[j]
				}
				dz := sloped * (mask*dot - far[2*down])
				del += dz
				if edges != nil {
					a.der[int(edges[k-offsets[0]])*int(s.Der)+h] = dz
				} else {
					a.der[c*int(s.Der)+h] += dz
				}
			}
			for j := range y {
				y[j] = y[j]*F(s.AddY) + acc[j]
			}
			a.rec[i*int(s.Rec)+h] = a.rec[i*int(s.Rec)+h]*F(s.AddRec) + del
		}
	}
}

func TestRetraceHeads8(t *testing.T) {
	each(t, 150, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, down, heads, n := 1+rng.IntN(6), 1+rng.IntN(9), 4+rng.IntN(3), 4, 8
		kind := rng.IntN(3) // 1: heads that are narrow, 2: one
		switch kind {
		case 1:
			n = 1 + rng.IntN(8)
		case 2:
			n, heads, down = 1+rng.IntN(8), 1, 1
		}
		offsets, cols, edges := list(rng, rows, nodes, rng.IntN(12))
		perm := make([]int32, len(cols))
		for k := range perm {
			perm[k] = rng.Int32N(1 << 20)
		}
		more := func(n int) int64 { return int64(n + rng.IntN(3)) }
		s := RetraceStrides{Far: more(2*down + 4), X: more(heads * n), Y: more(heads * n), Rec: more(4), Own: more(down + 4), V: more(heads * n), Der: more(4), AddY: rng.Int64N(2), AddRec: rng.Int64N(2)}
		pos := positive(rng)
		far, x, y, rec := drawn(rng, nodes*int(s.Far), pos), drawn(rng, nodes*int(s.X), pos), drawn(rng, rows*int(s.Y), pos), drawn(rng, rows*int(s.Rec), pos)
		own, v, der := drawn(rng, rows*int(s.Own), pos), drawn(rng, rows*int(s.V), pos), drawn(rng, max(nodes, len(cols))*int(s.Der), pos)
		for u := range nodes { // so that dz has one sign
			for h := range heads {
				far.x[u*int(s.Far)+2*down+h] = -pos()
			}
		}
		k0, k1, below, scale, column := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1, rng.IntN(20)
		drops, slope := rng.IntN(2) == 0, rng.Float32()
		apart := edges[offsets[0]:]
		list := begin(apart)
		if rng.IntN(2) == 0 {
			list, apart = nil, nil
		}
		want := retraced[float64]{wide(far.x), wide(x.x), wide(y.x), wide(rec.x), wide(own.x), wide(v.x), wide(der.x)}
		want.retrace(offsets, cols, apart, s, heads, n, down, float64(slope), func(k, h int) float64 {
			if !drops {
				return 1
			}
			return float64(factorOf(k0, k1, below, scale, int(perm[k]), column+h))
		})
		bytes := RetraceStrides{4 * s.Far, 4 * s.X, 4 * s.Y, 4 * s.Rec, 4 * s.Own, 4 * s.V, 4 * s.Der, s.AddY, s.AddRec}
		factors := factorsOf(drops, NewMask(k0, k1, below, columnKey, scale, column), offsets, perm)
		with := Narrow{RetraceStrides: bytes, Down: int64(4 * down), Y: y.at(0), Rec: rec.at(0), Own: own.at(0), V: v.at(0)}
		switch kind {
		case 1:
			RetraceNarrow(begin(offsets), begin(cols), factors, far.at(0), x.at(0), der.at(0), list, unsafe.Pointer(&with), rows, n, slope)
		case 2:
			RetraceOne(begin(offsets), begin(cols), factors, far.at(0), x.at(0), der.at(0), list, unsafe.Pointer(&with), rows, n, slope)
		default:
			RetraceHeads8(begin(offsets), begin(cols), factors, far.at(0), x.at(0), y.at(0), rec.at(0), own.at(0), v.at(0), der.at(0), list, unsafe.Pointer(&bytes), rows, 4*down, slope)
		}
		for _, r := range []*room{y, rec, der} {
			r.intact(t, "RetraceHeads8")
		}
		near(t, "RetraceHeads8, y", y.x, want.y, 40)
		near(t, "RetraceHeads8, rec", rec.x, want.rec, 60)
		near(t, "RetraceHeads8, der", der.x, want.der, 60)
	})
}

func TestNodePowers(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, down, slope := 1+rng.IntN(9), 4+rng.IntN(3), rng.Float32()
		xs, ys := 4+rng.IntN(3), down+4+rng.IntN(3)
		x, y := drawn(rng, rows*xs, normal(rng)), drawn(rng, rows*ys, normal(rng))
		at := -1
		if rng.IntN(2) == 0 {
			at = rng.IntN(rows)*xs + rng.IntN(4)
			x.x[at] = []float32{24.01, -24.01, 1e30, float32(math.Inf(-1)), float32(math.Inf(1)), float32(math.NaN())}[rng.IntN(6)]
		}
		want := wide(y.x)
		for i := range rows {
			for h := range 4 {
				v := float64(x.x[i*xs+h])
				if !(math.Abs(v) <= 24) {
					v = math.NaN()
				}
				want[i*ys+h], want[i*ys+down+h] = math.Exp(v), math.Exp(float64(slope*float32(v)))
			}
		}
		ok := NodePowers(y.at(0), x.at(0), unsafe.Pointer(&Table), rows, 4*down, 4*ys, 4*xs, slope)
		y.intact(t, "NodePowers")
		near(t, "NodePowers", y.x, want, 4)
		if ok != oneIf(at < 0) {
			t.Fatalf("NodePowers says %d, with one out of range at %d", ok, at)
		}
	})
}
