package train

import (
	"cmp"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Ranks are the places of right answers among all candidates, 1 the highest.
type Ranks []float64

// Add appends the place of a candidate among all, by score: 1 is the highest. Those
// that known names do not count, as other right answers do not in a filtered ranking;
// the candidate may be one of them. Of candidates that tie with it half count, so that
// a model that gives every candidate one score is in the middle and not on top. A NaN
// ranks above the candidate, and a candidate that is NaN last.
func (r *Ranks) Add(scores []float64, candidate int, known []int32) {
	if candidate < 0 || candidate >= len(scores) {
		panic(&tensor.ShapeError{Op: "train.Ranks.Add", Shapes: [][]int{{len(scores)}, {candidate}}, Why: "the candidate has no score"})
	}
	left := make([]bool, len(scores))
	for _, k := range known {
		if k < 0 || int(k) >= len(scores) {
			panic(&tensor.ShapeError{Op: "train.Ranks.Add", Shapes: [][]int{{len(scores)}, {int(k)}}, Why: "a known answer has no score"})
		}
		left[k] = true
	}
	left[candidate] = true
	own, rank := scores[candidate], 1.0
	for i, s := range scores {
		switch {
		case left[i] || s < own:
		case s == own:
			rank += 0.5
		default: // above it, or one of the two is NaN
			rank++
		}
	}
	*r = append(*r, rank)
}

// MRR returns the mean reciprocal rank: the mean of 1/rank; NaN of no ranks.
func (r Ranks) MRR() float64 {
	sum := 0.0
	for _, place := range r {
		sum += 1 / place
	}
	return sum / float64(len(r))
}

// Hits returns the fraction of the ranks that are at most k, hits@k; NaN of no ranks.
func (r Ranks) Hits(k int) float64 {
	n := 0
	for _, place := range r {
		if place <= float64(k) {
			n++
		}
	}
	return float64(n) / float64(len(r))
}

// NDCG returns the normalised discounted cumulative gain of the first k places, where the
// ranks are those of all right answers to one question, none left out: the sum of 1/log₂(1 + rank)
// over ranks of at most k, divided by what it would be if they were the first. It is NaN of no
// ranks. The recall of the first k places is Hits(k) of the same ranks.
func (r Ranks) NDCG(k int) float64 {
	gain, best := 0.0, 0.0
	for i, place := range r {
		if place <= float64(k) {
			gain += 1 / math.Log2(1+place)
		}
		if i < k {
			best += 1 / math.Log2(float64(2+i))
		}
	}
	return gain / best
}

// HitsAbove returns the fraction of positives that score higher than the k-th best
// of the negatives: hits@k as the link tasks of the Open Graph Benchmark have it,
// where all positives compete with the same negatives. It is 1 with fewer than k
// negatives, and NaN without a positive or with a NaN.
func HitsAbove(positives, negatives []float64, k int) float64 {
	if k < 1 {
		panic(&tensor.ShapeError{Op: "train.HitsAbove", Shapes: [][]int{{k}}, Why: "k is at least 1"})
	}
	if len(positives) == 0 || slices.ContainsFunc(positives, math.IsNaN) || slices.ContainsFunc(negatives, math.IsNaN) {
		return math.NaN()
	}
	if len(negatives) < k {
		return 1
	}
	sorted := slices.Clone(negatives)
	slices.Sort(sorted)
	bar, n := sorted[len(sorted)-k], 0
	for _, s := range positives {
		if s > bar {
			n++
		}
	}
	return float64(n) / float64(len(positives))
}

// AUC returns the area under the ROC curve: how likely a positive scores higher
// than a negative, where a tie counts one half. It is NaN if there are only
// positives or only negatives, or if a score is NaN. The two slices are as long.
func AUC(scores []float64, positive []bool) float64 {
	// Of the pairs, twice those that are in order and once those that tie:
	// whole numbers, so that nothing is rounded.
	pairs, below, all := 0, 0, 0
	ok := ascending(scores, positive, func(pos, neg int) {
		pairs += pos * (2*below + neg)
		below += neg
		all += pos
	})
	if !ok || all == 0 || below == 0 {
		return math.NaN()
	}
	return float64(pairs) / 2 / float64(all) / float64(below)
}

// AveragePrecision returns the area under the steps of the curve of precision
// against recall: the mean, over the positives, of the precision among all that
// score at least as high. It is NaN if there is no positive or a score is NaN.
func AveragePrecision(scores []float64, positive []bool) float64 {
	type group struct{ pos, neg int }
	var groups []group
	ok := ascending(scores, positive, func(pos, neg int) { groups = append(groups, group{pos, neg}) })
	sum, pos, all := 0.0, 0, 0
	for _, g := range slices.Backward(groups) {
		pos += g.pos
		all += g.pos + g.neg
		sum += float64(g.pos) * float64(pos) / float64(all)
	}
	if !ok || pos == 0 {
		return math.NaN()
	}
	return sum / float64(pos)
}

// ascending calls f for each score, from the lowest, with how many positives
// and negatives have it. It reports whether no score is NaN.
func ascending(scores []float64, positive []bool, f func(pos, neg int)) bool {
	if len(scores) != len(positive) {
		panic(&tensor.ShapeError{Op: "train.AUC", Shapes: [][]int{{len(scores)}, {len(positive)}}, Why: "each score is of a positive or of a negative"})
	}
	order := make([]ranked, len(scores))
	for i, v := range scores {
		if math.IsNaN(v) {
			return false
		}
		key := math.Float64bits(v + 0) // of −0, too, that of 0
		if key>>63 == 1 {
			key = ^key
		} else {
			key |= 1 << 63
		}
		order[i] = ranked{key, positive[i]}
	}
	order = byKey(order)
	for i := 0; i < len(order); {
		var n [2]int
		at := order[i].key
		for ; i < len(order) && order[i].key == at; i++ {
			if order[i].positive {
				n[1]++
			} else {
				n[0]++
			}
		}
		f(n[1], n[0])
	}
	return true
}

// ranked is a score whose bits are in its order, and whether it is that of a positive.
type ranked struct {
	key      uint64
	positive bool
}

// byKey returns what all holds in ascending order; both may share memory. Many are sorted digit by digit, without comparisons: an
// evaluation after each epoch is to cost less than the epoch.
func byKey(all []ranked) []ranked {
	const few, bits = 1 << 10, 11
	if len(all) < few {
		slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.key, b.key) })
		return all
	}
	other := make([]ranked, len(all))
	for shift := 0; shift < 64; shift += bits {
		var at [1 << bits]int
		for _, r := range all {
			at[r.key>>shift&(1<<bits-1)]++
		}
		if at[all[0].key>>shift&(1<<bits-1)] == len(all) {
			continue // all have this digit: numbers of 32 bits have zeros there
		}
		sum := 0
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, r := range all {
			d := r.key >> shift & (1<<bits - 1)
			other[at[d]] = r
			at[d]++
		}
		all, other = other, all
	}
	return all
}

