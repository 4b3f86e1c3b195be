package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The generator writes down where the fields are.
func TestTileLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 || unsafe.Sizeof(Float(0)) != 4 {
		t.Skip("no assembly")
	}
	var a Tile
	var h Heads
	var s Segments
	var v Values
	var k Spokes
	var w Powers
	for i, f := range []struct{ at, want uintptr }{
		{unsafe.Offsetof(a.Offsets), 0}, {unsafe.Offsetof(a.Cols), 24}, {unsafe.Offsetof(a.Perm), 48}, {unsafe.Offsetof(a.Edge), 72},
		{unsafe.Offsetof(a.Far), 96}, {unsafe.Offsetof(a.Near), 120}, {unsafe.Offsetof(a.Rec), 144}, {unsafe.Offsetof(a.Der), 168},
		{unsafe.Offsetof(a.Z), 192}, {unsafe.Offsetof(a.A), 216}, {unsafe.Offsetof(a.B), 240}, {unsafe.Offsetof(a.G), 264},
		{unsafe.Offsetof(a.T), 288}, {unsafe.Offsetof(a.M), 312}, {unsafe.Offsetof(a.FarStride), 336}, {unsafe.Offsetof(a.NearStride), 344},
		{unsafe.Offsetof(a.RecStride), 352}, {unsafe.Offsetof(a.DerStride), 360}, {unsafe.Offsetof(a.Ahead), 368}, {unsafe.Offsetof(a.Last), 376},
		{unsafe.Offsetof(a.Slots), 384}, {unsafe.Offsetof(a.Slope), 392}, {unsafe.Offsetof(a.scale), 396}, {unsafe.Offsetof(a.k0), 400},
		{unsafe.Offsetof(a.k1), 404}, {unsafe.Offsetof(a.drop), 408}, {unsafe.Offsetof(a.Column), 412}, {unsafe.Offsetof(a.Ask), 416},
		{unsafe.Offsetof(a.AskStride), 440}, {unsafe.Offsetof(a.AskAhead), 448},
		{unsafe.Offsetof(h.Offsets), 0}, {unsafe.Offsetof(h.Cols), 24}, {unsafe.Offsetof(h.X), 48}, {unsafe.Offsetof(h.Y), 72},
		{unsafe.Offsetof(h.W), 96}, {unsafe.Offsetof(h.S), 120}, {unsafe.Offsetof(h.XStride), 144}, {unsafe.Offsetof(h.YStride), 152},
		{unsafe.Offsetof(h.WStride), 160}, {unsafe.Offsetof(h.SStride), 168}, {unsafe.Offsetof(h.Width), 176}, {unsafe.Offsetof(h.rows), 184},
		{unsafe.Offsetof(h.Filler), 192}, {unsafe.Offsetof(h.Ahead), 200}, {unsafe.Offsetof(h.Last), 208}, {unsafe.Offsetof(h.scrap), 216},
		{unsafe.Offsetof(h.left), 224}, {unsafe.Offsetof(h.V), 232}, {unsafe.Offsetof(h.G), 256}, {unsafe.Offsetof(h.Set), 280}, {unsafe.Offsetof(h.Early), 288},
		{unsafe.Offsetof(s.Offsets), 0}, {unsafe.Offsetof(s.X), 24}, {unsafe.Offsetof(s.Y), 48}, {unsafe.Offsetof(s.D), 72},
		{unsafe.Offsetof(s.Work), 96}, {unsafe.Offsetof(s.Set), 128}, {unsafe.Offsetof(s.past), 136},
		{unsafe.Offsetof(v.Offsets), 0}, {unsafe.Offsetof(v.Cols), 24}, {unsafe.Offsetof(v.From), 48}, {unsafe.Offsetof(v.To), 72},
		{unsafe.Offsetof(v.Row), 96}, {unsafe.Offsetof(v.k0), 104}, {unsafe.Offsetof(v.k1), 108}, {unsafe.Offsetof(v.drop), 112}, {unsafe.Offsetof(v.scale), 116},
		{unsafe.Offsetof(v.ToCols), 120}, {unsafe.Offsetof(v.Kept), 144}, {unsafe.Offsetof(v.Starts), 168}, {unsafe.Offsetof(v.inner), 192},
		{unsafe.Offsetof(k.Offsets), 0}, {unsafe.Offsetof(k.Cols), 24}, {unsafe.Offsetof(k.Perm), 48}, {unsafe.Offsetof(k.Far), 72},
		{unsafe.Offsetof(k.X), 96}, {unsafe.Offsetof(k.Y), 120}, {unsafe.Offsetof(k.Rec), 144}, {unsafe.Offsetof(k.Own), 168},
		{unsafe.Offsetof(k.V), 192}, {unsafe.Offsetof(k.Der), 216}, {unsafe.Offsetof(k.FarStride), 240}, {unsafe.Offsetof(k.XStride), 248},
		{unsafe.Offsetof(k.YStride), 256}, {unsafe.Offsetof(k.RecStride), 264}, {unsafe.Offsetof(k.OwnStride), 272}, {unsafe.Offsetof(k.VStride), 280},
		{unsafe.Offsetof(k.DerStride), 288}, {unsafe.Offsetof(k.Ahead), 296}, {unsafe.Offsetof(k.Last), 304}, {unsafe.Offsetof(k.most), 312},
		{unsafe.Offsetof(k.AddY), 320}, {unsafe.Offsetof(k.AddRec), 328}, {unsafe.Offsetof(k.left), 336}, {unsafe.Offsetof(k.past), 344},
		{unsafe.Offsetof(k.slope), 352}, {unsafe.Offsetof(k.scale), 384}, {unsafe.Offsetof(k.k0), 416}, {unsafe.Offsetof(k.k1), 448},
		{unsafe.Offsetof(k.lane), 480}, {unsafe.Offsetof(k.flip), 512}, {unsafe.Offsetof(k.drop), 544}, {unsafe.Offsetof(k.b), 576},
		{unsafe.Offsetof(k.c), 608}, {unsafe.Offsetof(k.Factors), 640}, {unsafe.Offsetof(k.Width), 664}, {unsafe.Offsetof(k.room), 680},
		{unsafe.Offsetof(w.X), 0}, {unsafe.Offsetof(w.Y), 24}, {unsafe.Offsetof(w.XStride), 48}, {unsafe.Offsetof(w.YStride), 56},
		{unsafe.Offsetof(w.rows), 64}, {unsafe.Offsetof(w.most), 72}, {unsafe.Offsetof(w.slope), 104},
	} {
		if f.at != f.want {
			t.Errorf("field %d of the list is at %d, the assembly reads it at %d", i, f.at, f.want)
		}
	}
}

