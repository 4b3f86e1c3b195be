package nearest

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tiles finds the nearest points by products of tiles of them. A product is rounded, so it
// only says which points may be among the nearest: those are compared as the definition says.
//
//	nearness of u to v = |u|²/2 − u·v, half their squared distance less |v|²/2, or −cos
type tiles struct {
	points  *tensor.Dense
	cosine  bool
	unit    *tensor.Dense  // what is multiplied: the points, or these at the length 1
	half    []tensor.Float // |u|²/2; 0 of cosines
	length  []float64      // of each row of unit
	norm    []float64      // of each of points
	slack   float64        // how far off a nearness may be, over |u|·(|u|+|v|)
	longest float64
}

const (
	tileRows    = 64
	tileColumns = 1024
)

// newTiles prepares points, n×d.
func newTiles(points *tensor.Dense, cosine bool) *tiles {
	n, dims := points.Dim(0), points.Dim(1)
	t := &tiles{points: points, cosine: cosine, unit: points, half: make([]tensor.Float, n), length: make([]float64, n)}
	rounding := 0x1p-24
	if tensor.Float(1+0x1p-40) != 1 {
		rounding = 0x1p-53
	}
	t.slack = float64(dims+8) * rounding
	for v := range n {
		t.length[v] = math.Sqrt(product64(points.Row(v), points.Row(v)))
		t.half[v] = tensor.Float(t.length[v] * t.length[v] / 2)
		t.longest = max(t.longest, t.length[v])
	}
	t.norm = t.length
	if cosine {
		t.unit, t.length, t.half = tensor.New(n, dims), make([]float64, n), make([]tensor.Float, n)
		for v := range n {
			if t.norm[v] == 0 {
				continue
			}
			t.length[v] = 1
			for i, x := range points.Row(v) {
				t.unit.Row(v)[i] = tensor.Float(float64(x) / t.norm[v])
			}
		}
	} else if t.longest > 1e18 {
		t.slack = math.Inf(1) // products may overflow: all points are compared
	}
	return t
}

// product64 is the product of two rows, in float64.
func product64(x, y []tensor.Float) (sum float64) {
	for i, a := range x {
		sum += float64(a) * float64(y[i])
	}
	return sum
}

// far returns what nearness stands for, by the definition: the squared distance, or −cos.
func (t *tiles) far(u, v int32) float64 {
	x, y := t.points.Row(int(u)), t.points.Row(int(v))
	if t.cosine {
		if by := t.norm[u] * t.norm[v]; by > 0 {
			return -product64(x, y) / by
		}
		return 0
	}
	sum := 0.0
	for i, a := range x {
		d := float64(a) - float64(y[i])
		sum += float64(d * d)
	}
	return sum
}

// fill sets the k nearest of each point, whose numbers begin at first.
func (t *tiles) fill(cols []int32, k, first int) {
	n := t.unit.Dim(0)
	par.For(n, tileRows, func(lo, hi int) {
		found := make([]candidates, hi-lo)
		for i := range found {
			found[i].most = k
		}
		room := tensor.New(tileRows, tileColumns)
		for at := 0; at < n; at += tileColumns {
			end := min(at+tileColumns, n)
			products := tensor.Of(room.Data[:(hi-lo)*(end-at)], hi-lo, end-at)
			clear(products.Data)
			tensor.MatMul(products, t.unit.RowRange(lo, hi), t.unit.RowRange(at, end), tensor.TransB)
			for i := range found {
				t.offer(&found[i], lo+i, at, products.Row(i))
			}
		}
		for i := range found {
			for j, h := range t.best(&found[i], int32(lo+i)) {
				cols[(lo+i)*k+j] = h.v + int32(first)
			}
		}
	})
}

// offer gives the candidates of v those points from at on that may be near, by their
// products with it.
func (t *tiles) offer(c *candidates, v, at int, products []tensor.Float) {
	own, half := t.length[v], t.half[at:at+len(products)]
	most := t.off(t.longest, own)
	beyond := c.beyond(most)
	for i, p := range products {
		if half[i]-p > beyond {
			continue // most points go here
		}
		u := at + i
		near, off := float64(half[i]-p), t.off(t.length[u], own)
		if near-off > c.limit() || u == v {
			continue
		}
		c.add(near-off, near+off, int32(u))
		beyond = c.beyond(most)
	}
}

// off returns by how much the nearness of points of two lengths may be wrong.
func (t *tiles) off(length, own float64) float64 {
	if t.cosine {
		return t.slack + 1e-38
	}
	return t.slack*length*(length+own) + 1e-38
}

// beyond returns a number that is above the limit of the candidates, by most or more.
func (c *candidates) beyond(most float64) tensor.Float {
	limit := c.limit() + most
	return tensor.Float(limit + math.Abs(limit)*1e-6)
}

// best returns the nearest of the candidates of v, the nearest first.
func (t *tiles) best(c *candidates, v int32) []hit {
	c.prune()
	hits := make([]hit, len(c.points))
	for i, p := range c.points {
		hits[i] = hit{t.far(p.v, v), p.v}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.v, b.v)) })
	return hits[:c.most]
}

// candidates are points that may be among the nearest.
type candidates struct {
	most   int
	uppers upperBounds // the least so many of how far points are at most
	points []hit       // with how far they are at least
}

// limit returns how far the last of the nearest is at most.
func (c *candidates) limit() float64 {
	if len(c.uppers) < c.most {
		return math.Inf(1)
	}
	return c.uppers[0]
}

// add takes a point that is between two bounds, which are NaN if nothing is known.
func (c *candidates) add(least, most float64, v int32) {
	if most != most || least != least {
		least, most = math.Inf(-1), math.Inf(1)
	}
	c.points = append(c.points, hit{least, v})
	if len(c.uppers) < c.most {
		heap.Push(&c.uppers, most)
	} else if most < c.uppers[0] {
		c.uppers[0] = most
		heap.Fix(&c.uppers, 0)
	}
	if len(c.points) >= 4*c.most+256 && len(c.points)%(c.most+64) == 0 {
		c.prune()
	}
}

// prune leaves the points out that cannot be among the nearest any more.
func (c *candidates) prune() {
	limit := c.limit()
	c.points = slices.DeleteFunc(c.points, func(h hit) bool { return h.d > limit })
}

// upperBounds is a heap whose largest number is the first.
type upperBounds []float64

func (h upperBounds) Len() int           { return len(h) }
func (h upperBounds) Less(i, j int) bool { return h[i] > h[j] }
func (h upperBounds) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *upperBounds) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *upperBounds) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
