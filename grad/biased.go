package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// AddBias returns a(x + b) as one operation: the end of a layer. b has an
// element for each place along x's last axis, or is nil.
func (x *Var) AddBias(b *Var, a Activation) *Var {
	if b == nil {
		return x.Activate(a)
	}
	u, folds := a.fromResult()
	if !folds && a != Identity {
		return x.AddBias(b, Identity).Activate(a)
	}
	op := Begin("AddBias", x, b)
	if len(b.Value().Data) != x.Value().Dim(-1) {
		panic(tensor.Mismatch("grad.AddBias", x, b))
	}
	y := op.freshLike(x)
	if !op.Dry(0) {
		runBiased(biased{in: x.val.Data, out: y.val.Data, b: b.val.Data, f: u, on: folds})
	}
	return op.RecordBy(y, notesOfBias(op, biasNotes{x: x, b: b, y: y, u: u, folds: folds}))
}

// DropBiased returns t.Dropout(x.AddBias(b, a), p): the end of a layer whose
// result only a dropout reads. Of a matrix and ELU it is one pass over x, and one
// over its gradient.
func (t *Tape) DropBiased(x, b *Var, a Activation, p float64) *Var {
	d := t.NextDropout(p)
	if d == nil {
		return x.AddBias(b, a)
	}
	if b == nil || a != ELU || x.Value().Axes() != 2 || len(b.Value().Data) != x.Dim(1) {
		return t.dropBy(x.AddBias(b, a), d)
	}
	op := t.beginDropout("DropBiased", x, b)
	y := op.Fresh(x.Shape()...)
	if !op.Dry(0) {
		runBiased(biased{in: x.val.Data, out: y.val.Data, b: b.val.Data, drop: (*simd.Dropout)(d)})
	}
	return op.RecordBy(y, notesOfBias(op, biasNotes{x: x, b: b, y: y, drop: (*simd.Dropout)(d)}))
}

// biasNotes is the pullback of y = x + b or, if u is folded in, of u of that, or
// of a dropout of ELU of that.
type biasNotes struct {
	x, b, y *Var
	u       simd.Unary
	folds   bool
	drop    *simd.Dropout
}

func notesOfBias(op Op, n biasNotes) *biasNotes {
	to := Notes[biasNotes](op)
	*to = n
	return to
}

// Pull adds to the gradients of x and b.
func (n *biasNotes) Pull(dy *tensor.Dense) {
	k := biased{in: dy.Data, y: n.y.val.Data, b: n.b.val.Data, f: n.u, on: n.folds, drop: n.drop, back: true}
	if dx, fresh := n.x.FreshGrad(); dx != nil {
		k.out, k.set = dx.Data, fresh
	}
	if n.b.needs {
		k.db = n.b.Grad().Data
	}
	runBiased(k)
}

// Shifter is a [Pullback] of an operation whose result may have a bias added to it
// in place. Shift says that b will be, which has an element for each of a row of the
// result: Pull then finds the sum where it left its result. It returns false if
// Pull could not do with that, and nothing is added. What is left of the sum without
// b has lost bits, all of them where b is much larger: Pull must not rely on it then.
type Shifter interface {
	Pullback
	Shift(b *Var) bool
}

// AddBiasInPlace is [Var.AddBias] where nothing else reads x: if x is what the
// last operation made, and that is a [Shifter] that allows it, the sum takes x's
// memory. Where an activation follows it does not.
func (x *Var) AddBiasInPlace(b *Var, a Activation) *Var {
	s, row := x.shifter()
	if s == nil || b == nil || a != Identity || len(b.Value().Data) != row || x.Value().Dim(-1) != row || !s.Shift(b) {
		return x.AddBias(b, a)
	}
	return x.placed(b, true)
}

// BiasAdded is for an operation that has added b to each row of its result x, and
// whose Pull can do with that: it returns the sum, in x's memory, which gives b its
// gradient.
func (x *Var) BiasAdded(b *Var) *Var {
	if len(b.Value().Data) != x.Value().RowLen() {
		panic(tensor.Mismatch("grad.BiasAdded", x, b))
	}
	return x.placed(b, false)
}

// placed returns the sum of x and b in x's memory, which it makes unless it is
// there.
func (x *Var) placed(b *Var, missing bool) *Var {
	op := Begin("AddBias", x, b)
	var y *Var
	if x.needs || !op.needs {
		y = op.view(x, 0, x.val.Shape()...)
	} else { // nobody would take back the gradient of x, which was not recorded
		y = op.over(x.val.Data, x.val.Shape())
	}
	if !op.Dry(0) && missing {
		runBiased(biased{in: x.val.Data, out: x.val.Data, b: b.val.Data})
	}
	n := Notes[placedNotes](op)
	n.b = b
	return op.RecordBy(y, n)
}

// placedNotes is the pullback of a bias in place: the gradient of what it was added
// to is there already.
type placedNotes struct{ b *Var }

// Pull adds to b's gradient.
func (n *placedNotes) Pull(dy *tensor.Dense) { pullBias(n.b, dy) }

// pullBias adds dy to the gradient of b, which may be nil.
func pullBias(b *Var, dy *tensor.Dense) {
	if b != nil && b.needs {
		runBiased(biased{in: dy.Data, b: b.val.Data, db: b.Grad().Data, back: true})
	}
}

