package attend

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// groups is the groups of eight numbers in the slots of all rows.
func groups(offsets []int64, lanes int) (n int) {
	for r := range len(offsets) - 1 {
		n += Groups(int(offsets[r+1]-offsets[r]), lanes)
	}
	return n
}

// atEdges drops what stands in slots of no edge, which need not be the same.
func atEdges(offsets []int64, lanes int, x []Float) {
	at := 0
	for r := range len(offsets) - 1 {
		d := int(offsets[r+1] - offsets[r])
		end := at + Groups(d, lanes)*8
		clear(x[at+d*lanes : end])
		at = end
	}
	clear(x[at:])
}

// checkTile compares each step with plain Go.
func checkTile(t *testing.T, rng *rand.Rand, rows, most, lanes int) {
	t.Helper()
	const cols = 9
	o, c := simdtest.Edges(rng, rows, cols, most)
	n := groups(o, lanes)
	far, near, rec := lanes+rng.IntN(3), lanes+rng.IntN(3), Record*lanes+rng.IntN(3)
	room := 8*n + 8
	perm := make([]int32, len(c))
	for i := range perm {
		perm[i] = rng.Int32()
	}
	d := vec.NewDropout(rng.Uint64(), 1, 2, 0.4)
	tile := func(s ...[]Float) *Tile {
		return &Tile{
			Offsets: o, Cols: c, Perm: perm, Edge: make([]int32, room/lanes), Far: s[0], Near: s[1], Rec: s[2], Der: s[3],
			FarStride: far, NearStride: near, RecStride: rec, DerStride: far, Last: len(c) - 1, Ahead: rng.IntN(2) * 5, Slots: n,
			Ask: s[0], AskStride: far, AskAhead: 7, Slope: 0.2, Lanes: lanes, Column: uint32(lanes),
		}
	}
	next, pos := simdtest.Some(rng), simdtest.Positive(rng)
	what := func(step string) string { return fmt.Sprintf("%s, %d rows, %d lanes", step, rows, lanes) }
	own := rows*rec + 40
	simdtest.Trial(t, what("Gather"), 0, [][]Float{simdtest.Draw(cols*far, next), simdtest.Draw(rows*near+lanes, next), simdtest.Draw(own, next), nil, simdtest.Draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.Z = s[4]
		k.Gather()
		atEdges(o, lanes, s[4])
		for i := range s[4] {
			s[4][i] += Float(k.Edge[i/lanes] % 1000)
		}
		atEdges(o, lanes, s[4])
	})
	simdtest.Trial(t, what("Soften"), 1e-5, [][]Float{nil, nil, simdtest.Draw(own, next), nil, simdtest.Draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.AskAhead, k.Z = 0, s[4]
		k.Soften()
	})
	simdtest.Trial(t, what("Mask"), 0, [][]Float{nil, nil, nil, nil, simdtest.Draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.M = s[4]
		for i := range k.Edge {
			k.Edge[i] = int32(i * i * 77777)
		}
		k.Mask(&d)
	})
	all := [][]Float{simdtest.Draw(cols*(far+Record*lanes), next), simdtest.Draw(rows*near+lanes, next), nil, simdtest.Draw(cols*(far+Record*lanes), next)}
	for range 5 {
		all = append(all, simdtest.Draw(room, next))
	}
	simdtest.Trial(t, what("Recall"), 0, all, func(s [][]Float) {
		k := tile(s...)
		k.FarStride += Record * lanes
		k.DerStride = k.FarStride
		k.Z, k.A, k.B, k.G, k.T = s[4], s[5], s[6], s[7], s[8]
		k.Recall()
		for _, x := range s[4:] {
			clear(x[8*n:])
		}
		for i := range k.Edge {
			s[4][i*lanes] += Float(k.Edge[i] % 1000)
		}
		atEdges(o, lanes, s[4])
	})
	simdtest.Trial(t, what("Weigh"), 1e-6, [][]Float{nil, nil, nil, nil, simdtest.Draw(room, next), simdtest.Draw(room, pos), simdtest.Draw(room, pos), simdtest.Draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		for i, z := range s[4] { // a logit is not above the largest, which is no NaN
			if !(s[7][i] >= k.leaky(z)) {
				s[7][i] = 0
			}
			if s[7][i] < k.leaky(z) {
				s[7][i] = k.leaky(z)
			}
		}
		k.Z, k.A, k.B, k.T = s[4], s[5], s[6], s[7]
		k.Weigh()
	})
	b := simdtest.Draw(room, pos)
	for i := range b {
		b[i] = -b[i]
	}
	all = [][]Float{simdtest.Draw(cols*far, next), nil, simdtest.Draw(own, next), simdtest.Draw(max(cols, len(c))*far, pos), simdtest.Draw(room, pos), b, simdtest.Draw(room, pos)}
	for _, x := range all[4:] {
		atEdges(o, lanes, x)
	}
	order := orderOf(rng, len(c)-int(o[0]))
	for _, apart := range []bool{false, true} {
		simdtest.Trial(t, fmt.Sprintf("%s, rows of edges %t", what("Score"), apart), 1e-5, all, func(s [][]Float) {
			k := tile(s...)
			k.T, k.B, k.G = s[4], s[5], s[6]
			if apart {
				k.Rows, k.First = order, int(o[0])
			}
			k.Score()
		})
	}
}

func TestAsmTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for _, lanes := range []int{1, 2, 4, 8} {
		for _, rows := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 29} {
			for _, most := range []int{0, 1, 5, 20} {
				checkTile(t, rng, rows, most, lanes)
			}
		}
		checkTile(t, rng, 3, 200, lanes)
	}
}

func FuzzTile(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most, lanes uint8) {
		checkTile(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(most), 1<<(lanes%4))
	})
}

// orderOf returns the numbers below n in any order.
func orderOf(rng *rand.Rand, n int) []int32 {
	order := make([]int32, n)
	for i, j := range rng.Perm(n) {
		order[i] = int32(j)
	}
	return order
}
