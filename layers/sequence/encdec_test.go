package sequence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func newEncoderDecoder() *sequence.EncoderDecoder {
	l := &sequence.EncoderDecoder{Source: 7, Target: 6, Begin: 1, Embed: 3, Hidden: 4, Maxout: 2}
	rng := rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	for _, p := range []*grad.Param{l.B, l.BG, l.Encoder.B} {
		p.Value.Normal(rng, 0, 1)
	}
	return l
}

// The formula of the comment as loops over one pair.
func encoderDecoderLoops(l *sequence.EncoderDecoder, source, fed []int32) [][]float64 {
	mul := func(x []float64, w *grad.Param, at, n int) []float64 {
		y := make([]float64, n)
		for i, v := range x {
			for j := range y {
				y[j] += v * float64(w.Value.Row(i)[at+j])
			}
		}
		return y
	}
	add := func(xs ...[]float64) []float64 {
		y := make([]float64, len(xs[0]))
		for _, x := range xs {
			for i, v := range x {
				y[i] += v
			}
		}
		return y
	}
	each := func(x []float64, f func(float64) float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = f(v)
		}
		return y
	}
	vec := func(p *grad.Param, at, n int) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(p.Value.Data[at+i])
		}
		return y
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	row := func(p *grad.Param, i int32) []float64 { return vec(p, int(i)*p.Value.Dim(1), p.Value.Dim(1)) }
	m, e := l.Hidden, l.Encoder
	h := make([]float64, m)
	for _, w := range source {
		x := row(l.SourceEmbed, w)
		gate := func(at int) []float64 {
			return each(add(mul(x, e.W, at, m), mul(h, e.U, at, m), vec(e.B, at, m)), sigmoid)
		}
		r, z := gate(0), gate(m)
		rh := make([]float64, m)
		for j := range rh {
			rh[j] = r[j] * h[j]
		}
		n := each(add(mul(x, e.W, 2*m, m), mul(rh, e.U, 2*m, m), vec(e.B, 2*m, m)), math.Tanh)
		for j := range h {
			h[j] = (1-z[j])*n[j] + z[j]*h[j]
		}
	}
	c := each(mul(h, l.V, 0, m), math.Tanh)
	h = each(mul(c, l.VOut, 0, m), math.Tanh)
	var out [][]float64
	for _, w := range fed {
		x := make([]float64, l.Embed)
		if w != l.Begin {
			x = row(l.TargetEmbed, w)
		}
		past := func(at int) []float64 { return add(mul(h, l.U, at, m), mul(c, l.C, at, m)) }
		now := func(at int) []float64 { return add(mul(x, l.W, at, m), vec(l.B, at, m)) }
		r, z := each(add(now(0), past(0)), sigmoid), each(add(now(m), past(m)), sigmoid)
		q := past(2 * m)
		for j := range q {
			q[j] *= r[j]
		}
		n := each(add(now(2*m), q), math.Tanh)
		next := make([]float64, m)
		for j := range h {
			next[j] = (1-z[j])*n[j] + z[j]*h[j]
		}
		h = next
		k := 2 * l.Maxout
		s := add(mul(h, l.OutH, 0, k), mul(x, l.OutY, 0, k), mul(c, l.OutC, 0, k))
		units := make([]float64, l.Maxout)
		for j := range units {
			units[j] = max(s[2*j], s[2*j+1])
		}
		out = append(out, add(mul(units, l.G, 0, l.Target), vec(l.BG, 0, l.Target)))
	}
	return out
}

