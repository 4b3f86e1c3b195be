package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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
	if a == Identity {
		if y := x.biasAlong(b); y != nil {
			return y
		}
	}
	op := Begin("AddBias", x, b)
	if len(b.Value().Data) != x.Value().Dim(-1) {
		panic(tensor.Mismatch("grad.AddBias", x, b))
	}
	y := op.freshLike(x)
	n := notesOfBias(op, biasNotes{x: x, b: b, u: u, folds: folds, row: b})
	if row := [...]*Var{b}; a == ELU && x.val.Axes() == 2 && op.tape.Recording() && !x.leaf() && op.Own(row[:]) {
		n.row = row[0]
		op.Dry(0)
		return op.RecordLate(y, n) // a dropout may come next
	}
	n.Run(op, y)
	return op.RecordBy(y, n)
}

// biasNotes is the pullback of y = x + b or, if u is folded in, of u of that, or
// of a dropout of ELU of that.
type biasNotes struct {
	x, b, y *Var
	row     *Var  // b, or a copy of it
	from    *late // of a dropout: of what it is
	u       vec.Unary
	folds   bool
	drop    *vec.Dropout
}

func notesOfBias(op Op, n biasNotes) *biasNotes {
	to := Notes[biasNotes](op)
	*to = n
	return to
}

// Run implements [Late].
func (n *biasNotes) Run(op Op, y *Var) {
	n.y = y
	if !op.Dry(0) {
		runBiased(biased{in: n.x.val.Data, out: y.val.Data, b: n.row.val.Data, f: n.u, on: n.folds, drop: n.drop})
	}
}

// Biased implements [Late].
func (n *biasNotes) Biased(_, _ *Var) Late { return nil }

// Pull adds to the gradients of x and b.
func (n *biasNotes) Pull(dy *tensor.Dense) {
	if n.from != nil && n.from.apart {
		(&dropNotes{n.from.out, (*tensor.Mask)(n.drop)}).Pull(dy)
		return
	}
	k := biased{in: dy.Data, y: n.y.val.Data, b: n.b.val.Data, f: n.u, on: n.folds, drop: n.drop, back: true}
	if dx, fresh := n.x.FreshGrad(); dx != nil {
		k.out, k.set = dx.Data, fresh
	}
	if n.b.needs {
		k.db = n.b.Grad().Data
	}
	runBiased(k)
}

// took implements [taker].
func (n *biasNotes) took() string {
	if n.drop != nil {
		return "AddBias"
	}
	return ""
}

// dropAlong returns the dropout of x if that is a bias and an ELU that wait: all
// three are one pass over rows, and one over their gradient. Else it returns nil.
func (t *Tape) dropAlong(x *Var, d *tensor.Mask) *Var {
	if x.tape != t || t == nil {
		return nil
	}
	l := x.along()
	if l == nil || l.out != x {
		return nil
	}
	biased, ok := l.of.(*biasNotes)
	if !ok {
		return nil
	}
	l.mu.Lock()
	var y *Var
	if l.state == waiting {
		y = l.take()
	}
	l.mu.Unlock()
	if y == nil {
		return nil
	}
	op := l.begin("Dropout", x)
	z := op.over(y.val.Data, x.val.Shape())
	n := notesOfBias(op, biasNotes{x: biased.x, b: biased.b, row: biased.row, from: l, drop: (*vec.Dropout)(d)})
	n.Run(op, z)
	return op.RecordBy(z, n)
}

// biasAlong returns the sum of x and b if the operation that makes x adds b on its
// way, else nil.
func (x *Var) biasAlong(b *Var) *Var {
	if x.tape == nil {
		return nil
	}
	x.alive("AddBias")
	l := x.along()
	if l == nil {
		return x.biasAfter(b)
	}
	if bl := b.late.Load(); bl == l || b.csr != nil || !l.out.rowIs(x, b) {
		return nil
	}
	b.ready("AddBias")
	with, y := l.takeBiased(b)
	if with == nil {
		return nil
	}
	op := l.begin("AddBias", x, b)
	z := op.over(y.val.Data, x.val.Shape())
	with.Run(l.op, y)
	return op.RecordBy(z, notesOfSum(op, sumOfLate{x: x, b: b, with: with, y: y, from: l, pulls: l.op.needs, name: l.op.name}))
}

