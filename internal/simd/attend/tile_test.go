package attend

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The generator writes down where the fields are.
func TestTileLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 || unsafe.Sizeof(Float(0)) != 4 {
		t.Skip("no assembly")
	}
	var a Tile
	var h Heads
	var k NodeExpAttention
	var w NodeExps
	for i, f := range []struct{ at, want uintptr }{
		{unsafe.Offsetof(a.Offsets), 0},
		{unsafe.Offsetof(a.Cols), 24},
		{unsafe.Offsetof(a.Perm), 48},
		{unsafe.Offsetof(a.Edge), 72},
		{unsafe.Offsetof(a.Far), 96},
		{unsafe.Offsetof(a.Near), 120},
		{unsafe.Offsetof(a.Rec), 144},
		{unsafe.Offsetof(a.Der), 168},
		{unsafe.Offsetof(a.Z), 192},
		{unsafe.Offsetof(a.A), 216},
		{unsafe.Offsetof(a.B), 240},
		{unsafe.Offsetof(a.G), 264},
		{unsafe.Offsetof(a.T), 288},
		{unsafe.Offsetof(a.M), 312},
		{unsafe.Offsetof(a.FarStride), 336},
		{unsafe.Offsetof(a.NearStride), 344},
		{unsafe.Offsetof(a.RecStride), 352},
		{unsafe.Offsetof(a.DerStride), 360},
		{unsafe.Offsetof(a.Ahead), 368},
		{unsafe.Offsetof(a.Last), 376},
		{unsafe.Offsetof(a.Slots), 384},
		{unsafe.Offsetof(a.Slope), 392},
		{unsafe.Offsetof(a.scale), 396},
		{unsafe.Offsetof(a.k0), 400},
		{unsafe.Offsetof(a.k1), 404},
		{unsafe.Offsetof(a.drop), 408},
		{unsafe.Offsetof(a.Column), 412},
		{unsafe.Offsetof(a.Ask), 416},
		{unsafe.Offsetof(a.AskStride), 440},
		{unsafe.Offsetof(a.AskAhead), 448},
		{unsafe.Offsetof(h.Offsets), 0},
		{unsafe.Offsetof(h.Cols), 24},
		{unsafe.Offsetof(h.X), 48},
		{unsafe.Offsetof(h.Y), 72},
		{unsafe.Offsetof(h.W), 96},
		{unsafe.Offsetof(h.S), 120},
		{unsafe.Offsetof(h.XStride), 144},
		{unsafe.Offsetof(h.YStride), 152},
		{unsafe.Offsetof(h.WStride), 160},
		{unsafe.Offsetof(h.SStride), 168},
		{unsafe.Offsetof(h.Width), 176},
		{unsafe.Offsetof(h.rows), 184},
		{unsafe.Offsetof(h.Filler), 192},
		{unsafe.Offsetof(h.Ahead), 200},
		{unsafe.Offsetof(h.Last), 208},
		{unsafe.Offsetof(h.scrap), 216},
		{unsafe.Offsetof(h.left), 224},
		{unsafe.Offsetof(h.V), 232},
		{unsafe.Offsetof(h.G), 256},
		{unsafe.Offsetof(h.Set), 280},
		{unsafe.Offsetof(h.Early), 288},
		{unsafe.Offsetof(k.Offsets), 0},
		{unsafe.Offsetof(k.Cols), 24},
		{unsafe.Offsetof(k.Perm), 48},
		{unsafe.Offsetof(k.Far), 72},
		{unsafe.Offsetof(k.X), 96},
		{unsafe.Offsetof(k.Y), 120},
		{unsafe.Offsetof(k.Rec), 144},
		{unsafe.Offsetof(k.Own), 168},
		{unsafe.Offsetof(k.V), 192},
		{unsafe.Offsetof(k.Der), 216},
		{unsafe.Offsetof(k.FarStride), 240},
		{unsafe.Offsetof(k.XStride), 248},
		{unsafe.Offsetof(k.YStride), 256},
		{unsafe.Offsetof(k.RecStride), 264},
		{unsafe.Offsetof(k.OwnStride), 272},
		{unsafe.Offsetof(k.VStride), 280},
		{unsafe.Offsetof(k.DerStride), 288},
		{unsafe.Offsetof(k.Ahead), 296},
		{unsafe.Offsetof(k.Last), 304},
		{unsafe.Offsetof(k.most), 312},
		{unsafe.Offsetof(k.AddY), 320},
		{unsafe.Offsetof(k.AddRec), 328},
		{unsafe.Offsetof(k.left), 336},
		{unsafe.Offsetof(k.stream), 344},
		{unsafe.Offsetof(k.slope), 352},
		{unsafe.Offsetof(k.scale), 384},
		{unsafe.Offsetof(k.k0), 416},
		{unsafe.Offsetof(k.k1), 448},
		{unsafe.Offsetof(k.lane), 480},
		{unsafe.Offsetof(k.flip), 512},
		{unsafe.Offsetof(k.drop), 544},
		{unsafe.Offsetof(k.b), 576},
		{unsafe.Offsetof(k.c), 608},
		{unsafe.Offsetof(k.Factors), 640},
		{unsafe.Offsetof(k.Width), 664},
		{unsafe.Offsetof(k.room), 680},
		{unsafe.Offsetof(w.X), 0},
		{unsafe.Offsetof(w.Y), 24},
		{unsafe.Offsetof(w.XStride), 48},
		{unsafe.Offsetof(w.YStride), 56},
		{unsafe.Offsetof(w.rows), 64},
		{unsafe.Offsetof(w.most), 72},
		{unsafe.Offsetof(w.slope), 104},
	} {
		if f.at != f.want {
			t.Errorf("field %d of the list is at %d, the assembly reads it at %d", i, f.at, f.want)
		}
	}
}

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
	all = [][]Float{simdtest.Draw(cols*far, next), nil, simdtest.Draw(own, next), simdtest.Draw(cols*far, pos), simdtest.Draw(room, pos), b, simdtest.Draw(room, pos)}
	for _, x := range all[4:] {
		atEdges(o, lanes, x)
	}
	simdtest.Trial(t, what("Score"), 1e-5, all, func(s [][]Float) {
		k := tile(s...)
		k.T, k.B, k.G = s[4], s[5], s[6]
		k.Score()
	})
}

func TestAsmTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for _, lanes := range []int{1, 2, 4, 8} {
		for rows := range 30 {
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
