package tiling

import (
	"math"
	"math/rand/v2"
	"testing"
)

// columns are those of rows of so many nonzeros, at random places or around the row's own.
func columns(rows, degree, reach int) []int32 {
	rng := rand.New(rand.NewPCG(45, 4))
	cols := make([]int32, rows*degree)
	for k := range cols {
		if reach == 0 {
			cols[k] = rng.Int32N(int32(rows))
		} else {
			cols[k] = int32((k/degree + rng.IntN(reach)) % rows)
		}
	}
	return cols
}

// Where columns are even, a cache of some rows has that share of them; where each row stays
// near its own, nearly all are there however many there are.
func TestCurve(t *testing.T) {
	const rows = 20000
	even := Walk(columns(rows, 64, 0), rows)
	for _, room := range []int{1000, 5000, 15000} {
		if want, got := 1-float64(room)/rows, even.Misses(float64(room)); math.Abs(got-want) > 0.15 {
			t.Errorf("even columns: %d rows of %d miss %.2f, want about %.2f", room, rows, got, want)
		}
	}
	if got := Walk(columns(rows, 64, 300), rows).Misses(1000); got > 0.05 {
		t.Errorf("columns around the row: a cache of three times their reach misses %.2f", got)
	}
	if got := Curve(nil).Misses(10); got != 1 {
		t.Errorf("nothing to walk over: misses %v, want 1, the most", got)
	}
}

// matrix is a structure for tests.
type matrix struct {
	curve Curve
	mixed bool
}

func (m matrix) Ordered() bool { return !m.mixed }
func (m matrix) Curve() Curve  { return m.curve }

// What is chosen follows from how much is reused and from the machine, and can be done.
func TestBest(t *testing.T) {
	quick := &Machine{Second: 640 << 10, Last: 8 << 20, Line2: 0.7, Line3: 0.9, Memory: 3.8, Row: 3, Stream: 3.5, Edge: 0.4, Visit: 8, Pack: 6}
	slow := *quick // its last cache is far away, its second one large
	slow.Second, slow.Line3 = 1280<<10, 2.6
	even := func(rows, degree, width int) Shape {
		return Shape{Rows: rows, Sources: rows, Edges: rows * degree, Width: width, Grain: 8, Blocks: true, Of: matrix{curve: Walk(columns(rows, degree, 0), rows)}}
	}
	mixed := even(20000, 300, 128)
	mixed.Of = matrix{curve: mixed.Of.Curve(), mixed: true}
	near := even(20000, 100, 64)
	near.Of = matrix{curve: Walk(columns(20000, 100, 300), 20000)}
	for _, c := range []struct {
		name          string
		s             Shape
		m             *Machine
		tiles, blocks bool // whether there must be some; blocks: none otherwise
		plain         bool
	}{
		{name: "few neighbours", s: even(60000, 7, 128), m: &slow, plain: true},
		{name: "x in the second cache", s: even(2000, 300, 64), m: &slow, plain: true},
		{name: "x in a last cache that is quick", s: even(13000, 100, 64), m: quick, plain: true},
		{name: "x in a last cache that is slow", s: even(20000, 300, 128), m: &slow, blocks: true},
		{name: "columns in no order", s: mixed, m: &slow, tiles: true},
		{name: "columns near the row", s: near, m: &slow, plain: true},
		{name: "x beyond the last cache", s: even(60000, 100, 128), m: quick, blocks: true},
	} {
		way := c.s.Best(func() *Machine { return c.m })
		if way == (Way{}) != c.plain || c.tiles && way.Tile == 0 || c.blocks != (way.Block > 0) {
			t.Errorf("%s: %v", c.name, way)
		}
		if way.Tile > 0 && !c.s.Cuts(way.Tile) || way.Block > c.s.Sources {
			t.Errorf("%s: %v cannot be done", c.name, way)
		}
	}
}

// The machine at hand has caches, and the farther ones take no less time.
func TestThis(t *testing.T) {
	m := This()
	if m.Second < 16<<10 || m.Last < m.Second || m.Line2 <= 0 || m.Line3 < m.Line2 || m.Memory < m.Line3 {
		t.Errorf("%+v", *m)
	}
}
