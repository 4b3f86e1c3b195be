package memory

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// look is one hop: each question reads its slots, which is attention from slots to questions.
//
//	p_i = softmax_i(u·key_i)        next = base + Σ_i p_i·value_i
//
// A story has a few slots of a few numbers, so that the passes of a message over a batch take
// less time than their beginnings: here they are one operation.
type look struct {
	x            *grad.Var // keys and values are parts of it
	keys, values corner
	linear       bool // no softmax: the scores are the weights

	op      grad.Op
	vars    [numOfLook]*grad.Var
	data    [numOfLook][]tensor.Float
	grads   [numOfLook][]tensor.Float // nil where none is wanted
	offsets []int64                   // question q has slots offsets[q] to offsets[q+1]
	d, wide int                       // numbers of a key, and of a row of x
	scratch []tensor.Float            // two numbers for each slot, backwards; nil: forwards
}

// corner is where keys or values begin in an array: at this row and this column.
type corner struct{ row, column int }

// The operands and results of a look.
const (
	lookX = iota
	lookU
	lookBase
	lookNext
	lookWeights
	numOfLook
)

// read returns base plus what questions, which look for u, read from their slots; and what
// each slot weighs.
func (l look) read(s *Stories, u, base *grad.Var) (next, weights *grad.Var) {
	op := grad.Begin("memory.look", l.x, u, base)
	next, weights = op.Fresh(s.Slots.NumDst(), u.Dim(1)), op.Fresh(s.Slots.NumSrc(), 1)
	k := tape.Note(op, l)
	k.op, k.offsets = op, s.Slots.In().Offsets
	k.d, k.wide = u.Dim(1), l.x.Dim(1)
	k.vars = [...]*grad.Var{l.x, u, base, next, weights}
	for i, v := range k.vars {
		k.data[i] = v.Value().Data
	}
	k.run()
	tape.RecordAllBy(op, []*grad.Var{next, weights}, k)
	return next, weights
}

// Pull adds to the gradients of the operands.
func (l *look) Pull(*tensor.Dense) {
	for i, v := range l.vars {
		if g := v.Grad(); g != nil {
			l.grads[i] = g.Data
		}
	}
	l.op.Scratch(2*len(l.data[lookWeights]), func(buf []tensor.Float) {
		l.scratch = buf
		l.run()
	})
}

// run does all questions on several threads, and none under Measure.
func (l *look) run() {
	if !tape.Measuring(l.op) {
		par.Run(l.chunks(), l)
	}
}

// perChunk is how many questions a thread takes at a time: some microseconds of work.
func (l *look) perChunk() int {
	return max(1, 8192*l.questions()/max(1, len(l.data[lookWeights])*l.d))
}

func (l *look) questions() int { return len(l.offsets) - 1 }
func (l *look) chunks() int    { return (l.questions() + l.perChunk() - 1) / l.perChunk() }

// Chunk does some questions.
func (l *look) Chunk(i int) {
	for q := i * l.perChunk(); q < min((i+1)*l.perChunk(), l.questions()); q++ {
		lo, hi := int(l.offsets[q]), int(l.offsets[q+1])
		if l.scratch == nil {
			l.forward(q, lo, hi)
		} else {
			l.pull(q, lo, hi)
		}
	}
}

// row returns question q's row of an operand or result, or of its gradient.
func (l *look) row(x []tensor.Float, q int) []tensor.Float { return x[q*l.d : (q+1)*l.d] }

// of returns the key or the value of slot i: of x, or of its gradient.
func (l *look) of(c corner, x []tensor.Float, i int) []tensor.Float {
	at := (c.row+i)*l.wide + c.column
	return x[at : at+l.d]
}

func (l *look) forward(q, lo, hi int) {
	x, u, next, p := l.data[lookX], l.row(l.data[lookU], q), l.row(l.data[lookNext], q), l.data[lookWeights][lo:hi]
	for i := range p {
		p[i] = vec.Dot(l.of(l.keys, x, lo+i), u)
	}
	if !l.linear {
		vec.Softmax(p, p)
	}
	copy(next, l.row(l.data[lookBase], q))
	for i, w := range p {
		vec.Axpy(next, w, l.of(l.values, x, lo+i))
	}
}

func (l *look) pull(q, lo, hi int) {
	x, u, p := l.data[lookX], l.row(l.data[lookU], q), l.data[lookWeights][lo:hi]
	dx, all := l.grads[lookX], len(l.data[lookWeights])
	dp, ds := l.scratch[lo:hi], l.scratch[all+lo:all+hi]
	if d := l.grads[lookWeights]; d != nil {
		copy(dp, d[lo:hi])
	}
	if d := l.grads[lookNext]; d != nil {
		dnext := l.row(d, q)
		for i, w := range p {
			dp[i] += vec.Dot(l.of(l.values, x, lo+i), dnext)
			if dx != nil {
				vec.Axpy(l.of(l.values, dx, lo+i), w, dnext)
			}
		}
		if d := l.grads[lookBase]; d != nil {
			vec.Axpy(l.row(d, q), 1, dnext)
		}
	}
	if l.linear {
		ds = dp
	} else {
		vec.SoftmaxBackward(ds, dp, p)
	}
	for i, g := range ds {
		if dx != nil {
			vec.Axpy(l.of(l.keys, dx, lo+i), g, u)
		}
		if d := l.grads[lookU]; d != nil {
			vec.Axpy(l.row(d, q), g, l.of(l.keys, x, lo+i))
		}
	}
}