// A ragged batch gives what the formula gives for each pair, and step by step it is the same
// to the bit.
func TestEncoderDecoder(t *testing.T) {
	l := newEncoderDecoder()
	sources, fed := [][]int32{{3, 4, 5}, {6}, {2, 2, 3, 6, 5}, {}}, [][]int32{{1, 3}, {1, 5, 4, 2}, {1}, {1, 2}}
	lengths := func(xs [][]int32) (n []int, all []int32) {
		for _, x := range xs {
			n, all = append(n, len(x)), append(all, x...)
		}
		return n, all
	}
	ns, st := lengths(sources)
	nf, ft := lengths(fed)
	sg, fg := graph.Chains(ns...), graph.Chains(nf...)
	y := l.Forward(grad.NewEval(), sg, st, fg, ft).Value()
	at := 0
	for i := range sources {
		for k, want := range encoderDecoderLoops(l, sources[i], fed[i]) {
			compare.Near(t, fmt.Sprintf("pair %d, step %d", i, k), y.Row(at), want, compare.Off(1e-5, 0))
			at++
		}
	}
	tape := grad.NewEval()
	state := l.Start(tape, l.Encode(tape, sg, st))
	for k := range 4 {
		last := make([]int32, len(fed))
		for i, f := range fed {
			last[i] = f[min(k, len(f)-1)]
		}
		var logits *grad.Var
		logits, state = l.Step(tape, last, state)
		at := 0
		for i, f := range fed {
			if k < len(f) {
				for j, v := range y.Row(at + k) {
					if logits.Value().Row(i)[j] != v {
						t.Fatalf("pair %d: step %d alone has the logits %v, in a sweep %v", i, k, logits.Value().Row(i), y.Row(at+k))
					}
				}
			}
			at += len(f)
		}
	}
}

// What is fed at a step reaches no logits before it, and c reaches all, through each of its
// four ways.
func TestEncoderDecoderReach(t *testing.T) {
	l := newEncoderDecoder()
	run := func(source, fed []int32) *tensor.Dense {
		return l.Forward(grad.NewEval(), graph.Chains(len(source)), source, graph.Chains(len(fed)), fed).Value()
	}
	a, b := run([]int32{3, 4}, []int32{1, 2, 3, 4}), run([]int32{3, 4}, []int32{1, 2, 5, 4})
	for k := range 4 {
		same := true
		for j, v := range a.Row(k) {
			same = same && v == b.Row(k)[j]
		}
		if same != (k < 2) {
			t.Errorf("another token at step 2: the logits of step %d are the same: %v", k, same)
		}
	}
	m := l.Hidden
	for name, zero := range map[string]func(){
		"O_c": func() { l.OutC.Value.Zero() },
		"V'":  func() { l.VOut.Value.Zero() },
		"C_n": func() {
			for i := range m {
				clear(l.C.Value.Row(i)[2*m:])
			}
		},
		"C_z": func() {
			for i := range m {
				clear(l.C.Value.Row(i)[m : 2*m])
			}
		},
		"C_r": func() {
			for i := range m {
				clear(l.C.Value.Row(i)[:m])
			}
		},
	} {
		before := run([]int32{3, 4}, []int32{1, 2})
		zero()
		after := run([]int32{3, 4}, []int32{1, 2})
		for k := range 2 {
			if before.Row(k)[0] == after.Row(k)[0] {
				t.Errorf("without %s the logits of step %d are the same", name, k)
			}
		}
		l = newEncoderDecoder()
	}
}

// Of random targets nothing is to be known, unless a step is fed what it is to say: then the
// loss falls to nothing. So a decoder that sees its own target cannot pass for one that learns.
func TestEncoderDecoderSeesNoTarget(t *testing.T) {
	const words, length = 4, 6
	g := graph.Chains(slices.Repeat([]int{length}, 8)...)
	learn := func(leak bool) (loss float64) {
		l := &sequence.EncoderDecoder{Source: words, Target: words, Embed: 8, Hidden: 8, Maxout: 8}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		tape, opt, rng := grad.NewTape(1), &train.Adam{LR: 0.03}, rand.New(rand.NewPCG(2, 2))
		for range 60 {
			source, want, fed := make([]int32, g.NumNodes()), make([]int32, g.NumNodes()), make([]int32, g.NumNodes())
			for v := range want {
				source[v], want[v] = rng.Int32N(words), rng.Int32N(words)
				if fed[v] = want[v]; !leak {
					fed[v] = l.Begin
					if v%length > 0 {
						fed[v] = want[v-1]
					}
				}
			}
			tape.Reset()
			cost := l.Forward(tape, g, source, g, fed).CrossEntropy(want)
			loss = float64(cost.Value().Data[0])
			opt.Step(tape.Backward(cost))
		}
		return loss
	}
	if honest, leaky := learn(false), learn(true); !(honest > 1.2 && leaky < 0.4) {
		t.Errorf("the loss of random targets is %.3f, want ln 4; fed them, %.3f, want almost none", honest, leaky)
	}
}

