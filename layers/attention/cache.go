package attention

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Cache keeps the keys and values of all tokens that a model has said, so that its Step
// computes those of one token a hypothesis, and hears the others. Nothing of it is a graph:
// each hypothesis has a region of arrays, which grow by doubling. The zero Cache is empty. It
// serves one search at a time, without gradients.
//
// What a search carries from step to step is the number of each hypothesis's region, and how
// long it is. So a hypothesis goes on in the region of the one that it continues; where two
// continue one, its rows are copied for the second. A region that no hypothesis names any more
// is used again.
//
// With a Window a token hears itself and so many before it, as on [graph.CausalBand], and what is
// further back is forgotten: however much is said, a region has at most 2·Window+96 rows. It
// stands before the first step.
type Cache struct {
	Window int // how far back a token hears; 0: everything

	window int     // of what is kept
	room   int     // rows of a region
	lens   []int32 // of each region, how many tokens were said
	bases  []int32 // of each region, at which of them its rows begin
	taken  []bool  // of each region, by a row of this step
	self   []kept  // of each block

	regions, places []int32 // of each row of this step: its region, and where its token stands
	upTo, from      []int32 // how many rows of its region are in use, and at which token they begin

	cross     []kept  // of each block of a decoder, the encoder's rows; a region for each sentence
	crossLens []int32 // of each sentence
	sentence  []int32 // of each row of this step
	heard     []int32 // of each row of this step, the length of its sentence
}

// kept is the keys and values that one attention has seen.
type kept struct{ fused.Past }

// stateWidth is how many numbers a row of the state has: region, length, sentence.
const stateWidth = 3

// State is that of hypotheses that have said nothing: one row, which stands for any number.
func (c *Cache) State() message.State {
	return message.State{grad.Const(tensor.Of([]tensor.Float{-1, 0, 0}, 1, stateWidth))}
}

// Hypotheses returns how many regions there are, and how many rows each has room for.
func (c *Cache) Hypotheses() (regions, room int) { return len(c.lens), c.room }

// begin shapes an empty cache for a model, whose attentions these are. One that is not empty
// has to fit.
func (c *Cache) begin(op string, heads []*MultiHead) {
	if len(c.self) == 0 {
		c.window = c.Window
		c.self = make([]kept, len(heads))
		for i, l := range heads {
			c.self[i].shape(l)
		}
	}
	if len(c.self) != len(heads) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(c.self)}, {len(heads)}}, Why: fmt.Sprintf("the cache is of a model of %d blocks, this one has %d: give each model a Cache of its own", len(c.self), len(heads))})
	}
	if c.Window != c.window || c.window < 0 {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{c.window}, {c.Window}}, Why: fmt.Sprintf("the cache was begun with a Window of %d, and it is %d now: it is 0 or more, and stands before the first step", c.window, c.Window)})
	}
	for i, l := range heads {
		if k := &c.self[i]; k.Heads != cmp.Or(l.Heads, 1) || k.Heads*k.KeyWidth != l.Model {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{k.Heads, k.KeyWidth}, {cmp.Or(l.Heads, 1), l.Model / cmp.Or(l.Heads, 1)}}, Why: "the cache is of a model of other heads: give each model a Cache of its own"})
		}
	}
}

// shape gives k the widths of an attention.
func (k *kept) shape(l *MultiHead) {
	heads := cmp.Or(l.Heads, 1)
	k.Past = fused.Past{Heads: heads, KeyWidth: l.Model / heads, ValueWidth: l.Model / heads, Scale: tensor.Float(l.scale())}
}

// enter finds the region of each of n rows from what the state says.
func (c *Cache) enter(op string, n int, before message.State) {
	if len(before) != 1 || before[0].Dim(-1) != stateWidth || before[0].Dim(0) != n {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{n}, {len(before)}}, Why: "the state is not that of a Cache: begin with Cache.State, and hand back what a step returns"})
	}
	c.taken = resized(c.taken, len(c.lens))
	clear(c.taken)
	c.regions, c.places, c.sentence = resized(c.regions, n), resized(c.places, n), resized(c.sentence, n)
	c.upTo, c.from = resized(c.upTo, n), resized(c.from, n)
	rows := before[0].Value()
	for i := range n {
		row := rows.Row(i)
		c.regions[i], c.places[i], c.sentence[i] = -1, int32(row[1]), int32(row[2])
		if r := int(row[0]); r >= 0 {
			c.checkRegion(op, r, c.places[i])
			if !c.taken[r] {
				c.regions[i], c.taken[r] = int32(r), true
			}
		}
	}
	c.reserve(int(slices.Max(append(c.places, 0))) + 1)
	next := 0
	for i, r := range c.regions {
		if r < 0 {
			next = c.free(next)
			c.regions[i] = int32(next)
			c.duplicate(int(rows.Row(i)[0]), next, c.places[i])
		}
		c.makeRoom(i)
	}
}

