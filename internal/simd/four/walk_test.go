//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestDotKernels(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, stride := rng.IntN(6), 6+rng.IntN(4), 24+rng.IntN(3)
		offsets, cols, _ := list(rng, rows, nodes, 5)
		first, edges := int(offsets[0]), int(offsets[rows]-offsets[0])
		z, g, rec := drawn(rng, 8*edges, spread(rng)), drawn(rng, 8*edges, positive(rng)), drawn(rng, nodes*stride, positive(rng))
		low, scale := float32(-69.31472), rng.Float32()+0.5
		of, byColumn := make([]int, edges), rng.IntN(2) == 0
		for i := range rows {
			for k := int(offsets[i]) - first; k < int(offsets[i+1])-first; k++ {
				if of[k] = i; byColumn {
					of[k] = int(cols[k+first])
				}
			}
		}
		list := begin(cols)
		if !byColumn {
			list = nil
		}
		for k, v := range z.x {
			at := &rec.x[of[k/8]*stride+k%8]
			*at = max(*at, v)
		}
		want := wide(z.x)
		for k, v := range z.x {
			r := rec.x[of[k/8]*stride+k%8:]
			if want[k] = math.Exp(float64(v-r[0])) * float64(r[8]); v-r[0] <= low {
				want[k] = 0
			}
		}
		DotWeights(z.at(0), rec.at(0), begin(offsets), list, unsafe.Pointer(&Table), rows, 4*stride, low)
		z.intact(t, "DotWeights")
		near(t, "DotWeights", z.x, want, 5)
		if !byColumn {
			centers := wide(rec.x)
			for k := range z.x {
				at := of[k/8]*stride + 16 + k%8
				if k < 8 || of[k/8] != of[k/8-1] {
					centers[at] = 0
				}
				centers[at] += float64(z.x[k]) * float64(g.x[k])
			}
			DotCenters(rec.at(16), z.at(0), g.at(0), begin(offsets), rows, 4*stride)
			rec.intact(t, "DotCenters")
			near(t, "DotCenters", rec.x, centers, 8)
		}
		for k := range g.x {
			g.x[k] += 20
			want[k] = float64(z.x[k]) * float64(g.x[k]-rec.x[of[k/8]*stride+16+k%8]) * float64(scale)
		}
		DotSlopes(g.at(0), z.at(0), rec.at(16), begin(offsets), list, rows, 4*stride, scale)
		g.intact(t, "DotSlopes")
		near(t, "DotSlopes", g.x, want, 4)
	})
}

func TestGathered(t *testing.T) {
	each(t, 60, func(t *testing.T, rng *rand.Rand) {
		rows, nodes, n := rng.IntN(7), 1+rng.IntN(5), 4+4*rng.IntN(2)
		stride := n + rng.IntN(3)
		far, near, to := drawn(rng, nodes*stride, normal(rng)), drawn(rng, n, normal(rng)), drawn(rng, rows*n, normal(rng))
		cols, want, add := make([]int32, rows), wide(to.x), near.at(0)
		if rng.IntN(2) == 0 {
			add = nil
		}
		for k := range want {
			cols[k/n] = int32(k / n % nodes)
			if want[k] = float64(far.x[int(cols[k/n])*stride+k%n]); add != nil {
				want[k] = float64(float32(want[k]) + near.x[k%n])
			}
		}
		Gathered(to.at(0), far.at(0), add, begin(cols), rows, n, 4*stride)
		to.intact(t, "Gathered")
		for k, v := range want {
			if float64(to.x[k]) != v {
				t.Fatalf("Gathered: element %d is %v, want %v", k, to.x[k], v)
			}
		}
	})
}

func TestScored(t *testing.T) {
	each(t, 60, func(t *testing.T, rng *rand.Rand) {
		edges, nodes, n, add := rng.IntN(7), 1+rng.IntN(5), 4+4*rng.IntN(2), rng.IntN(2)
		stride := n + rng.IntN(3)
		draw := func(n int) *room { return drawn(rng, n, positive(rng)) }
		dz, by, less, der, rec, list := draw(edges*n), draw(edges*n), draw(edges*n), draw(nodes*stride), draw(n), make([]int32, edges)
		wantDz, wantDer, wantRec := wide(dz.x), wide(der.x), make([]float64, n)
		for k := range wantDz {
			less.x[k] = -less.x[k]
			list[k/n] = int32(k / n * 3 % nodes)
			at := int(list[k/n])*stride + k%n
			wantDz[k] = float64(dz.x[k])*float64(by.x[k]) - float64(less.x[k])
			wantRec[k%n] += wantDz[k]
			wantDer[at] = float64(add)*wantDer[at] + wantDz[k]
		}
		Scored(dz.at(0), by.at(0), less.at(0), der.at(0), rec.at(0), begin(list), edges, n, 4*stride, add)
		for _, c := range []struct {
			got  *room
			want []float64
		}{{dz, wantDz}, {der, wantDer}, {rec, wantRec}} {
			c.got.intact(t, "Scored")
			near(t, "Scored", c.got.x, c.want, 9)
		}
	})
}