// edgesOf returns rows with edges to columns: their offsets, which do not start
// at zero, and the columns of all edges, some of them of no row here.
func edgesOf(rng *rand.Rand, rows, cols, most int) (offsets []int64, columns []int32) {
	offsets = make([]int64, rows+1)
	offsets[0] = rng.Int64N(5)
	for r := range rows {
		offsets[r+1] = offsets[r] + max(0, rng.Int64N(int64(most)+3)-2)
	}
	columns = make([]int32, offsets[rows]+rng.Int64N(3))
	for k := range columns {
		columns[k] = rng.Int32N(int32(cols))
	}
	return offsets, columns
}

// positive are numbers whose sums lose nothing, a few of them special.
func positive(rng *rand.Rand) func() Float {
	return func() Float {
		if rng.IntN(100) == 0 {
			return special[rng.IntN(3)] // NaN and both infinities
		}
		return Float(math.Abs(rng.NormFloat64())) + 0.01
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
	o, c := edgesOf(rng, rows, cols, most)
	n := groups(o, lanes)
	far, near, rec := lanes+rng.IntN(3), lanes+rng.IntN(3), Record*lanes+rng.IntN(3)
	room := 8*n + 8
	perm := make([]int32, len(c))
	for i := range perm {
		perm[i] = rng.Int32()
	}
	d := NewDropout(rng.Uint64(), 1, 2, 0.4)
	tile := func(s ...[]Float) *Tile {
		return &Tile{
			Offsets: o, Cols: c, Perm: perm, Edge: make([]int32, room/lanes), Far: s[0], Near: s[1], Rec: s[2], Der: s[3],
			FarStride: far, NearStride: near, RecStride: rec, DerStride: far, Last: len(c) - 1, Ahead: rng.IntN(2) * 5, Slots: n,
			Ask: s[0], AskStride: far, AskAhead: 7, Slope: 0.2, Lanes: lanes, Column: uint32(lanes),
		}
	}
	next, pos := some(rng), positive(rng)
	what := func(step string) string { return fmt.Sprintf("%s, %d rows, %d lanes", step, rows, lanes) }
	own := rows*rec + 40
	trial(t, what("Gather"), 0, [][]Float{draw(cols*far, next), draw(rows*near+lanes, next), draw(own, next), nil, draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.Z = s[4]
		k.Gather()
		atEdges(o, lanes, s[4])
		for i := range s[4] {
			s[4][i] += Float(k.Edge[i/lanes] % 1000)
		}
		atEdges(o, lanes, s[4])
	})
	trial(t, what("Soften"), 1e-5, [][]Float{nil, nil, draw(own, next), nil, draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.AskAhead, k.Z = 0, s[4]
		k.Soften()
	})
	trial(t, what("Mask"), 0, [][]Float{nil, nil, nil, nil, draw(room, next)}, func(s [][]Float) {
		k := tile(s...)
		k.M = s[4]
		for i := range k.Edge {
			k.Edge[i] = int32(i * i * 77777)
		}
		k.Mask(&d)
	})
	all := [][]Float{draw(cols*(far+Record*lanes), next), draw(rows*near+lanes, next), nil, draw(cols*(far+Record*lanes), next)}
	for range 5 {
		all = append(all, draw(room, next))
	}
	trial(t, what("Recall"), 0, all, func(s [][]Float) {
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
	trial(t, what("Weigh"), 1e-6, [][]Float{nil, nil, nil, nil, draw(room, next), draw(room, pos), draw(room, pos), draw(room, next)}, func(s [][]Float) {
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
	b := draw(room, pos)
	for i := range b {
		b[i] = -b[i]
	}
	all = [][]Float{draw(cols*far, next), nil, draw(own, next), draw(cols*far, pos), draw(room, pos), b, draw(room, pos)}
	for _, x := range all[4:] {
		atEdges(o, lanes, x)
	}
	trial(t, what("Score"), 1e-5, all, func(s [][]Float) {
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

// checkHeads compares each product with plain Go.
func checkHeads(t *testing.T, rng *rand.Rand, rows, heads, width int) {
	t.Helper()
	const cols = 7
	o, c := edgesOf(rng, rows, cols, 6)
	w, filler := 8, 0
	for i := range 4 {
		if rng.IntN(2) == 0 && heads <= 1<<i {
			w, filler = 1<<i, 8>>i-1
			break
		}
	}
	w = max(w, heads)
	n := 0
	for r := range rows {
		n += (int(o[r+1]-o[r]) + filler) &^ filler
	}
	f := heads * width
	xs, ys := f+rng.IntN(3), f+rng.IntN(3)
	k := func() *Heads {
		return &Heads{
			Offsets: o, Cols: c, XStride: xs, YStride: ys, WStride: w, SStride: heads, Width: width, Filler: filler,
			Ahead: rng.IntN(2) * 3, Last: len(c) - 1, H: heads,
		}
	}
	pos := positive(rng)
	many := max(rows, cols)
	arrays := func() [][]Float {
		return [][]Float{
			draw(many*xs, pos), draw(rows*ys+f, pos), draw((n+rows)*w, pos), draw(rows*heads+heads, pos),
			draw(rows*ys+f, pos), draw((n+rows)*w, pos),
		}
	}
	for name, run := range map[string]func(k *Heads, s [][]Float){
		"Sum": func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.S = s[0], s[1], s[2], s[3]; k.Sum() },
		"Set": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.S, k.Set, k.Early = s[0], s[1], s[2], s[3], 1, 1
			k.Sum()
		},
		"Dots": func(k *Heads, s [][]Float) { k.X, k.V, k.G = s[0], s[4], s[5]; k.Dots() },
		"Both": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.S, k.V, k.G = s[0], s[1], s[2], s[3], s[4], s[5]
			k.Both()
		},
		"Pairs": func(k *Heads, s [][]Float) { k.X, k.Y, k.W = s[0], s[1], s[2]; k.Pairs(rows) },
		"one Pairs": func(k *Heads, s [][]Float) {
			k.X, k.Y, k.W, k.YStride = s[0], s[1], s[2], 0
			k.Pairs(rows)
		},
		"Fold":   func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.YStride = s[0], s[1], s[2], 0; k.Fold(rows) },
		"Spread": func(k *Heads, s [][]Float) { k.X, k.Y, k.W, k.XStride = s[0], s[1], s[2], 0; k.Spread(rows) },
	} {
		trial(t, fmt.Sprintf("%s, %d rows, %dx%d", name, rows, heads, width), 2e-5, arrays(), func(s [][]Float) { run(k(), s) })
	}
}

func TestAsmHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for heads := range 10 {
		for width := range 34 {
			checkHeads(t, rng, rng.IntN(9), heads, width)
		}
		for _, width := range []int{64, 100, 121, 128} {
			checkHeads(t, rng, 3, heads, width)
		}
	}
	for width := range 200 {
		checkHeads(t, rng, 4, 1, width)
	}
}

func FuzzHeads(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, heads, width uint8) {
		checkHeads(t, rand.New(rand.NewPCG(seed, 0)), int(rows%20), int(heads%20), int(width))
	})
}

func checkSegments(t *testing.T, rng *rand.Rand, rows, most, n int) {
	t.Helper()
	o, c := edgesOf(rng, rows, 1, most)
	next, pos := some(rng), positive(rng)
	k := func(s ...[]Float) *Segments {
		return &Segments{Offsets: o, X: s[0], Y: s[1], Work: make([]Float, SegmentWork(n)), N: n}
	}
	what := fmt.Sprintf("softmax of %d segments of %d columns", rows, n)
	trial(t, what, 1e-6, [][]Float{draw(len(c)*n, next), draw(len(c)*n, next)}, func(s [][]Float) { k(s...).Softmax() })
	trial(t, what+" in place", 1e-6, [][]Float{draw(len(c)*n, next)}, func(s [][]Float) { k(s[0], s[0]).Softmax() })
	dx := draw(len(c)*n, pos)
	for i := range dx {
		dx[i] = Float(math.Abs(float64(dx[i])))
	}
	// y·(dy − c) loses digits where dy is near c, so dy is small beside it
	trial(t, what+", gradient", 1e-4, [][]Float{dx, draw(len(c)*n, plain(rng)), draw(len(c)*n, plain(rng))}, func(s [][]Float) {
		for i := range s[1] {
			s[1][i] = Float(math.Abs(float64(s[1][i])))
			s[2][i] = -1 - Float(math.Abs(float64(s[2][i])))/100
		}
		q := k(s[2], s[1])
		q.D = s[0]
		for i := range q.D {
			q.D[i] += 1e6 // so that only a wrong gradient shows
		}
		q.SoftmaxGrad()
	})
}

func TestAsmSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for rows := range 60 {
		for _, n := range []int{1, 3, 8} {
			checkSegments(t, rng, rows, 9, n)
		}
	}
	for most := range 200 {
		checkSegments(t, rng, 2, most, 8)
	}
}

func FuzzSegments(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkSegments(t, rand.New(rand.NewPCG(seed, 0)), int(rows), int(most), 8)
	})
}

func checkValues(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	o, c := edgesOf(rng, rows, 5000, most)
	d := NewDropout(rng.Uint64(), 1, 1, 0.6)
	row := rng.IntN(1 << 20)
	next := some(rng)
	what := fmt.Sprintf("Values.Drop of %d rows", rows)
	trial(t, what, 0, [][]Float{draw(len(c), next), draw(len(c), next)}, func(s [][]Float) {
		v := Values{Offsets: o, Cols: c, From: s[0], To: s[1], Row: row}
		v.Drop(&d)
	})
	trial(t, what+" in place", 0, [][]Float{draw(len(c), next)}, func(s [][]Float) {
		v := Values{Offsets: o, Cols: c, From: s[0], To: s[0], Row: row}
		v.Drop(&d)
	})
}

func TestAsmValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	for rows := range 50 {
		checkValues(t, rng, rows, 20)
	}
	for most := range 200 {
		checkValues(t, rng, 2, most)
	}
}

func FuzzValues(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkValues(t, rand.New(rand.NewPCG(seed, 0)), int(rows), int(most))
	})
}