// ClassAUC returns, for each class, the [AUC] of its probability softmax(row)
// against all other classes. Its arguments are those of [Measure].
func ClassAUC(logits *tensor.Dense, labels []int32) []float64 {
	var ps [][]float64
	var truth []int
	d := labelled{logits, labels}
	d.check("train.ClassAUC")
	d.each(func(row []tensor.Float, label int) {
		ps = append(ps, probabilities(row))
		truth = append(truth, label)
	})
	return columns(logits.RowLen(), ps, func(i, c int) bool { return truth[i] == c })
}

// LabelAUC returns the [AUC] of each class where a row may have any number of
// labels. Its arguments are those of [CountLabels]. The ROC-AUC of the Open Graph
// Benchmark is the mean of those that are not NaN.
func LabelAUC(logits, targets *tensor.Dense) []float64 {
	return tagged{logits, targets}.columns("train.LabelAUC", AUC)
}

// LabelAveragePrecision returns the [AveragePrecision] of each class where a row may
// have any number of labels; NaN of a class that all known rows have, or none, as
// LabelAUC does. Its arguments are those of [CountLabels].
func LabelAveragePrecision(logits, targets *tensor.Dense) []float64 {
	return tagged{logits, targets}.columns("train.LabelAveragePrecision", func(scores []float64, positive []bool) float64 {
		if !slices.Contains(positive, false) {
			return math.NaN()
		}
		return AveragePrecision(scores, positive)
	})
}

// columns returns what f makes of each column's scores whose target is known.
func (d tagged) columns(op string, f func(scores []float64, positive []bool) float64) []float64 {
	var xs, ys [][]tensor.Float
	d.check(op)
	d.each(func(x, y []tensor.Float) { xs, ys = append(xs, x), append(ys, y) })
	out := make([]float64, d.logits.RowLen())
	for c := range out {
		var scores []float64
		var positive []bool
		for i, y := range ys {
			if v := y[c]; v == v {
				scores, positive = append(scores, float64(xs[i][c])), append(positive, v != 0)
			}
		}
		out[c] = f(scores, positive)
	}
	return out
}

// columns returns the AUC of each column.
func columns(classes int, rows [][]float64, positive func(i, c int) bool) []float64 {
	out, scores, is := make([]float64, classes), make([]float64, len(rows)), make([]bool, len(rows))
	for c := range out {
		for i, row := range rows {
			scores[i], is[i] = row[c], positive(i, c)
		}
		out[c] = AUC(scores, is)
	}
	return out
}

func probabilities(row []tensor.Float) []float64 {
	top, sum := float64(slices.Max(row)), 0.0
	p := make([]float64, len(row))
	for i, v := range row {
		p[i] = math.Exp(float64(v) - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
