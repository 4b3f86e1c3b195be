package sample

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/edgewise-ml/edgewise/graph"
)

// draws is what one layer draws in one epoch: of each seed in turn some of its in-edges,
// which ascend.
type draws struct {
	*order
	sampler *Sampler
	fanouts []int // one, or one for each kind
	key     uint64
	when    []int64 // the time of each seed; nil: none

	offsets []int64
	edges   []int32
	scales  []float64 // nil: not asked
	none    int       // seeds whose edges have no odds, which fetch counts so that it is not left out
}

// draws returns what a layer will draw.
func (s *Sampler) draws(a asked, layer int) *draws {
	d := &draws{order: s.made, sampler: s, when: a.times, key: mix(mix(mix(s.Seed)^a.epoch) ^ uint64(layer))}
	if s.byKind() {
		d.fanouts = s.Kinds[layer]
	} else {
		d.fanouts = s.Fanout[layer : layer+1]
	}
	if a.scales {
		d.scales = []float64{}
	}
	return d
}

// row is the in-edges of a node.
type row struct{ first, end, loop int32 } // loop: −1 if it has none

// rows looks the in-edges of all seeds up before any are drawn: each lies elsewhere, and
// the looks do not wait for each other.
func (d *draws) rows(seeds []int32) ([]row, error) {
	in := d.sampler.Graph.In().Offsets
	rows := make([]row, len(seeds))
	for i, v := range seeds {
		if v < 0 || int(v) >= len(in)-1 {
			return nil, fmt.Errorf("sample: seed %d is node %d of %d", i, v, len(in)-1)
		}
		rows[i] = row{int32(in[v]), int32(in[v+1]), -1}
	}
	if d.loops != nil {
		for i, v := range seeds {
			rows[i].loop = d.loops[v]
		}
	}
	return rows, nil
}

// near is of how many seeds what is needed next is looked at in one go.
const near = 32

// fetch looks at the odds of some seeds' edges, all at once.
func (d *draws) fetch(rows []row) {
	for _, r := range rows {
		if r.first < r.end && d.upto[r.first]+d.upto[r.end-1] == 0 {
			d.none++
		}
	}
}

// all draws for each seed.
func (d *draws) all(seeds []int32) error {
	rows, err := d.rows(seeds)
	if err != nil {
		return err
	}
	most, kept := 0, 1 // of a row: the loop, and those that are drawn
	for _, k := range d.fanouts {
		kept += min(k, math.MaxInt32)
	}
	for _, r := range rows {
		n := int(r.end - r.first)
		if d.sampler.Replace && n > 0 {
			n = max(n, min(kept, replacedMost))
		}
		most += min(n, kept)
	}
	d.offsets, d.edges = make([]int64, len(seeds)+1), make([]int32, 0, most)
	for i, r := range rows {
		if d.upto != nil && i%near == 0 {
			d.fetch(rows[i:min(i+near, len(rows))])
		}
		at := mix(d.key ^ uint64(seeds[i]))
		if d.when != nil {
			at = mix(at ^ uint64(d.when[i]))
		}
		first := len(d.edges)
		if d.places == nil {
			d.plain(r, at)
		} else {
			d.ordered(i, r, at)
		}
		if r.loop >= 0 && d.keeps(i, r.loop) {
			d.addLoop(first, r.loop)
		}
		d.offsets[i+1] = int64(len(d.edges))
	}
	return nil
}

// replacedMost is for how many edges of a row, drawn with replacement, there is room beforehand.
const replacedMost = 1 << 10

// keeps reports whether seed i reads its loop: unless it is of a kind that is not read, or of a later time.
func (d *draws) keeps(i int, loop int32) bool {
	s := d.sampler
	return !(s.byKind() && d.fanouts[s.Graph.Kinds()[loop]] == 0 || d.when != nil && s.Times[loop] >= d.when[i])
}

// addLoop puts a loop among the edges from first on.
func (d *draws) addLoop(first int, loop int32) {
	at, _ := slices.BinarySearch(d.edges[first:], loop)
	d.edges = slices.Insert(d.edges, first+at, loop)
	if d.scales != nil {
		d.scales = slices.Insert(d.scales, first+at, 1)
	}
}

// plain draws from edges in their own order.
func (d *draws) plain(r row, at uint64) {
	k := d.fanouts[0]
	if d.upto != nil { // where a loop has no odds
		d.weighted(int(r.first), int(r.end), int(r.first), at, k)
		return
	}
	first, n := len(d.edges), int(r.end-r.first)
	hole := int32(n) // the place of the loop, which is not drawn
	if r.loop >= 0 {
		hole = r.loop - r.first
		n--
	}
	d.uniform(n, at, k)
	for i, p := range d.edges[first:] {
		if p >= hole {
			p++
		}
		d.edges[first+i] = r.first + p
	}
}

