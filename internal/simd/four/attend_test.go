//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// hashed is the hash of vec.Dropout.
func hashed(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

const columnKey = 0x9e3779b9

// factorOf is what vec.Dropout makes of an element: the scale, or 0.
func factorOf(k0, k1, below uint32, scale float32, row, column int) float32 {
	if hashed((hashed(uint32(row)+k0)^k1)+uint32(column)*columnKey) >= below {
		return scale
	}
	return 0
}

// attendNodes is the twin of the attention of nodes, of heads of so many columns. factor is the mask's.
func attendNodes[F number](offsets []int64, cols []int32, far, x, y, rec, bias []F, heads, width int, strides [4]int, down int, factor func(k, h int) F) {
	fs, xs, ys, rs := strides[0], strides[1], strides[2], strides[3]
	for i := range len(offsets) - 1 {
		for h := range heads {
			r := rec[i*rs:]
			var sum, inverse F
			acc := make([]F, width)
			for k := offsets[i]; k < offsets[i+1]; k++ {
				f := far[int(cols[k])*fs:]
				p := max(r[h]*f[h], r[down+h]*f[down+h])
				sum += p
				for j := range acc {
					acc[j] += p * factor(int(k), h) * x[int(cols[k])*xs+h*width+j]
				}
			}
			if sum != 0 {
				inverse = 1 / sum
			}
			for j, v := range acc {
				y[i*ys+h*width+j] = v * inverse
				if bias != nil {
					y[i*ys+h*width+j] += bias[h*width+j]
				}
			}
			r[h], r[down+h] = r[h]*inverse, r[down+h]*inverse
		}
	}
}

// factorsOf are the factors of a mask for the edges of some nodes, or nil.
func factorsOf(drops bool, m Mask, offsets []int64, perm []int32) unsafe.Pointer {
	lo, hi := int(offsets[0]), int(offsets[len(offsets)-1])
	if !drops || lo == hi {
		return nil
	}
	f := make([][4]float32, hi-lo)
	if perm != nil {
		perm = perm[lo:]
	}
	Factors(begin(f), begin(perm), unsafe.Pointer(&m), hi-lo, lo)
	return begin(f)
}

func TestAttendHeads8(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, down, n := rng.IntN(6), 1+rng.IntN(9), 4+rng.IntN(8), 8
		narrow := rng.IntN(2) == 0
		if narrow {
			n = 1 + rng.IntN(8)
		}
		offsets, cols, _ := list(rng, rows, nodes, rng.IntN(12))
		s := [4]int{down + 4 + rng.IntN(3), 4*n + rng.IntN(3), 4*n + rng.IntN(3), down + 4 + rng.IntN(3)}
		far, x, bias := drawn(rng, nodes*s[0], positive(rng)), drawn(rng, nodes*s[1], positive(rng)), drawn(rng, 32, positive(rng))
		y, rec := drawn(rng, rows*s[2], positive(rng)), drawn(rng, rows*s[3], positive(rng))
		k0, k1, below, scale, column := rng.Uint32(), rng.Uint32(), rng.Uint32(), rng.Float32()+1, rng.IntN(20)
		drops := rng.IntN(2) == 0
		wantY, wantRec, by := wide(y.x), wide(rec.x), wide(bias.x)
		if narrow {
			by = nil
		}
		attendNodes(offsets, cols, wide(far.x), wide(x.x), wantY, wantRec, by, 4, n, s, down, func(k, h int) float64 {
			if !drops {
				return 1
			}
			return float64(factorOf(k0, k1, below, scale, k, column+h))
		})
		factors := factorsOf(drops, NewMask(k0, k1, below, columnKey, scale, column), offsets, nil)
		if narrow {
			var room [8][4]float32
			AttendNarrow(begin(offsets), begin(cols), far.at(0), x.at(0), y.at(0), rec.at(0), factors, unsafe.Pointer(&Lanes[n]), unsafe.Pointer(&room), rows, n, 4*down, 4*s[0], 4*s[1], 4*s[2], 4*s[3])
		} else {
			AttendHeads8(begin(offsets), begin(cols), far.at(0), x.at(0), y.at(0), rec.at(0), bias.at(0), factors, rows, 4*down, 4*s[0], 4*s[1], 4*s[2], 4*s[3])
		}
		y.intact(t, "AttendHeads8")
		rec.intact(t, "AttendHeads8")
		near(t, "AttendHeads8, y", y.x, wantY, 40)
		near(t, "AttendHeads8, rec", rec.x, wantRec, 20)
	})
}

