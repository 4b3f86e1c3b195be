package attention_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stops is many queries that stop somewhere along five keys, each with a loss; the last is that
// of running off.
type stops struct {
	g      *graph.Graph
	losses []float64
	from   int // where all of them begin
}

func newStops(n, from int) stops {
	return stops{graph.CompleteBipartite(5, n), []float64{1.4, 2.6, 0.5, 1.9, 2.2, 3}, from}
}

// weigh returns what Weigh does, of keys that are the scores.
func (s stops) weigh(t *grad.Tape, l *attention.Monotonic, keys *grad.Var) *grad.Var {
	l.R = grad.NewParam(1)
	q, last := tensor.New(s.g.NumDst(), 1), l.Start(t, s.g).Value()
	q.Fill(1)
	last.Zero()
	for v := range s.g.NumDst() {
		last.Row(5*v + s.from)[0] = 1
	}
	_, next := l.Weigh(t, attention.Look{Graph: s.g, Keys: keys}, grad.Const(q), grad.Const(last))
	return next
}

// of is the loss of each query that stopped for good.
func (s stops) of(next *grad.Var) *grad.Var {
	y := tensor.New(s.g.NumDst(), 1)
	for v := range y.Data {
		y.Data[v] = tensor.Float(s.losses[5])
		for u := range 5 {
			if next.Value().Row(5*v + u)[0] == 1 {
				y.Data[v] = tensor.Float(s.losses[u])
			}
		}
	}
	return grad.Const(y)
}

// The estimate from drawn stops is the gradient of the expected loss, which the recursion has
// exactly: from the first key and from a later one, with losses and not rewards.
func TestDrawnStopsAgainstExpectation(t *testing.T) {
	scores := tensor.Of([]tensor.Float{-0.5, 0.3, -1, 0.8, -0.2}, 5, 1)
	for _, from := range []int{0, 2} {
		s := newStops(1000, from)
		exact := newStops(1, from)
		tape := grad.NewTape(1)
		x := tape.Watch(scores)
		alpha := exact.weigh(tape, &attention.Monotonic{Score: attention.Dot{}, Noise: grad.Zero}, x)
		less := tensor.New(5, 1) // than running off
		for u := range less.Data {
			less.Data[u] = tensor.Float(s.losses[u] - s.losses[5])
		}
		want := tape.Backward(alpha.Mul(grad.Const(less)).Sum()).Of(x).Clone()

		l, baseline, got := &attention.Monotonic{Score: attention.Dot{}, Drawn: true}, &attention.Baseline{}, make([]float64, 5)
		const steps = 10
		for range steps {
			tape.Reset()
			x := tape.Watch(scores)
			next := s.weigh(tape, l, x)
			d := tape.Backward(l.LogP(attention.Alignment{Graph: s.g, Carried: next}).Reinforce(baseline.Advantage(s.of(next)))).Of(x)
			for u := range got {
				got[u] += float64(d.Data[u]) / steps
			}
		}
		for u := range got {
			if d := math.Abs(got[u] - float64(want.Data[u])); d > 0.04 { // four deviations
				t.Errorf("from %d, score %d: %v, by expectation %v", from, u, got[u], want.Data[u])
			}
			if u < from && got[u] != 0 {
				t.Errorf("from %d, score %d, which is not looked at, has a gradient", from, u)
			}
		}
	}
}

// The same seed stops at the same places, another one at others; where a tape does not record it
// is the first key whose p is above a half. Draws alone teach it where to stop.
func TestDrawnStopsLearn(t *testing.T) {
	s := newStops(60, 0)
	scores := tensor.Of([]tensor.Float{-0.5, 0.3, -1, 0.8, -0.2}, 5, 1)
	l := &attention.Monotonic{Score: attention.Dot{}, Drawn: true}
	stops := func(tape *grad.Tape) []tensor.Float {
		return slices.Clone(s.of(s.weigh(tape, l, grad.Const(scores))).Value().Data)
	}
	a := stops(grad.NewTape(1))
	if !slices.Equal(a, stops(grad.NewTape(1))) || slices.Equal(a, stops(grad.NewTape(2))) {
		t.Error("draws are not those of the seed")
	}
	for _, loss := range stops(grad.NewEval()) {
		if loss != 2.6 {
			t.Fatalf("an evaluation stops where the loss is %v, want the second key", loss)
		}
	}
	tape, baseline := grad.NewTape(1), &attention.Baseline{}
	for range 200 {
		tape.Reset()
		x := tape.Watch(scores)
		next := s.weigh(tape, l, x)
		d := tape.Backward(l.LogP(attention.Alignment{Graph: s.g, Carried: next}).Reinforce(baseline.Advantage(s.of(next)))).Of(x)
		for u := range scores.Data {
			scores.Data[u] -= d.Data[u]
		}
	}
	if got := s.of(s.weigh(nil, l, grad.Const(scores))).Value().Data[0]; got != 0.5 || baseline.Mean > 0.8 {
		t.Errorf("it stops where the loss is %v, want 0.5; the mean of the last draws is %v", got, baseline.Mean)
	}
}

// In a network the draws of all steps are in one sweep: each step stops once at most and not
// before the step before, and the scores alone have a gradient by LogP.
func TestDrawnStopsOfNetwork(t *testing.T) {
	l := &attention.Monotonic{Score: &attention.Additive{Key: twice, Query: hidden, Hidden: 4}, Drawn: true}
	net := newRNNsearch(l)
	source, tokens, target, fed := batched(somePairs)
	tape, baseline := grad.NewTape(3), &attention.Baseline{}
	logits, a := net.Apply(tape, source, tokens, target, fed)
	for i, m := range a.Matrices() {
		from := 0
		for step := range m.Rows() {
			at := slices.Index(m.Row(step), 1)
			for j, w := range m.Row(step) {
				if w != 0 && j != at || at >= 0 && at < from {
					t.Fatalf("pair %d, step %d: weights %v after a stop at %d", i, step, m.Row(step), from)
				}
			}
			from = max(from, at)
		}
	}
	each := grad.CrossEntropy{Reduction: grad.EachLoss}.Of(logits, make([]int32, len(fed)))
	logp := l.LogP(a)
	if logp.Dim(0) != len(fed) || slices.Max(logp.Value().Data) > 0 {
		t.Errorf("%d logarithms for %d steps: %v", logp.Dim(0), len(fed), logp.Value().Data)
	}
	grads := tape.Backward(each.Mean().Add(logp.Reinforce(baseline.Advantage(attention.ToGo(target, each)))))
	for _, d := range grads.Param(l.Score.(*attention.Additive).V).Data {
		if d == 0 || d != d {
			t.Errorf("the score's gradient is %v", d)
		}
	}
	l.Drawn = false
	if got := refusal(t, func() { l.LogP(a) }); !strings.Contains(got, "set Drawn") {
		t.Error(got)
	}
}

// A step answers for its loss and those after it in its chain.
func TestToGo(t *testing.T) {
	losses := grad.Const(tensor.Of([]tensor.Float{1, 2, 4, 8, 16}, 5))
	g := graph.Chains(3, 0, 2)
	compare.Equal(t, "chains", attention.ToGo(g, losses).Value().Data, []tensor.Float{7, 6, 4, 24, 16})
	compare.Equal(t, "reversed", attention.ToGo(graph.Reverse(g), losses).Value().Data, []tensor.Float{1, 3, 7, 8, 24})
	if got := refusal(t, func() { attention.ToGo(graph.Chains(3), losses) }); !strings.Contains(got, "a loss for each node") {
		t.Error(got)
	}
}