// ordered draws from edges that stand by kind and time, seed i's.
func (d *draws) ordered(i int, r row, at uint64) {
	begin, lo := len(d.edges), int(r.first)
	if r.loop >= 0 {
		lo++ // it stands first
	}
	kinds := d.sampler.Graph.Kinds()
	for lo < int(r.end) {
		hi, k, from := int(r.end), d.fanouts[0], at
		if d.sampler.byKind() {
			kind := kinds[d.places[lo]]
			hi = lo + sort.Search(hi-lo, func(j int) bool { return kinds[d.places[lo+j]] > kind })
			k, from = d.fanouts[kind], mix(at+uint64(kind)+1)
		}
		end := hi
		if d.when != nil {
			end = lo + sort.Search(hi-lo, func(j int) bool { return d.sampler.Times[d.places[lo+j]] >= d.when[i] })
		}
		first := len(d.edges)
		switch {
		case k == 0:
		case d.upto != nil:
			d.weighted(lo, end, int(r.first), from, k)
		default:
			d.uniform(end-lo, from, k)
			for j := range d.edges[first:] {
				d.edges[first+j] += int32(lo)
			}
		}
		for j, p := range d.edges[first:] {
			d.edges[first+j] = d.places[p]
		}
		lo = hi
	}
	d.ascend(begin)
}

// ascend brings the edges from first on into their order.
func (d *draws) ascend(first int) {
	if d.scales == nil {
		slices.Sort(d.edges[first:])
		return
	}
	sort.Sort(byEdge{d.edges[first:], d.scales[first:]})
}

// byEdge sorts edges with their scales.
type byEdge struct {
	edges  []int32
	scales []float64
}

func (b byEdge) Len() int           { return len(b.edges) }
func (b byEdge) Less(i, j int) bool { return b.edges[i] < b.edges[j] }
func (b byEdge) Swap(i, j int) {
	b.edges[i], b.edges[j] = b.edges[j], b.edges[i]
	b.scales[i], b.scales[j] = b.scales[j], b.scales[i]
}

// scale notes for how many edges those from first on stand.
func (d *draws) scale(first int, n float64) {
	for range d.edges[first:] {
		d.scales = append(d.scales, n)
	}
}

// uniform draws k of n places, which ascend.
func (d *draws) uniform(n int, at uint64, k int) {
	first, places := len(d.edges), d.edges
	switch {
	case n == 0:
	case k == All || !d.sampler.Replace && n <= k:
		for i := range n {
			places = append(places, int32(i))
		}
		k = n
	case d.sampler.Replace:
		for range k {
			at += golden
			places = append(places, below(mix(at), n))
		}
		slices.Sort(places[first:])
	default: // each set of so many is as likely as any other (R. W. Floyd)
		for m := n - k; m < n; m++ {
			at += golden
			places = put(places, first, below(mix(at), m+1), int32(m))
		}
	}
	d.edges = places
	if d.scales != nil {
		d.scale(first, float64(n)/float64(max(1, k)))
	}
}

// put adds p to the places from first on, which ascend, or last, if p is among them.
func put(places []int32, first int, p, last int32) []int32 {
	at := len(places)
	if at-first > fewPlaces {
		i, _ := slices.BinarySearch(places[first:], p)
		if at = first + i; at < len(places) && places[at] == p {
			return append(places, last)
		}
		return slices.Insert(places, at, p)
	}
	for at > first && places[at-1] > p {
		at--
	}
	if at > first && places[at-1] == p {
		return append(places, last)
	}
	places = append(places, p)
	for i := len(places) - 1; i > at; i-- {
		places[i] = places[i-1]
	}
	places[at] = p
	return places
}

// below returns a number below n, for 64 random bits.
func below(random uint64, n int) int32 {
	k, _ := bits.Mul64(random, uint64(n))
	return int32(k)
}

const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// loopsKey is the key of what loopsOf keeps.
type loopsKey struct{}

// loopsOf returns the first loop of each node, −1 where there is none, or nil if
// there are none at all. The graph keeps it.
func loopsOf(g *graph.Graph) []int32 {
	return graph.Derive(g, loopsKey{}, func() []int32 {
		in, own := g.In(), g.DstRows()
		loops, any := make([]int32, g.NumDst()), false
		for v := range loops {
			loops[v] = -1
			lo, hi := in.Offsets[v], in.Offsets[v+1]
			if i := slices.Index(in.Cols[lo:hi], own[v]); i >= 0 {
				loops[v], any = int32(lo)+int32(i), true
			}
		}
		if !any {
			return []int32(nil)
		}
		return loops
	})
}
