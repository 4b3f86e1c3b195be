package grad

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// perHead reports whether x is rows of what y is one of, such as the features of
// nodes and an attention vector for each head.
func perHead(x, y *Var) bool {
	xs, ys := x.val.Shape(), y.val.Shape()
	return len(xs) > 1 && slices.Equal(xs[1:], ys) && len(x.val.Data) > 0
}

// dotHeads is Dot where y has the shape of one of x's rows.
func (op Op) dotHeads(x, y, z *Var) *Var {
	scratch := 0
	if y.Needs() {
		scratch = (headParts(x) - 1) * len(y.val.Data)
	}
	if !op.Dry(scratch) {
		runHeads(headTask{x: x.val.Data, y: y.val.Data, w: z.val.Data, pass: headPairs}, x)
	}
	return op.Record(z, func(dz *tensor.Dense) {
		if dx := x.Grad(); dx != nil {
			runHeads(headTask{x: y.val.Data, y: dx.Data, w: dz.Data, pass: headSpread}, x)
		}
		if dy := y.Grad(); dy != nil {
			f := len(dy.Data)
			op.Scratch((headParts(x)-1)*f, func(buf []tensor.Float) {
				runHeads(headTask{x: x.val.Data, y: dy.Data, w: dz.Data, private: buf, pass: headFold}, x)
				for ; len(buf) > 0; buf = buf[f:] {
					addTo(dy.Data, buf[:f])
				}
			})
		}
	})
}

// The passes of a headTask.
const (
	headPairs  = iota // w = ⟨x, y⟩
	headSpread        // y += w·x
	headFold          // y += Σ w·x, of which the first part adds to y and the others to private
)

// headTask is a pass over rows of heads, cut in parts of rows.
type headTask struct {
	x, y, w, private         []tensor.Float
	pass                     int
	rows, heads, width, step int
}

var headTasks = sync.Pool{New: func() any { return new(headTask) }}

// A part is about headWork elements, and no more than headParts parts are made.
const (
	headWork = 1 << 15
	headMost = 16
)

// headParts is the number of parts of x's rows; it follows from the shape.
func headParts(x *Var) int {
	return max(1, min(len(x.val.Data)/headWork, headMost, x.val.Dim(0)))
}

func runHeads(task headTask, x *Var) {
	t := headTasks.Get().(*headTask)
	*t = task
	t.rows, t.width = x.val.Dim(0), x.val.Dim(-1)
	t.heads = x.val.RowLen() / t.width
	parts := headParts(x)
	t.step = (t.rows + parts - 1) / parts
	par.Run(parts, t)
	*t = headTask{}
	headTasks.Put(t)
}

// Chunk does one part, in calls of about headWork elements.
func (t *headTask) Chunk(i int) {
	f := t.heads * t.width
	k := simd.Heads{WStride: t.heads, Width: t.width, H: t.heads, Y: t.y}
	if t.pass == headFold && i > 0 {
		k.Y = t.private[(i-1)*f : i*f]
	}
	end, most := min((i+1)*t.step, t.rows), max(1, headWork/f)
	for lo := i * t.step; lo < end; lo += most {
		n := min(most, end-lo)
		k.W = t.w[lo*t.heads:]
		switch t.pass {
		case headPairs:
			k.X, k.Y, k.XStride = t.x[lo*f:], t.y, f
			k.Pairs(n)
		case headSpread:
			k.X, k.Y, k.YStride = t.x, t.y[lo*f:], f
			k.Spread(n)
		case headFold:
			k.X, k.XStride = t.x[lo*f:], f
			k.Fold(n)
		}
	}
}