// Every Param has the gradient that differences give, with dropout too, which changes what
// is trained and not what is evaluated.
func TestEncoderDecoderGradient(t *testing.T) {
	l := newEncoderDecoder()
	sg, fg := graph.Chains(2, 3), graph.Chains(3, 2)
	run := func(tape *grad.Tape) *grad.Var {
		return l.Forward(tape, sg, []int32{3, 4, 5, 6, 3}, fg, []int32{1, 2, 3, 1, 4}).CrossEntropy([]int32{2, 3, 0, 4, 0})
	}
	gradtest.Check(t, l, run)
	trained, evaluated := run(grad.NewTape(1)).Value().Data[0], run(grad.NewEval()).Value().Data[0]
	l.Dropout = 0.5
	gradtest.Check(t, l, run)
	if run(grad.NewTape(1)).Value().Data[0] == trained {
		t.Error("nothing was dropped")
	}
	if run(grad.NewEval()).Value().Data[0] != evaluated {
		t.Error("something was dropped in an evaluation")
	}
}

// Bad input is refused in the name of the layer, with what is wrong and what to do.
func TestEncoderDecoderMisuse(t *testing.T) {
	l := newEncoderDecoder()
	two := []int32{2, 2}
	state := func(rows, columns int) message.State {
		return message.State{grad.Const(tensor.New(rows, columns)), grad.Const(tensor.New(rows, columns))}
	}
	for want, f := range map[string]func(){
		"there are 1 targets for 2 sources":      func() { l.Forward(nil, graph.Chains(1, 1), two, graph.Chains(2), two) },
		"the source graph has 2 nodes":           func() { l.Forward(nil, graph.Chains(2), two[:1], graph.Chains(2), two) },
		"the target graph has 2 nodes":           func() { l.Forward(nil, graph.Chains(2), two, graph.Chains(2), two[:1]) },
		"source token 1 is 7, and Source is 7":   func() { l.Forward(nil, graph.Chains(2), []int32{2, 7}, graph.Chains(1), two[:1]) },
		"source token 0 is -1":                   func() { l.Encode(nil, graph.Chains(1), []int32{-1}) },
		"target token 0 is 6, and Target is 6":   func() { l.Forward(nil, graph.Chains(1), two[:1], graph.Chains(1), []int32{6}) },
		"target token 1 is 9":                    func() { l.Step(nil, []int32{2, 9}, state(2, l.Hidden)) },
		"wants 2 rows, one a token":              func() { l.Step(nil, two, state(1, l.Hidden)) },
		"and 4 columns, Hidden; begin with Star": func() { l.Step(nil, two, state(2, l.Hidden+1)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), "sequence.EncoderDecoder: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
	for want, f := range map[string]func(){
		"begin with Start":    func() { l.Step(nil, two, nil) },
		"was Init called":     func() { (&sequence.EncoderDecoder{Source: 4, Target: 4}).Encode(nil, graph.Chains(1), two[:1]) },
		"h' and c; begin wit": func() { l.Step(nil, two, message.State{nil, nil}) },
	} {
		if e := misused(f); e == nil || e.Op != "sequence.EncoderDecoder" || !strings.Contains(e.Why, want) {
			t.Errorf("got %v, want a TapeError about %q", e, want)
		}
	}
	if y := l.Forward(nil, graph.Chains(), nil, graph.Chains(), nil); y.Dim(0) != 0 || y.Dim(1) != l.Target {
		t.Errorf("no pairs give the shape %v", y.Shape())
	}
}
