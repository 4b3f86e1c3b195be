package sample

import (
	"cmp"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// order is what all draws of a sampler need of its edges. It is made once.
type order struct {
	graph *graph.Graph
	odds  []tensor.Float
	times []int64
	kinds bool

	loops  []int32   // the loop of each node, −1 where there is none; nil: there are none at all
	places []int32   // the in-edges of each node by kind and then time, after its loop; nil: they stand as they are
	upto   []float64 // the odds of a node's in-edges, in that order, up to each and with it; nil: all are alike
}

// of reports whether o is of what s is now.
func (o *order) of(s *Sampler) bool {
	return o.graph == s.Graph && o.kinds == s.byKind() && same(o.odds, s.Odds) && same(o.times, s.Times)
}

func same[T any](x, y []T) bool {
	return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
}

func newOrder(s *Sampler) *order {
	o := &order{graph: s.Graph, odds: s.Odds, times: s.Times, kinds: s.byKind(), loops: loopsOf(s.Graph)}
	if s.byKind() || s.Times != nil {
		o.places = o.sort(s)
	}
	if s.Odds != nil {
		o.upto = o.sum()
	}
	return o
}

// sort returns the in-edges of each node by kind and time, its loop before them.
func (o *order) sort(s *Sampler) []int32 {
	in := s.Graph.In().Offsets
	places := make([]int32, s.Graph.NumEdges())
	for e := range places {
		places[e] = int32(e)
	}
	for v := range s.Graph.NumDst() {
		slices.SortStableFunc(places[in[v]:in[v+1]], func(e, f int32) int {
			if o.loops != nil && (o.loops[v] == e || o.loops[v] == f) {
				return cmp.Compare(btoi(o.loops[v] != e), btoi(o.loops[v] != f))
			}
			if o.kinds {
				if c := cmp.Compare(s.Graph.Kinds()[e], s.Graph.Kinds()[f]); c != 0 {
					return c
				}
			}
			if s.Times != nil {
				return cmp.Compare(s.Times[e], s.Times[f])
			}
			return 0
		})
	}
	return places
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sum adds up the odds of each node's in-edges; a loop, which is not drawn, has none.
func (o *order) sum() []float64 {
	in, upto := o.graph.In().Offsets, make([]float64, len(o.odds))
	for v := range o.graph.NumDst() {
		sum := 0.0
		for p := in[v]; p < in[v+1]; p++ {
			e := p
			if o.places != nil {
				e = int64(o.places[p])
			}
			if o.loops == nil || int64(o.loops[v]) != e {
				sum += float64(o.odds[e])
			}
			upto[p] = sum
		}
	}
	return upto
}

// oddsBefore is the odds of a node's in-edges before place p; the first is at first.
func (o *order) oddsBefore(p, first int) float64 {
	if p == first {
		return 0
	}
	return o.upto[p-1]
}

// weighted draws k of the places from lo to hi of a node whose first is at first, in
// proportion to their odds, and appends them ascending.
//
// Without replacement each is drawn with the probability min(1, odds/t), where t is such that
// these add up to k: those with odds of t or more are certain, and the others stand on a line, as
// long as their odds, that points at equal distances hit after a random start (systematic
// sampling, Madow 1949). The points hit all that are certain, so nothing needs a look at all
// of a hub's edges.
func (d *draws) weighted(lo, hi, first int, at uint64, k int) {
	begin, base := len(d.edges), d.oddsBefore(lo, first)
	switch total := d.oddsBefore(hi, first) - base; {
	case lo == hi || total <= 0:
	case d.sampler.Replace && k != All:
		for range k {
			at += golden
			x := base + unit(mix(at))*total
			p := d.search(lo, hi, x, d.guess(lo, hi, base, x))
			d.edges = append(d.edges, int32(p))
		}
		slices.Sort(d.edges[begin:])
		d.weigh(begin, first, total/float64(k), false)
	case hi-lo <= k:
		d.positive(lo, hi, first, nil)
		if d.scales != nil {
			d.scale(begin, 1)
		}
	default:
		at := unit(mix(at + golden))
		t, ok := 0.0, false
		if hi-lo <= fewPlaces {
			t, ok = d.few(lo, hi, first, at, k)
		}
		if ok {
			d.weigh(begin, first, t, true)
			return
		}
		t = d.systematic(line{lo: lo, hi: hi, first: first, base: base, left: total, points: k}, at)
		d.weigh(begin, first, t, true)
	}
}

// unit returns a number from 0 up to 1, without it, for 64 random bits.
func unit(random uint64) float64 { return float64(random>>11) / (1 << 53) }

// weigh notes for how many edges those from begin on stand, of which each is drawn with the
// probability odds/t, or so often.
func (d *draws) weigh(begin, first int, t float64, once bool) {
	if d.scales == nil {
		return
	}
	for _, p := range d.edges[begin:] {
		n := t / (d.upto[p] - d.oddsBefore(int(p), first))
		if once {
			n = max(1, n)
		}
		d.scales = append(d.scales, n)
	}
}

// fewPlaces is how many places are looked at one by one.
const fewPlaces = 32

// search returns the first place from lo on, before hi, up to which the odds are more than x. It
// looks around a guess, further and further away.
func (d *draws) search(lo, hi int, x float64, guess int) int {
	if hi-lo <= fewPlaces {
		for p, sum := range d.upto[lo:hi] {
			if sum > x {
				return lo + p
			}
		}
	}
	guess = max(lo, min(guess, hi-1))
	if d.upto[guess] > x {
		hi = guess + 1
		for step := 4; guess > lo; step *= 4 {
			if guess = max(lo, guess-step); d.upto[guess] <= x {
				lo = guess + 1
				break
			}
			hi = guess + 1
		}
	} else {
		lo = guess + 1
		for step := 4; guess < hi-1; step *= 4 {
			if guess = min(guess+step, hi-1); d.upto[guess] > x {
				hi = guess + 1
				break
			}
			lo = guess + 1
		}
	}
	p := lo + sort.Search(hi-lo, func(i int) bool { return d.upto[lo+i] > x })
	for p = min(p, hi-1); p > lo && d.upto[p] == d.upto[p-1]; p-- { // rounded beyond the last
	}
	return p
}

// guess is where the odds would be x if all places from lo to hi were alike.
func (d *draws) guess(lo, hi int, base, x float64) int {
	return lo + int((x-base)/(d.upto[hi-1]-base)*float64(hi-lo))
}

// positive appends the places from lo to hi that have odds but for those of without, which ascend.
func (d *draws) positive(lo, hi, first int, without []int32) {
	for p := lo; p < hi; p++ {
		if len(without) > 0 && int(without[0]) == p {
			without = without[1:]
		} else if d.upto[p] > d.oddsBefore(p, first) {
			d.edges = append(d.edges, int32(p))
		}
	}
}

// few is systematic of few places, which are looked at one by one. It reports false, and draws none, where
// rounding decides.
func (d *draws) few(lo, hi, first int, start float64, k int) (t float64, ok bool) {
	var widths [fewPlaces]float64
	w, sum, total := widths[:hi-lo], d.oddsBefore(lo, first), 0.0
	for i, upto := range d.upto[lo:hi] {
		w[i], sum = upto-sum, upto
		total += w[i]
	}
	left, points := total, k
	var certain uint64
	for more := true; more; {
		if points == 0 || left <= total*1e-9 {
			return 0, false
		}
		t, more = left/float64(points), false
		for i, x := range w {
			if x >= t && certain>>i&1 == 0 {
				certain |= 1 << i
				left, points, more = left-x, points-1, true
			}
		}
	}
	begin := len(d.edges)
	next, passed := start*t, 0.0
	for i, x := range w {
		if certain>>i&1 == 0 {
			if passed += x; passed <= next {
				continue
			}
			next += t
		}
		d.edges = append(d.edges, int32(lo+i))
	}
	if len(d.edges)-begin != k {
		d.edges = d.edges[:begin]
		return 0, false
	}
	return t, true
}

// line is the places that points hit: all from lo to hi but for those that are certain.
type line struct {
	lo, hi, first int
	base          float64
	left          float64 // how long it is
	points        int
	certain       []int32
}

// systematic draws from a line and returns t.
func (d *draws) systematic(l line, start float64) float64 {
	begin, whole := len(d.edges), l.left
	for {
		t := l.left / float64(l.points)
		d.edges = d.edges[:begin]
		d.hit(l, start, t)
		var more []int32
		for i, p := range d.edges[begin:] {
			width := d.upto[p] - d.oddsBefore(int(p), l.first)
			if i > 0 && d.edges[begin+i-1] == p {
				continue // and it was noted
			}
			if width >= t || i+1 < len(d.edges)-begin && d.edges[begin+i+1] == p {
				more = append(more, p)
				l.left -= width
				l.points--
			}
		}
		if len(more) == 0 {
			break
		}
		l.certain = append(l.certain, more...)
		slices.Sort(l.certain)
		if l.points > 0 && l.left > whole*1e-9 {
			continue
		}
		return d.rest(l, begin, start)
	}
	d.edges = append(d.edges, l.certain...)
	slices.Sort(d.edges[begin:])
	d.edges = d.edges[:begin+len(slices.Compact(d.edges[begin:]))] // that of a point rounded beyond the end
	return l.left / float64(l.points)
}

// rest takes what is certain and, if points are left for places with next to no odds, of these
// as many, all alike: what tells them apart is rounding.
func (d *draws) rest(l line, begin int, start float64) float64 {
	d.edges = d.edges[:begin]
	if l.points > 0 {
		d.positive(l.lo, l.hi, l.first, l.certain)
	}
	if few := slices.Clone(d.edges[begin:]); len(few) > l.points {
		d.edges = d.edges[:begin]
		for i := range l.points {
			d.edges = append(d.edges, few[(int(start*float64(len(few)))+i)%len(few)])
		}
	}
	d.edges = append(d.edges, l.certain...)
	slices.Sort(d.edges[begin:])
	return 0
}

// hit appends the places that points hit which are t from each other.
func (d *draws) hit(l line, start, t float64) {
	if l.hi-l.lo > fewPlaces { // they lie far from each other: all are looked at before one is waited for
		for j := range l.points {
			if p := d.guess(l.lo, l.hi, l.base, l.base+(start+float64(j))*t); p < l.hi && d.upto[p] < 0 {
				d.none++
			}
		}
	}
	at, passed, certain := l.lo, l.base, l.certain // passed: base, and the odds of the certain ones before
	for j := range l.points {
		x := passed + (start+float64(j))*t
		for len(certain) > 0 && d.oddsBefore(int(certain[0]), l.first) <= x {
			c := int(certain[0])
			width := d.upto[c] - d.oddsBefore(c, l.first)
			passed, x, at, certain = passed+width, x+width, c+1, certain[1:]
		}
		if at < l.hi { // else x is rounded beyond the end
			at = d.search(at, l.hi, x, d.guess(l.lo, l.hi, l.base, x))
			d.edges = append(d.edges, int32(at))
		}
	}
}
