package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// perHead reports whether x is rows of what y is one of, such as the features of
// nodes and an attention vector for each head.
func perHead(x, y *Var) bool {
	xs, ys := x.val.Shape(), y.val.Shape()
	return len(xs) > 1 && slices.Equal(xs[1:], ys) && len(x.val.Data) > 0
}

// dotHeads is Dot where y has the shape of one of x's rows. It waits for another
// such product of x.
func (op Op) dotHeads(x, y, z *Var) *Var {
	n := Notes[headNotes](op)
	*n = headNotes{op: op, x: x, of: [2]headPull{{y: y, row: y}}}
	if row := [...]*Var{y}; !x.leaf() && op.Own(row[:]) {
		n.of[0].row = row[0]
		op.Dry(foldRoom(x, y))
		return op.RecordLate(z, n)
	}
	n.Run(op, z)
	return op.RecordBy(z, n)
}

// Run implements [Late].
func (n *headNotes) Run(op Op, z *Var) {
	if n.of[0].w == nil {
		n.of[0].w = z
	}
	if !op.Dry(foldRoom(n.x, n.of[0].y)) {
		p := n.of[0]
		runHeads(&headTask{x: n.x.val.Data, of: [2]headPart{{y: p.row.val.Data, w: z.val.Data}}, pass: headPairs}, n.x)
	}
}

// Biased implements [Late].
func (n *headNotes) Biased(_, _ *Var) Late { return nil }

// dotAlong returns x.Dot(y) if such a product of x with a row waits: both are one
// pass over x, and one in Backward. Else it returns nil.
func (x *Var) dotAlong(y *Var) *Var {
	t := x.tape
	if t == nil || t.waiting == nil || x.gen != t.gen || y == nil {
		return nil
	}
	l := t.waiting
	n, ok := l.of.(*headNotes)
	if !ok || n.x != x || y.csr != nil || y.late.Load() != nil || !perHead(x, y) || (x.needs || y.Needs()) != l.op.needs {
		return nil
	}
	op := begin("Dot", l, []*Var{x, y})
	z := op.Fresh(lastOne(&extents{}, x.val.Shape())...)
	n.of[0], n.of[1] = headPull{y: y, row: y, w: z}, headPull{y: n.of[0].y, row: n.of[0].row, w: l.out} // as the pullbacks of both would run
	l.runBoth(n)
	op.done()
	if last := t.last(); op.needs && last != nil {
		z.needs = true
		last.out, last.outs = nil, t.several([]*Var{l.out, z})
		if tr := last.trace; tr != nil {
			tr.xs = append(tr.xs, y)
			tr.scratch += foldRoom(x, y)
		}
	}
	return z
}

// runBoth makes two products, of which one waits unless it has been read.
func (l *late) runBoth(n *headNotes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.tape.waiting = nil
	second := headPart{y: n.of[0].row.val.Data, w: n.of[0].w.val.Data}
	of := [2]headPart{{y: n.of[1].row.val.Data, w: n.of[1].w.val.Data}, second}
	if l.state == settled { // another goroutine has read it
		clear(second.w)
		of = [2]headPart{second}
	}
	if !l.op.Measuring() {
		runHeads(&headTask{x: n.x.val.Data, of: of, pass: headPairs}, n.x)
	}
	if l.state != settled {
		l.release(l.out.val.Data)
	}
}

// headNotes is the pullback of the products of x with one row or two.
type headNotes struct {
	op Op
	x  *Var
	of [2]headPull
}

// Pull adds to the gradients of x and of the rows.
func (n *headNotes) Pull(dz *tensor.Dense) {
	if dz != nil {
		n.of[0].dw = dz
		pullHeads(n.op, n.x, &n.of)
		return
	}
	for j := range n.of {
		n.of[j].dw = n.of[j].w.Grad()
	}
	pullHeads(n.op, n.x, &n.of)
}

// headPull is what a row was multiplied with, and the gradient of the products w.
type headPull struct {
	y, w *Var
	row  *Var // y, or a copy of it
	dw   *tensor.Dense
}

// foldRoom is how much scratch the gradient of y takes.
func foldRoom(x, y *Var) int {
	if !y.Needs() {
		return 0
	}
	return (headParts(x) - 1) * len(y.val.Data)
}

// pullHeads adds the gradients of the products of x with one row or two.
func pullHeads(op Op, x *Var, ps *[2]headPull) {
	t := headTask{x: x.val.Data, pass: headGrads}
	if ps[1].y == nil {
		t.apart = distinct(x, ps[0].y)
	} else {
		t.apart = distinct(x, ps[0].y, ps[1].y)
	}
	room := 0
	for j, p := range ps {
		if p.y == nil {
			break
		}
		t.of[j] = headPart{y: p.y.val.Data, w: p.dw.Data}
		if dy := p.y.Grad(); dy != nil {
			t.of[j].dy = dy.Data
			room += foldRoom(x, p.y)
		}
	}
	if dx := x.Grad(); dx != nil {
		t.dx = dx.Data
	}
	if room == 0 {
		runHeads(&t, x)
		return
	}
	op.Scratch(room, func(buf []tensor.Float) {
		for j := range t.of {
			if dy := t.of[j].dy; dy != nil {
				n := (headParts(x) - 1) * len(dy)
				t.of[j].private, buf = buf[:n], buf[n:]
			}
		}
		runHeads(&t, x)
		for _, p := range t.of {
			for rest := p.private; len(rest) > 0; rest = rest[len(p.dy):] {
				addTo(p.dy, rest[:len(p.dy)])
			}
		}
	})
}

