package fused

import (
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LongRow is a row with more edges than a kernel takes in a call, for at most eight heads.
// Its edges come in pieces, in order, and what the kernel makes of each is joined:
//
//	for r.Begin(lo, hi, most); r.Next(); {
//		…the kernel, on the edges of r.Edges…
//		r.AddMean(…) or r.AddSoftmax(…) or r.AddTop(…)
//	}
//
// There are three ways to join pieces, which round differently.
//
// AddMean is for weights of one scale in all pieces: exponentials of nodes, and scores
// whose top is 0 because they are in range. A piece is the mean of its rows, and counts by
// the sum of its weights. The edges are walked once.
//
// AddSoftmax is for pieces that are softmaxes, each below a largest logit of its own, and have
// their mean already. What is joined is brought below the largest of both.
//
// AddTop is for pieces that are softmaxes, each below a largest logit of its own. Their
// sums are brought below the largest of all. What an edge weighs is known when all pieces
// are, so the caller walks the edges again, and weighs a piece's edges by [LongRow.Factor].
type LongRow struct {
	Edges [2]int64         // the first edge of the piece at hand, and the end
	Top   [8]tensor.Float  // AddTop: the largest logit of each head
	Sum   [8]tensor.Float  // of the weights of each head
	Y     [64]tensor.Float // AddMean, AddSoftmax: what the pieces add up to

	begin, end, most int64
}

// Begin makes r the edges from lo up to hi, in pieces of at most so many. Nothing is joined yet.
func (r *LongRow) Begin(lo, hi int64, most int) {
	*r = LongRow{begin: lo, end: hi, most: int64(most)}
	vec.NoTop(r.Top[:])
	r.Again()
}

// Again goes back to before the first piece, and keeps what is joined.
func (r *LongRow) Again() { r.Edges = [2]int64{r.begin, r.begin} }

// Next takes the next piece, and reports whether there is one.
func (r *LongRow) Next() bool {
	lo := r.Edges[1]
	if lo >= r.end {
		return false
	}
	r.Edges = [2]int64{lo, min(lo+r.most, r.end)}
	return true
}

// AddMean adds a piece, whose heads stand side by side in y: each is the mean of rows
// whose weights have the sum.
func (r *LongRow) AddMean(y, sum []tensor.Float) {
	d := len(y) / len(sum)
	for h, s := range sum {
		vec.Axpy(r.Y[h*d:(h+1)*d], s, y[h*d:(h+1)*d])
		r.Sum[h] += s
	}
}

// AddSoftmax adds a piece as AddMean does, whose weights are below largest logits of their own.
func (r *LongRow) AddSoftmax(y, top, sum []tensor.Float) {
	d := len(y) / len(sum)
	for h, m := range top {
		most := max(r.Top[h], m)
		was, is := vec.Weigh(r.Top[h], most), sum[h]*vec.Weigh(m, most)
		row := r.Y[h*d : (h+1)*d]
		vec.Scale.Forward(row, row, was)
		vec.Axpy(row, is, y[h*d:(h+1)*d])
		r.Sum[h] = r.Sum[h]*was + is
		r.Top[h] = most
	}
}

// Mean returns the mean of the pieces that AddMean or AddSoftmax added, for so many heads of a width,
// and adds a bias of as many elements; nil is none.
func (r *LongRow) Mean(heads, width int, bias []tensor.Float) []tensor.Float {
	for h, sum := range r.Sum[:heads] {
		row := r.Y[h*width : (h+1)*width]
		vec.Scale.Forward(row, row, attend.Inverse(sum))
	}
	y := r.Y[:heads*width]
	if bias != nil {
		add(y, bias)
	}
	return y
}

// AddTop adds the sums of a piece's weights, which are below a largest logit of their own.
func (r *LongRow) AddTop(top, sum []tensor.Float) {
	for h, m := range top {
		most := max(r.Top[h], m)
		if r.Top[h] != r.Top[h] || m != m {
			most = r.Top[h] + m
		}
		r.Sum[h] = r.Sum[h]*vec.Weigh(r.Top[h], most) + sum[h]*vec.Weigh(m, most)
		r.Top[h] = most
	}
}

// Factor is what multiplies a piece's weights of a head, below a largest logit of their
// own, so that those of the row add up to 1.
func (r *LongRow) Factor(h int, top tensor.Float) tensor.Float {
	return vec.Weigh(top, r.Top[h]) * attend.Inverse(r.Sum[h])
}