// makeRoom finds the row of its region for the token of row i. Where there is none the region
// forgets what no token will read.
func (c *Cache) makeRoom(i int) {
	r, place := int(c.regions[i]), int(c.places[i])
	if base := int(c.bases[r]); c.window > 0 && place-base >= c.room {
		begin := fused.PastBegin(place, c.window)
		for k := range c.self {
			c.self[k].move(r, r, begin-base, place-begin)
		}
		c.bases[r] = int32(begin)
	}
	c.upTo[i], c.from[i] = int32(place)-c.bases[r]+1, c.bases[r]
}

// checkRegion panics unless region r has the length that a state says.
func (c *Cache) checkRegion(op string, r int, length int32) {
	if r < len(c.lens) && c.lens[r] == length {
		return
	}
	has := int32(0)
	if r < len(c.lens) {
		has = c.lens[r]
	}
	panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{int(length)}, {int(has)}},
		Why: fmt.Sprintf("the state is of %d tokens, and the cache holds %d there: it has gone on since, or is another's. Begin with Cache.State, or fill it again", length, has)})
}

// free returns a region that no row has taken, from number r on.
func (c *Cache) free(r int) int {
	for r < len(c.taken) && c.taken[r] {
		r++
	}
	if r == len(c.lens) {
		c.regionsTo(max(1, 2*len(c.lens)))
	}
	c.taken[r] = true
	return r
}

// regionsTo makes so many regions.
func (c *Cache) regionsTo(n int) {
	c.lens = append(c.lens, make([]int32, n-len(c.lens))...)
	c.bases = append(c.bases, make([]int32, n-len(c.bases))...)
	c.taken = append(c.taken, make([]bool, n-len(c.taken))...)
	for i := range c.self {
		c.self[i].resize(n, c.room, c.room)
	}
}

// reserve makes room for n tokens in each region, or for those that a window leaves, and as many
// again: so a region forgets seldom.
func (c *Cache) reserve(n int) {
	most := n
	if c.window > 0 {
		most = 2 * fused.PastMost(c.window)
	}
	if n = min(n, most); n <= c.room {
		return
	}
	room := max(16, 2*c.room, n)
	if c.window > 0 {
		room = min(room, most)
	}
	for i := range c.self {
		c.self[i].resize(len(c.lens), c.room, room)
	}
	c.room = room
}

// resize makes n regions of a room, in which what is there keeps its place.
func (k *kept) resize(n, before, room int) {
	wk, wx := k.Heads*k.KeyWidth, k.Heads*k.ValueWidth
	ks, xs := make([]tensor.Float, n*wk*room), make([]tensor.Float, n*wx*room)
	if before > 0 {
		for r := range len(k.X) / (wx * before) {
			for j := r * wk; j < (r+1)*wk; j++ {
				copy(ks[j*room:(j+1)*room], k.K[j*before:(j+1)*before])
			}
			copy(xs[r*wx*room:], k.X[r*wx*before:(r+1)*wx*before])
		}
	}
	k.K, k.X, k.Room = ks, xs, room
}

// duplicate gives region to the first n tokens of region from.
func (c *Cache) duplicate(from, to int, n int32) {
	c.lens[to], c.bases[to] = n, 0
	if n == 0 {
		return
	}
	c.bases[to] = c.bases[from]
	for i := range c.self {
		c.self[i].move(from, to, 0, int(n-c.bases[from]))
	}
}

// move copies n rows of region from, from row at on, to the first rows of region to.
func (k *kept) move(from, to, at, n int) {
	wk, wx := k.Heads*k.KeyWidth, k.Heads*k.ValueWidth
	for j := range wk {
		copy(k.K[(to*wk+j)*k.Room:][:n], k.K[(from*wk+j)*k.Room+at:])
	}
	copy(k.X[to*wx*k.Room:][:n*wx], k.X[(from*k.Room+at)*wx:])
}