func TestAttendOne(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, n := 1+rng.IntN(6), 1+rng.IntN(9), 1+rng.IntN(8)
		offsets, cols, _ := list(rng, rows, nodes, rng.IntN(12))
		s := [4]int{2 + rng.IntN(3), n + rng.IntN(3), n + rng.IntN(3), 2 + rng.IntN(3)}
		far, x, factors := drawn(rng, nodes*s[0], positive(rng)), drawn(rng, nodes*s[1], positive(rng)), drawn(rng, 4*len(cols), positive(rng))
		y, rec := drawn(rng, rows*s[2], positive(rng)), drawn(rng, rows*s[3], positive(rng))
		wantY, wantRec, by := wide(y.x), wide(rec.x), unsafe.Pointer(nil)
		if rng.IntN(2) == 0 {
			by = factors.at(0)
		}
		attendNodes(offsets, cols, wide(far.x), wide(x.x), wantY, wantRec, nil, 1, n, s, 1, func(k, _ int) float64 {
			if by == nil {
				return 1
			}
			return float64(factors.x[4*(k-int(offsets[0]))])
		})
		AttendOne(begin(offsets), begin(cols), far.at(0), x.at(0), y.at(0), rec.at(0), by, rows, n, 4*s[0], 4*s[1], 4*s[2], 4*s[3])
		y.intact(t, "AttendOne")
		rec.intact(t, "AttendOne")
		near(t, "AttendOne, y", y.x, wantY, 40)
		near(t, "AttendOne, rec", rec.x, wantRec, 20)
	})
}

// edgeDots is the twin of EdgeDots.
func edgeDots[F number](z, y, x []F, offsets []int64, cols []int32, heads, n, yStep, xStep, ys, xs, zs, from, to int, set bool) {
	for i := range len(offsets) - 1 {
		for k := max(offsets[i], int64(from)); k < min(offsets[i+1], int64(to)); k++ {
			for h := range heads {
				var s F
				for j := range n {
					s += y[i*ys+h*yStep+j] * x[int(cols[k])*xs+h*xStep+j]
				}
				if set {
					z[int(k)*zs+h] = 0
				}
				z[int(k)*zs+h] += s
			}
		}
	}
}

func TestEdgeDots(t *testing.T) {
	each(t, 150, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, heads, n := rng.IntN(6), 1+rng.IntN(9), 1+rng.IntN(4), rng.IntN(40)
		eight := rng.IntN(3) == 0
		if eight {
			heads, n = 4, 8
		}
		offsets, cols, _ := list(rng, rows, nodes, rng.IntN(12))
		xs, ys, zs, set := heads*n+rng.IntN(3), heads*n+rng.IntN(3), heads+rng.IntN(3), rng.IntN(2)
		x, y, z := drawn(rng, nodes*xs, positive(rng)), drawn(rng, rows*ys, positive(rng)), drawn(rng, len(cols)*zs, positive(rng))
		from, to := 0, len(cols)
		if rng.IntN(3) == 0 {
			from, to = rng.IntN(len(cols)+1), rng.IntN(len(cols)+1)
		}
		want := wide(z.x)
		edgeDots(want, wide(y.x), wide(x.x), offsets, cols, heads, n, n, n, ys, xs, zs, from, to, set == 1)
		if eight {
			EdgeDots8(z.at(0), y.at(0), x.at(0), begin(offsets), begin(cols), rows, 4*zs, 4*ys, 4*xs, from, to, set)
		} else {
			EdgeDots(z.at(0), y.at(0), x.at(0), begin(offsets), begin(cols), rows, heads, n, 4*zs, 4*n, 4*n, 4*ys, 4*xs, from, to, set)
		}
		z.intact(t, "EdgeDots")
		near(t, named("EdgeDots of %d heads of %d", heads, n), z.x, want, float64(n+2))
	})
}

func TestSumAndDot(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n := rng.IntN(70)
		x, y := drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng))
		var sum, dot float64
		for i, v := range x.x {
			sum += float64(v)
			dot += float64(v) * float64(y.x[i])
		}
		near(t, "Sum and Dot", []float32{Sum(x.at(0), n), Dot(x.at(0), y.at(0), n)}, []float64{sum, dot}, float64(n+1))
	})
}
