package decode

import (
	"fmt"
	"math"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

var negInf = tensor.Float(math.Inf(-1))

// rows is a step's logits, a row for each live hypothesis, and what each may take.
type rows struct {
	x     []tensor.Float
	width int // of a row: the number of tokens
	room  int // choices a row has room for

	choices []choice // room for each row
	count   []int    // how many of them there are
	why     []string // a row cannot be read
	masked  []tensor.Float
	banned  []bool

	run *run
}

// scratch is what one thread needs for a row.
type scratch struct {
	exp  []tensor.Float
	kept []choice
	top  top
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// chunkSize is about how many logits a thread takes at a time. Rows do not depend
// on each other, so nothing depends on it.
const chunkSize = 1 << 14

func (r *rows) perChunk() int { return max(1, chunkSize/max(1, r.width)) }

// read finds the choices of every row, each at most as many as its sentence has
// places for.
func (r *rows) read(run *run, x *tensor.Dense, n int) {
	r.run, r.x, r.width = run, x.Data, x.Dim(1)
	r.room = min(run.beam.Width, r.width)
	r.choices = grow(r.choices, n*r.room)
	r.count, r.why = grow(r.count, n), grow(r.why, n)
	if run.search.Forbid != nil {
		r.mask(n)
	}
	per := r.perChunk()
	par.Run((n+per-1)/per, r)
	r.run, r.x = nil, nil
}

// mask copies the logits, with −Inf for what is forbidden. It runs on one thread,
// as the caller's function may need.
func (r *rows) mask(n int) {
	r.masked, r.banned = grow(r.masked, n*r.width), grow(r.banned, r.width)
	copy(r.masked, r.x[:n*r.width])
	r.x = r.masked
	for i := range n {
		if r.run.forced(i) >= 0 {
			continue
		}
		clear(r.banned)
		r.run.search.Forbid(&r.run.live, i, r.banned)
		for k, banned := range r.banned {
			if banned {
				r.x[i*r.width+k] = negInf
			}
		}
	}
}

// Chunk reads some rows.
func (r *rows) Chunk(i int) {
	w := scratches.Get().(*scratch)
	per := r.perChunk()
	for i, last := i*per, min((i+1)*per, len(r.count)); i < last; i++ {
		r.count[i], r.why[i] = r.row(w, i)
	}
	scratches.Put(w)
}

// row finds the choices of row i, or says why it cannot be read.
func (r *rows) row(w *scratch, i int) (count int, why string) {
	x, out := r.x[i*r.width:(i+1)*r.width], r.choices[i*r.room:i*r.room:(i+1)*r.room]
	m := w.top.survey(x)
	switch {
	case math.IsNaN(float64(m)) || math.IsInf(float64(m), 1):
		return 0, unreadable(x)
	case m == negInf:
		return 0, ""
	}
	logZ := float64(m) + math.Log(vec.ExpSum64(x, m)) // e⁰ is in the sum, so it is not below 1

	s := int(r.run.live.Sentence[i])
	switch forced, draw := r.run.forced(i), r.run.draw; {
	case int(forced) >= r.width:
		return 0, fmt.Sprintf("its prefix has the token %d, and there are %d", forced, r.width)
	case forced >= 0 && x[forced] == negInf:
		return 0, fmt.Sprintf("token %d of its prefix has a logit of −Inf", forced)
	case forced >= 0:
		out = append(out, choice{score: float64(x[forced]), token: forced})
	case draw != nil:
		token := draw.draw(w, x, m, draw.uniform(s, r.run.live.Step))
		out = append(out, choice{score: float64(x[token]), token: token})
	default:
		out = w.top.largest(x, min(r.run.places(s), r.room), out)
	}
	base := r.run.live.hyps[i].logProb
	for k := range out {
		out[k].score = base + math.Min(0, out[k].score-logZ)
		out[k].row = int32(i)
	}
	return len(out), ""
}

// unreadable names the first logit that no probability follows from.
func unreadable(x []tensor.Float) string {
	for k, v := range x {
		if v != v || math.IsInf(float64(v), 1) {
			return fmt.Sprintf("the logit of token %d is %v; look for NaN in the model's weights or its input", k, v)
		}
	}
	return ""
}

// grow returns n elements, in the memory of buf if they fit.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n, n+n/4)
	}
	return buf[:n]
}