// distinct reports whether no two of xs share elements: then no two of their
// gradients lie over each other.
func distinct(xs ...*Var) bool {
	for i, x := range xs {
		root, at := x.origin()
		for _, y := range xs[:i] {
			other, from := y.origin()
			if other == root && at < from+len(y.val.Data) && from < at+len(x.val.Data) {
				return false
			}
		}
	}
	return true
}

// The passes of a headTask.
const (
	headPairs = iota // w = ⟨x, y⟩
	headGrads        // dx += w·y, and dy += Σ w·x
)

// headTask is a pass over rows of heads, cut in parts of rows.
type headTask struct {
	x, dx                    []tensor.Float // dx is nil if not wanted
	of                       [2]headPart    // one or both
	pass                     int
	rows, heads, width, step int
	apart                    bool // no two of the gradients lie over each other; else one thread adds to them
}

// headPart is one row that all rows of x are multiplied with, and the products
// or their gradients.
type headPart struct {
	y, w        []tensor.Float
	dy, private []tensor.Float // the first part of the rows adds to dy, which is nil if not wanted, the others to private
}

var headTasks = sync.Pool{New: func() any { return new(headTask) }}

// A part is about headWork elements, and no more than headParts parts are made.
// It is done in blocks that stay in the first cache.
const (
	headWork  = 1 << 13
	headMost  = 16
	headBlock = 1 << 11
)

// headParts is the number of parts of x's rows; it follows from the shape.
func headParts(x *Var) int {
	return max(1, min(len(x.val.Data)/headWork, headMost, x.val.Dim(0)))
}

func runHeads(task *headTask, x *Var) {
	task.rows, task.width = x.val.Dim(0), x.val.Dim(-1)
	task.heads = x.val.RowLen() / task.width
	if task.rows*task.heads <= headFew {
		task.each()
		return
	}
	parts := headParts(x)
	task.step = (task.rows + parts - 1) / parts
	if parts == 1 || task.pass == headGrads && !task.apart {
		for i := range parts {
			task.Chunk(i)
		}
		return
	}
	t := headTasks.Get().(*headTask)
	*t = *task
	par.Run(parts, t)
	*t = headTask{}
	headTasks.Put(t)
}

// headFew is how many heads cost less one by one than a block of them does.
const headFew = 8

// each does all heads one by one.
func (t *headTask) each() {
	for i := range t.rows * t.heads {
		at, y := i*t.width, i%t.heads*t.width
		for j := range t.of {
			if t.of[j].y != nil {
				t.one(&t.of[j], i, at, y)
			}
		}
	}
}

// one does head number i, whose first element of x is at, and of the row y.
func (t *headTask) one(p *headPart, i, at, y int) {
	x, row := t.x[at:at+t.width], p.y[y:y+t.width]
	if t.pass == headPairs {
		p.w[i] = vec.Dot(x, row)
		return
	}
	if t.dx != nil {
		vec.Axpy(t.dx[at:at+t.width], p.w[i], row)
	}
	if p.dy != nil {
		vec.Axpy(p.dy[y:y+t.width], p.w[i], x)
	}
}

// Chunk does one part, block by block.
func (t *headTask) Chunk(i int) {
	f := t.heads * t.width
	end, most := min((i+1)*t.step, t.rows), max(1, headBlock/f)
	for lo := i * t.step; lo < end; lo += most {
		n := min(most, end-lo)
		if t.both() {
			t.ends(i, lo, n)
			continue
		}
		for j := range t.of {
			if t.of[j].y != nil {
				t.block(&t.of[j], i, lo, n)
			}
		}
	}
}

// both reports whether there are two rows, and all that their pass can give is
// wanted.
func (t *headTask) both() bool {
	a, b := &t.of[0], &t.of[1]
	return b.y != nil && (t.pass == headPairs || t.apart && t.dx != nil && a.dy != nil && b.dy != nil)
}

// ends does n rows from lo on, of part i, with both rows at once. The second of
// the gradients is that of the first product, as Dot's would run.
func (t *headTask) ends(i, lo, n int) {
	f := t.heads * t.width
	b, a := &t.of[0], &t.of[1]
	k := attend.DotPair{
		X: t.x[lo*f:], A: a.y, B: b.y, L: a.w[lo*t.heads:], R: b.w[lo*t.heads:],
		H: t.heads, Width: t.width,
	}
	if t.pass == headPairs {
		k.Pairs(n)
		return
	}
	k.Grad(attend.DotPairGrads{X: t.dx[lo*f:], A: a.sums(i), B: b.sums(i)}, n)
}

// sums is what part i adds its gradient of the row to.
func (p *headPart) sums(i int) []tensor.Float {
	if i == 0 {
		return p.dy
	}
	f := len(p.dy)
	return p.private[(i-1)*f : i*f]
}

// block does n rows from lo on, of part i.
func (t *headTask) block(p *headPart, i, lo, n int) {
	f := t.heads * t.width
	k := attend.Heads{WStride: t.heads, Width: t.width, H: t.heads, W: p.w[lo*t.heads:]}
	if t.pass == headPairs {
		k.X, k.Y, k.XStride = t.x[lo*f:], p.y, f
		k.Pairs(n)
		return
	}
	if t.dx != nil {
		k.X, k.Y, k.YStride = p.y, t.dx[lo*f:], f
		k.Spread(n)
	}
	if p.dy != nil {
		k.X, k.Y, k.XStride, k.YStride = t.x[lo*f:], p.sums(i), f, 0
		k.Fold(n)
	}
}
