package decode

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// run is one search under way.
type run struct {
	search *Search
	beam   Beam
	draw   *Sample // nil: the likeliest

	tapes  [2]*grad.Tape // of even and odd steps
	live   Live
	next   Live    // those after the step, but their state
	rows   rows    // what the live ones may take
	parent []int32 // of those in next, the row in live
	over   [][]outcome
	top    top
	taken  []choice
}

// run finds the sequences of every sentence.
func (s *Search) run(b Beam, d *Sample) ([][]Sequence, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r := &s.work
	r.search, r.beam, r.draw = s, b, d
	r.begin()
	for r.live.Len() > 0 {
		if err := r.step(); err != nil {
			return nil, err
		}
	}
	return r.results(), nil
}

// begin makes each sentence a hypothesis without a token.
func (r *run) begin() {
	s := r.search
	n := len(s.Begin)
	checkState("decode.Search.State", s.State, n, true)
	w := s.Weights
	if w == nil {
		w = new(grad.Weights)
	}
	for i := range r.tapes {
		if r.tapes[i] == nil {
			r.tapes[i] = grad.NewEval()
		}
		r.tapes[i].UseWeights(w)
	}
	l := &r.live
	l.Step, l.Last = 0, append(l.Last[:0], s.Begin...)
	l.Sentence, l.hyps = grow(l.Sentence, n), grow(l.hyps, n)
	for i := range n {
		l.Sentence[i], l.hyps[i] = int32(i), hyp{at: -1}
	}
	l.past.token, l.past.before = l.past.token[:0], l.past.before[:0]
	r.over = grow(r.over, n)
	for i := range r.over {
		r.over[i] = r.over[i][:0]
	}
	if n == 0 {
		return
	}
	l.State = l.State[:0]
	r.tapes[0].Reset()
	for _, v := range s.State {
		x := r.tapes[0].Input(v.Value())
		if v.Dim(0) != n {
			x = x.Rows(make([]int32, n)) // the one row is everybody's
		}
		l.State = append(l.State, x)
	}
}

// step takes every live hypothesis a token further.
func (r *run) step() error {
	l := &r.live
	n, t := l.Len(), r.tapes[l.Step%2]
	if l.Step > 0 {
		t.Reset()
		r.next.State = enter(t, l.State, r.next.State, r.parent)
		l.State, r.next.State = r.next.State, l.State
	}
	logits, after := r.search.Step(t, l)
	x := logits.Value()
	if x.Axes() != 2 || x.Rows() != n || x.Dim(1) < 1 {
		panic(&tensor.ShapeError{Op: "decode.Step", Shapes: [][]int{slices.Clone(x.Shape()), {n}}, Why: "the logits want a row for each hypothesis, of one element a token"})
	}
	checkState("decode.Step", after, n, false)
	if v := x.Dim(1); int(r.search.End) >= v {
		return fmt.Errorf("decode: Search.End is %d, and the step has logits for %d tokens; NoEnd is the end that never comes", r.search.End, v)
	}
	r.rows.read(r, x, n)
	l.State = append(l.State[:0], after...)

	r.parent = r.parent[:0]
	r.next.Last, r.next.Sentence, r.next.hyps = r.next.Last[:0], r.next.Sentence[:0], r.next.hyps[:0]
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && l.Sentence[hi] == l.Sentence[lo] {
			hi++
		}
		if err := r.sentence(lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	l.Last, r.next.Last = r.next.Last, l.Last
	l.Sentence, r.next.Sentence = r.next.Sentence, l.Sentence
	l.hyps, r.next.hyps = r.next.hyps, l.hyps
	l.Step++
	return nil
}

// sentence takes the tokens of the sentence whose hypotheses are rows lo to hi.
func (r *run) sentence(lo, hi int) error {
	l, s := &r.live, int(r.live.Sentence[lo])
	if err := r.choose(s, lo, hi); err != nil {
		return err
	}
	first, longest := len(r.parent), r.search.longest(s)
	for _, c := range r.taken {
		h := l.hyps[c.row]
		if c.token == r.search.End {
			r.over[s] = append(r.over[s], outcome{h.at, true, c.score, r.beam.score(c.score, l.Step+1)})
			continue
		}
		at := l.past.add(c.token, h.at)
		if l.Step+1 == longest {
			r.over[s] = append(r.over[s], outcome{at, false, c.score, r.beam.score(c.score, longest)})
			continue
		}
		r.parent = append(r.parent, c.row)
		r.next.Last, r.next.Sentence = append(r.next.Last, c.token), append(r.next.Sentence, int32(s))
		r.next.hyps = append(r.next.hyps, hyp{c.score, at})
	}
	if len(r.parent) > first && r.beam.enough(r.over[s], r.next.hyps[first].logProb, l.Step+1, longest) {
		r.parent = r.parent[:first]
		r.next.Last, r.next.Sentence, r.next.hyps = r.next.Last[:first], r.next.Sentence[:first], r.next.hyps[:first]
	}
	return nil
}

// choose finds what rows lo to hi of sentence s take, the likeliest first.
func (r *run) choose(s, lo, hi int) error {
	r.top.begin(r.places(s), r.taken)
	for i := lo; i < hi; i++ {
		if why := r.rows.why[i]; why != "" {
			return &StepError{s, r.live.Step, why}
		}
		for _, c := range r.rows.choices[i*r.rows.room:][:r.rows.count[i]] {
			if r.top.full() && c.score < r.top.heap[0].score {
				break // so are those after it
			}
			r.top.show(c)
		}
	}
	if r.taken = r.top.sorted(); len(r.taken) == 0 && len(r.over[s]) == 0 {
		return &StepError{s, r.live.Step, "every token of every hypothesis is forbidden or has a logit of −Inf; leave one that may be taken, such as End"}
	}
	return nil
}

// places is how many live hypotheses sentence s may have.
func (r *run) places(s int) int { return r.beam.Width - len(r.over[s]) }

// forced returns the token that row i has to take, or −1.
func (r *run) forced(i int) int32 {
	if p := r.search.prefix(int(r.live.Sentence[i])); r.live.Step < len(p) {
		return p[r.live.Step]
	}
	return -1
}

// results returns the sequences of every sentence, the best first.
func (r *run) results() [][]Sequence {
	out := make([][]Sequence, len(r.over))
	for s, over := range r.over {
		rank(over)
		for _, o := range over[:min(len(over), r.beam.Best)] {
			out[s] = append(out[s], Sequence{Tokens: r.live.past.tokens(o.at, nil), LogProb: o.logProb, Score: o.score, Ended: o.ended})
		}
	}
	return out
}