// takeBiased takes what waits along with a bias, if it can be. A goroutine that reads
// it meanwhile has the lock before, and then there is nothing to take, or after.
func (l *late) takeBiased(b *Var) (with Late, y *Var) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != waiting {
		return nil, nil
	}
	if with = l.of.Biased(b, nil); with == nil {
		return nil, nil
	}
	return with, l.take()
}

// biasAfter is biasAlong where x is the result of the last operation, which could
// not wait: its pullback is that of the sum, too, so that the gradients have the
// same bits.
func (x *Var) biasAfter(b *Var) *Var {
	root, _ := x.origin()
	n := x.tape.last()
	if n == nil || n.out != root || b.tape != nil && b.gen != b.tape.gen || b.csr != nil || !root.rowIs(x, b) {
		return nil
	}
	of, ok := n.by.(Late)
	if !ok {
		return nil
	}
	op := Begin("AddBias", x, b)
	y := op.freshLike(root)
	with := of.Biased(b, y)
	if with == nil {
		return nil
	}
	if !op.Measuring() {
		runBiased(biased{in: x.val.Data, out: y.val.Data, b: b.val.Data})
	}
	x.used, root.used = false, false
	if tr := n.trace; tr != nil && op.trace != nil {
		op.trace.xs, op.trace.skip = append(tr.xs[:len(tr.xs):len(tr.xs)], b), tr.skip
	}
	z := op.over(y.val.Data, x.val.Shape())
	return op.RecordBy(z, notesOfSum(op, sumOfLate{x: x, b: b, with: with, y: y, pulls: true}))
}

// rowIs reports whether b has an element for each of a row of x and of v, which
// has all of x's elements.
func (x *Var) rowIs(v, b *Var) bool {
	n := tensor.Size(b.val.Shape()...)
	return n == v.val.Dim(-1) && n == x.val.RowLen() && tensor.Size(x.val.Shape()...) == tensor.Size(v.val.Shape()...)
}

// sumOfLate is the pullback of a sum of rows with b, which the operation that
// makes the rows added.
type sumOfLate struct {
	x, b  *Var
	with  Late
	y     *Var  // the sum as with sees it
	from  *late // of x; nil: it was there
	pulls bool  // the gradient of with is wanted
	name  string
	dy    tensor.Dense // while it runs
}

func notesOfSum(op Op, n sumOfLate) *sumOfLate {
	to := Notes[sumOfLate](op)
	*to = n
	return to
}

// took implements [taker].
func (n *sumOfLate) took() string { return n.name }

// Pull adds to the gradient of b, and then to those of the rows' operands.
func (n *sumOfLate) Pull(dy *tensor.Dense) {
	if n.readAgain() {
		(&biasNotes{x: n.x, b: n.b, y: n.y}).Pull(dy)
		return
	}
	if n.y.tape.dry {
		n.b.Grad()
	} else {
		pullBias(n.b, dy)
	}
	if n.pulls {
		n.dy = n.y.val
		n.dy.Data = dy.Data
		n.with.Pull(&n.dy)
	}
}

// readAgain reports whether an operation has read the rows beside the sum.
func (n *sumOfLate) readAgain() bool {
	if n.from != nil {
		return n.from.apart
	}
	root, _ := n.x.origin()
	return n.x.used || root.used
}

// pullBias adds dy to the gradient of b, which may be nil.
func pullBias(b *Var, dy *tensor.Dense) {
	if b != nil && b.needs {
		runBiased(biased{in: dy.Data, b: b.val.Data, db: b.Grad().Data, back: true})
	}
}

// biased is a loop over rows with a bias, cut in parts of rows that the shape
// alone tells. Rows are taken in blocks of about biasBlock elements, so that
// narrow ones cost no more than wide ones.
type biased struct {
	in, out, y []tensor.Float // x to y; backwards dy to dx, which is nil if not wanted
	b, db      []tensor.Float
	f          vec.Unary
	on         bool         // f is applied
	drop       *vec.Dropout // ELU and this dropout are, instead of f; nil: not
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
	vec.Add.Forward(k.out, k.in, k.b, 1, 1)
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
		vec.Add.Forward(to, k.in[lo:hi], k.wide[:hi-lo], 1, 1)
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