// shifter returns the pullback of x, and the length of a row of its result, if x
// is all of what the last operation made. What a checkpointed function is given
// stays as it is: the function reads it again.
func (x *Var) shifter() (s Shifter, row int) {
	root, _ := x.origin()
	t := root.tape
	if t == nil || t.loop != nil || t.inside == forward || len(t.nodes) == 0 || len(root.val.Data) != len(x.val.Data) {
		return nil, 0
	}
	last := &t.nodes[len(t.nodes)-1]
	if s, ok := last.by.(Shifter); ok && last.out == root {
		return s, root.val.RowLen()
	}
	return nil, 0
}

// biased is a loop over rows with a bias, cut in parts of rows that the shape
// alone tells. Rows are taken in blocks of about biasBlock elements, so that
// narrow ones cost no more than wide ones.
type biased struct {
	in, out, y []tensor.Float // x to y; backwards dy to dx, which is nil if not wanted
	b, db      []tensor.Float
	f          simd.Unary
	on         bool          // f is applied
	drop       *simd.Dropout // ELU and this dropout are, instead of f; nil: not
	back       bool
	set        bool // out holds anything

	block int            // elements
	step  int            // elements of a part: whole blocks
	wide  []tensor.Float // a block of copies of b
	sums  []tensor.Float // a db for each part
}

const (
	biasBlock = 1 << 9
	biasPart  = 1 << 13 // elements, some microseconds
	biasMost  = 32      // parts
)

var biasTasks = sync.Pool{New: func() any { return new(biased) }}

func runBiased(k biased) {
	width, n := len(k.b), len(k.in)
	one := n == width
	switch {
	case n == 0:
		return
	case one && !k.back:
		k.row()
		return
	case one && (k.set || !k.bends()):
		k.pullRow()
		return
	}
	t := biasTasks.Get().(*biased)
	k.wide, k.sums = t.wide, t.sums
	*t = k
	t.block = width * max(1, min(biasBlock, n)/width)
	t.step = (max(biasPart, n/biasMost)/t.block + 1) * t.block
	parts := (n-1)/t.step + 1
	if t.back {
		t.sums = slices.Grow(t.sums[:0], parts*width)[:parts*width]
		spoil.Floats(t.sums)
	} else if t.drop == nil {
		t.wide = slices.Grow(t.wide[:0], t.block)[:t.block]
		for at := 0; at < t.block; at += width {
			copy(t.wide[at:], t.b)
		}
	}
	par.Run(parts, t)
	for at := 0; t.db != nil && at < parts*width; at += width {
		addTo(t.db, t.sums[at:at+width])
	}
	*t = biased{wide: t.wide, sums: t.sums}
	biasTasks.Put(t)
}

// row is the loop over one row.
func (k *biased) row() {
	if k.drop != nil {
		k.drop.ELU(k.out, k.in, k.b, 0)
		return
	}
	simd.Add.Forward(k.out, k.in, k.b, 1, 1)
	if k.on {
		k.f.Forward(k.out, k.out, 1)
	}
}

// pullRow adds the gradients of one row, whose f needs no memory.
func (k *biased) pullRow() {
	dz := k.in
	switch {
	case k.bends():
		dz = k.out
		k.slope(dz, k.in, k.y)
	case k.set:
		copy(k.out, dz)
	case k.out != nil:
		addTo(k.out, dz)
	}
	if k.db != nil {
		addTo(k.db, dz)
	}
}

// Chunk does one part.
func (k *biased) Chunk(i int) {
	end := min((i+1)*k.step, len(k.in))
	if k.back {
		k.pull(i, i*k.step, end)
		return
	}
	for lo := i * k.step; lo < end; lo += k.block {
		hi := min(lo+k.block, end)
		to := k.out[lo:hi]
		if k.drop != nil {
			k.drop.ELU(to, k.in[lo:hi], k.b, lo/len(k.b))
			continue
		}
		simd.Add.Forward(to, k.in[lo:hi], k.wide[:hi-lo], 1, 1)
		if k.on {
			k.f.Forward(to, to, 1)
		}
	}
}

// bends reports whether anything comes after the bias.
func (k *biased) bends() bool { return k.on || k.drop != nil }

// slope sets dz to the gradient of what the bias was added to, from that of the
// result y.
func (k *biased) slope(dz, dy, y []tensor.Float) {
	if k.drop != nil {
		k.drop.ELUGrad(dz, dy, y)
	} else {
		k.f.SetBackward(dz, dy, y, y, 1)
	}
}

// pull adds the gradients of the elements from lo to end, which are part i.
func (k *biased) pull(i, lo, end int) {
	room := borrowRows(2 * k.block)
	sum := (*room)[k.block:]
	clear(sum)
	for ; lo < end; lo += k.block {
		hi := min(lo+k.block, end)
		dz := k.in[lo:hi]
		if k.bends() {
			if dz = (*room)[:hi-lo]; k.set {
				dz = k.out[lo:hi]
			}
			k.slope(dz, k.in[lo:hi], k.y[lo:hi])
		}
		switch {
		case k.out == nil || k.bends() && k.set:
		case k.set:
			copy(k.out[lo:hi], dz)
		default:
			addTo(k.out[lo:hi], dz)
		}
		if k.db != nil {
			addTo(sum[:hi-lo], dz)
		}
	}
	if k.db != nil {
		to := k.sums[i*len(k.b) : (i+1)*len(k.b)]
		clear(to)
		for at := 0; at < k.block; at += len(k.b) {
			addTo(to, sum[at:at+len(k.b)])
		}
	}
	scratchRows.Put(room)
}