// leave lets each row's region be a token longer, and returns the state after the step.
func (c *Cache) leave() message.State {
	x := tensor.New(len(c.regions), stateWidth)
	for i, r := range c.regions {
		c.lens[r] = c.places[i] + 1
		row := x.Row(i)
		row[0], row[1], row[2] = tensor.Float(r), tensor.Float(c.lens[r]), tensor.Float(c.sentence[i])
	}
	return message.State{grad.Const(x)}
}

// put keeps a row of keys and one of values, at a place of a region.
func (k *kept) put(region, place int, key, value []tensor.Float) {
	to := k.K[region*len(key)*k.Room+place:]
	for j, v := range key {
		to[j*k.Room] = v
	}
	copy(k.X[(region*k.Room+place)*len(value):], value)
}

// hear returns the attention of queries to the first lens rows of their regions.
func (k *kept) hear(q *grad.Var, regions, lens []int32) *grad.Var {
	op := grad.Begin("attention.Cache", q)
	y := op.New(q.Dim(0), k.Heads, k.ValueWidth)
	k.Q, k.Y, k.Regions, k.Lens = q.Value().Data, y.Value().Data, regions, lens
	k.Forward()
	k.Q, k.Y = nil, nil
	return op.Record(y, func(*tensor.Dense) {
		panic(&grad.TapeError{Op: "attention.Cache", Why: "what is heard from a cache has no gradient; train with Forward"})
	})
}

// step is self-attention of a row for each hypothesis to its own past, to the bits of
// [MultiHead.Forward] on [graph.Causal].
func (l *MultiHead) step(t *grad.Tape, x *grad.Var, c *Cache, k *kept) *grad.Var {
	q, key, value := l.heads(t, x, l.WQuery, l.BQuery), l.heads(t, x, l.WKey, l.BKey), l.heads(t, x, l.WValue, l.BValue)
	if l.Rotary {
		q, key = Rotate(q, c.places), Rotate(key, c.places)
	}
	if l.Relative > 0 {
		k.Bias, k.Reach = l.Offset.Value.Data, l.Relative
	}
	ks, vs := key.Value(), value.Value()
	for i, r := range c.regions {
		k.put(int(r), int(c.upTo[i])-1, ks.Row(i), vs.Row(i))
	}
	k.Window, k.Bases = c.window, c.from
	return l.out(t, k.hear(q, c.regions, c.upTo))
}

// stepCross is attention of a row for each hypothesis to its sentence.
func (l *MultiHead) stepCross(t *grad.Tape, x *grad.Var, c *Cache, k *kept) *grad.Var {
	return l.out(t, k.hear(l.heads(t, x, l.WQuery, l.BQuery), c.sentence, c.heard))
}

// remember keeps what cross attentions read of memory, whose sentences end at offsets.
func (c *Cache) remember(t *grad.Tape, cross []*MultiHead, memory *grad.Var, offsets []int) {
	n := len(offsets) - 1
	c.crossLens, c.cross = resized(c.crossLens, n), resized(c.cross, len(cross))
	room := 0
	for i := range n {
		c.crossLens[i] = int32(offsets[i+1] - offsets[i])
		room = max(room, offsets[i+1]-offsets[i])
	}
	for i, l := range cross {
		k := &c.cross[i]
		k.shape(l)
		k.Whole = true
		k.resize(n, 0, room)
		k.fill(l.heads(t, memory, l.WKey, l.BKey), l.heads(t, memory, l.WValue, l.BValue), offsets, nil)
	}
}

// fill puts the rows of sentence i, from that of bases on, into region i; nil: from the first.
func (k *kept) fill(keys, values *grad.Var, offsets []int, bases []int32) {
	ks, vs := keys.Value(), values.Value()
	for i := range len(offsets) - 1 {
		first := offsets[i]
		if bases != nil {
			first += int(bases[i])
		}
		for at := first; at < offsets[i+1]; at++ {
			k.put(i, at-first, ks.Row(at), vs.Row(at))
		}
	}
}

// listen sets how long the sentence of each row is.
func (c *Cache) listen(op string) {
	c.heard = resized(c.heard, len(c.sentence))
	for i, s := range c.sentence {
		if int(s) >= len(c.crossLens) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{int(s)}, {len(c.crossLens)}}, Why: fmt.Sprintf("a hypothesis is of sentence %d, and %d were encoded: begin with the state that Start returned", s, len(c.crossLens))})
		}
		c.heard[i] = c.crossLens[s]
	}
}

// resized returns n elements, in the memory of x if they fit.
func resized[T any](x []T, n int) []T { return slices.Grow(x[:0], n)[:n] }
