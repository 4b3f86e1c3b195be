package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// machine returns an NTM whose weights are large enough for its heads to turn.
func machine(seed uint64, n memory.NTM) *memory.NTM {
	rng := rand.New(rand.NewPCG(seed, 7))
	n.Init(rng)
	for _, p := range grad.Params(&n) {
		for i := range p.Value.Data {
			p.Value.Data[i] += tensor.Float(0.5 * rng.NormFloat64())
		}
	}
	return &n
}

func normal(seed uint64, n, d int) *tensor.Dense {
	x := tensor.New(n, d)
	x.Normal(rand.New(rand.NewPCG(seed, 8)), 0, 1)
	return x
}

// scalars is a Turing machine as loops over numbers, of one sentence.
type scalars struct {
	n       *memory.NTM
	m, w    [][]float64 // slots×width, heads×slots
	r, h, c []float64
	reads   int
	writes  int
	shifts  int
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softmaxOf(xs []float64) []float64 {
	out, sum := make([]float64, len(xs)), 0.0
	for i, x := range xs {
		out[i] = math.Exp(x - slices.Max(xs))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// times is x·W + b.
func times(x []float64, w, b *grad.Param) []float64 {
	out := make([]float64, w.Value.Dim(1))
	for j := range out {
		if b != nil {
			out[j] = float64(b.Value.Data[j])
		}
		for i, v := range x {
			out[j] += v * float64(w.Value.Row(i)[j])
		}
	}
	return out
}

func newScalars(n *memory.NTM) *scalars {
	s := &scalars{n: n, reads: max(1, n.Reads), writes: max(1, n.Writes), shifts: max(1, n.Shifts), h: make([]float64, n.Hidden), c: make([]float64, n.Hidden)}
	for range n.Slots {
		s.m = append(s.m, slices.Repeat([]float64{1e-6}, n.Width))
	}
	for h := range s.reads + s.writes {
		var row []float64
		for _, v := range n.StartAt.Value.Row(h) {
			row = append(row, float64(v))
		}
		s.w = append(s.w, softmaxOf(row))
	}
	for _, v := range n.StartRead.Value.Data {
		s.r = append(s.r, float64(v))
	}
	return s
}

func (s *scalars) control(x []float64) {
	in := append(slices.Clone(x), s.r...)
	if s.n.Layer != nil {
		s.h = times(in, s.n.Layer.W, s.n.Layer.B)
		for j := range s.h {
			s.h[j] = math.Tanh(s.h[j])
		}
		return
	}
	z, u := times(in, s.n.LSTM.W, s.n.LSTM.B), times(s.h, s.n.LSTM.U, nil)
	m := s.n.Hidden
	for j := range m {
		gate := func(k int) float64 { return z[k*m+j] + u[k*m+j] }
		s.c[j] = logistic(gate(1))*s.c[j] + logistic(gate(0))*math.Tanh(gate(2))
		s.h[j] = logistic(gate(3)) * math.Tanh(s.c[j])
	}
}

// address moves head h over the memory as it is.
func (s *scalars) address(h int, said []float64) {
	d, n := s.n.Width, s.n.Slots
	score, kk := make([]float64, n), 0.0
	for j := range d {
		kk += math.Pow(math.Tanh(said[j]), 2)
	}
	beta, gate, gamma := math.Log1p(math.Exp(said[d])), logistic(said[d+1]), 1+math.Log1p(math.Exp(said[d+2]))
	for i := range n {
		dot, mm := 0.0, 0.0
		for j := range d {
			dot += math.Tanh(said[j]) * s.m[i][j]
			mm += s.m[i][j] * s.m[i][j]
		}
		score[i] = beta * dot / math.Sqrt((kk+1e-12)*(mm+1e-12))
	}
	content, shift := softmaxOf(score), softmaxOf(said[d+3:d+4+2*s.shifts])
	sharp := make([]float64, n)
	for i := range n {
		w := 0.0
		for j := range n {
			for o := -s.shifts; o <= s.shifts; o++ {
				if ((i-j-o)%n+n)%n == 0 {
					w += (gate*content[j] + (1-gate)*s.w[h][j]) * shift[o+s.shifts]
				}
			}
		}
		sharp[i] = gamma * math.Log(w+1e-12)
	}
	s.w[h] = softmaxOf(sharp)
}

func (s *scalars) step(x []float64) (y []float64) {
	s.control(x)
	said := times(s.h, s.n.Say.W, s.n.Say.B)
	heads, d := s.reads+s.writes, s.n.Width
	each := d + 4 + 2*s.shifts
	for h := range s.writes {
		s.address(h, said[h*each:(h+1)*each])
	}
	for i := range s.m {
		for j := range d {
			for h := range s.writes {
				s.m[i][j] *= 1 - s.w[h][i]*logistic(said[heads*each+h*d+j])
			}
			for h := range s.writes {
				s.m[i][j] += s.w[h][i] * math.Tanh(said[heads*each+(s.writes+h)*d+j])
			}
		}
	}
	s.r = make([]float64, s.reads*d)
	for k := range s.reads {
		h := s.writes + k
		s.address(h, said[h*each:(h+1)*each])
		for i := range s.m {
			for j := range d {
				s.r[k*d+j] += s.w[h][i] * s.m[i][j]
			}
		}
	}
	return times(append(slices.Clone(s.h), s.r...), s.n.Answer.W, s.n.Answer.B)
}

func (s *scalars) compare(t *testing.T, what string, y []float64, gotY []tensor.Float, got message.State, row int) {
	t.Helper()
	tolerance := compare.In(2e-4, 1e-9)
	mem, at := s.n.Memory(got), s.n.Weights(got).Value()
	compare.Near(t, what+": y", gotY, y, compare.Off(10*tolerance, 0))
	for i, m := range s.m {
		compare.Near(t, fmt.Sprintf("%s: slot %d", what, i), mem.Row(row)[i*s.n.Width:][:len(m)], m, compare.Off(tolerance, 0))
	}
	for h, w := range s.w {
		compare.Near(t, fmt.Sprintf("%s: head %d", what, h), at.Row(row)[h*s.n.Slots:][:len(w)], w, compare.Off(tolerance, 0))
	}
}

// A hundred machines of all sizes against loops over numbers, for some steps.
func TestNTMIsItsFormula(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := machine(seed, memory.NTM{
			In: 1 + rng.IntN(3), Out: 1 + rng.IntN(3), Hidden: 1 + rng.IntN(6), Slots: 1 + rng.IntN(9), Width: 1 + rng.IntN(5),
			Reads: rng.IntN(3), Writes: rng.IntN(3), Shifts: rng.IntN(3),
			Controller: []memory.Controller{memory.LSTMController, memory.FeedForwardController}[rng.IntN(2)],
		})
		x, one, s := normal(seed, 4, n.In), newScalars(n), n.Start(nil)
		for step := range 4 {
			row := make([]float64, n.In)
			for j, v := range x.Row(step) {
				row[j] = float64(v)
			}
			var y *grad.Var
			y, s = n.Step(nil, grad.Const(x.RowRange(step, step+1)), s)
			one.compare(t, fmt.Sprintf("seed %d, step %d", seed, step), one.step(row), y.Value().Data, s, 0)
		}
	}
}

// The gradient of all that three steps leave: outputs, memory and weights.
func TestNTMGradient(t *testing.T) {
	for seed, n := range []*memory.NTM{
		machine(1, memory.NTM{In: 2, Out: 2, Hidden: 3, Slots: 4, Width: 3}),
		machine(2, memory.NTM{In: 2, Out: 1, Hidden: 3, Slots: 5, Width: 2, Reads: 2, Writes: 3, Shifts: 2, Controller: memory.FeedForwardController}),
	} {
		g, x := graph.Chains(3, 1, 2), normal(uint64(seed), 6, 2)
		gradtest.Check(t, n, func(tape *grad.Tape) *grad.Var {
			y, s := n.ForwardFrom(tape, g, tape.Input(x), nil)
			return y.Tanh().Sum().Add(s[0].Sin().Sum()).Add(n.Weights(s).Square().Sum())
		})
	}
	model := &struct{ M, W, R, H *grad.Param }{grad.NewParam(2, 12), grad.NewParam(2, 8), grad.NewParam(2, 3), grad.NewParam(2, 3)}
	for i, p := range []*grad.Param{model.M, model.W, model.R, model.H} {
		copy(p.Value.Data, normal(uint64(10+i), 1, len(p.Value.Data)).Data)
	}
	n := machine(3, memory.NTM{In: 2, Out: 2, Hidden: 3, Slots: 4, Width: 3, Controller: memory.FeedForwardController})
	gradtest.Check(t, model, func(tape *grad.Tape) *grad.Var {
		at := tape.Use(model.W).Reshape(2, 2, 4).Softmax().Reshape(2, 8)
		s := message.State{tape.Use(model.M), at, tape.Use(model.R), tape.Use(model.H)}
		y, s := n.Step(tape, tape.Input(normal(20, 2, 2)), s)
		return y.Tanh().Sum().Add(s[0].Sin().Sum()).Add(s[1].Square().Sum()).Add(tape.Use(model.H).Sum())
	})
}

// Sentences of all lengths together are each by itself, and step by step, to the bit.
func TestNTMBatch(t *testing.T) {
	for _, c := range []memory.Controller{memory.LSTMController, memory.FeedForwardController} {
		n := machine(4, memory.NTM{In: 3, Out: 2, Hidden: 5, Slots: 6, Width: 4, Reads: 2, Controller: c})
		lengths := []int{2, 5, 1, 0, 3}
		x := normal(5, 11, 3)
		all, end := n.ForwardFrom(nil, graph.Chains(lengths...), grad.Const(x), nil)
		at := 0
		for i, length := range lengths {
			own, _ := n.ForwardFrom(nil, graph.Chains(length), grad.Const(x.RowRange(at, at+length)), nil)
			if !slices.Equal(own.Value().Data, all.Value().RowRange(at, at+length).Data) {
				t.Errorf("%q: sentence %d alone is another", c, i)
			}
			s := n.Start(nil)
			for k := range length {
				var y *grad.Var
				y, s = n.Step(nil, grad.Const(x.RowRange(at+k, at+k+1)), s)
				if !slices.Equal(y.Value().Data, all.Value().Row(at+k)) || !slices.Equal(s[0].Value().Data, end[0].Value().Row(at+k)) {
					t.Errorf("%q: step %d of sentence %d is another", c, k, i)
				}
			}
			at += length
		}
	}
}

// sure has a machine's one head of each kind be told the same at every step, whatever it reads.
func sure(slots, width int, told func(write, read []tensor.Float, erase, add []tensor.Float)) *memory.NTM {
	n := &memory.NTM{In: 1, Out: 1, Hidden: 2, Slots: slots, Width: width, Controller: memory.FeedForwardController}
	n.Init(rand.New(rand.NewPCG(1, 1)))
	clear(n.Say.W.Value.Data)
	b, each := n.Say.B.Value.Data, width+6
	told(b[:each], b[each:2*each], b[2*each:2*each+width], b[2*each+width:])
	return n
}

const beyondDoubt = 1e4

// stay has a head keep its weights: gate shut, no shift, sharpening of one.
func stay(head []tensor.Float, width, shift int) {
	head[width+1], head[width+2], head[width+4+shift] = -beyondDoubt, -beyondDoubt, beyondDoubt
}

// at is a state with both heads at given weights and a given memory, a slot after the other.
func at(n *memory.NTM, w, m []tensor.Float) message.State {
	s := n.Start(nil)
	across := tensor.New(1, len(m))
	for i, v := range m {
		across.Data[i%n.Width*n.Slots+i/n.Width] = v
	}
	s[0], s[1] = grad.Const(across), grad.Const(tensor.Of(slices.Concat(w, w), 1, 2*n.Slots))
	return s
}

// A shift by +1 moves the focus to the next slot, and from the last to the first.
func TestNTMShiftDirection(t *testing.T) {
	n := sure(5, 2, func(write, read, _, _ []tensor.Float) { stay(write, 2, 0); stay(read, 2, 1) })
	for i := range 5 {
		w := make([]tensor.Float, 5)
		w[i] = 1
		_, s := n.Step(nil, grad.Const(tensor.New(1, 1)), at(n, w, make([]tensor.Float, 10)))
		got := n.Weights(s).Value().Data
		want := make([]tensor.Float, 5)
		want[(i+1)%5] = 1
		compare.Near(t, "the head that stays", got[:5], w, compare.Off(1e-6, 0))
		compare.Near(t, "the head that moves", got[5:], want, compare.Off(1e-6, 0))
	}
}

// One step from a known place, told to do a known thing.
func TestNTMAddressing(t *testing.T) {
	x, w := grad.Const(tensor.New(1, 1)), []tensor.Float{0.5, 0.2, 0.2, 0.1}
	m := []tensor.Float{1, 0, 0, 1, -1, 0, 0, -1}
	weights := func(n *memory.NTM, w []tensor.Float) []tensor.Float {
		_, s := n.Step(nil, x, at(n, w, m))
		return n.Weights(s).Value().Data[4:]
	}
	same := sure(4, 2, func(write, read, _, _ []tensor.Float) { stay(write, 2, 0); stay(read, 2, 0) })
	compare.Near(t, "sharpened by 1", weights(same, w), w, compare.Off(1e-6, 0))
	flat := slices.Repeat([]tensor.Float{0.25}, 4)
	sharp := sure(4, 2, func(write, read, _, _ []tensor.Float) { stay(write, 2, 0); stay(read, 2, 0); read[4] = 49 })
	compare.Near(t, "equal weights sharpened by 50", weights(sharp, flat), flat, compare.Off(1e-6, 0))
	compare.Near(t, "noughts sharpened", weights(sharp, make([]tensor.Float, 4)), flat, compare.Off(1e-6, 0))
	weak := sure(4, 2, func(write, read, _, _ []tensor.Float) {
		stay(write, 2, 0)
		stay(read, 2, 0)
		read[0], read[2], read[3] = 1, -beyondDoubt, beyondDoubt
	})
	compare.Near(t, "of a strength of nought", weights(weak, w), flat, compare.Off(1e-6, 0))
}

// Nothing is erased and nothing added: the memory stays. All is erased at one slot: it holds
// what is added.
func TestNTMWriting(t *testing.T) {
	x, m := grad.Const(tensor.New(1, 1)), []tensor.Float{1, 2, 3, 4, 5, 6, 7, 8}
	one := []tensor.Float{0, 1, 0, 0}
	write := func(w []tensor.Float, e, a tensor.Float) []tensor.Float {
		n := sure(4, 2, func(write, read, erase, add []tensor.Float) {
			stay(write, 2, 0)
			erase[0], erase[1], add[0], add[1] = e, e, a, -a
		})
		_, s := n.Step(nil, x, at(n, w, m))
		return n.Memory(s).Data
	}
	if got := write([]tensor.Float{0.4, 0.3, 0.2, 0.1}, -beyondDoubt, 0); !slices.Equal(got, m) {
		t.Errorf("with no erase and no add the memory becomes %v", got)
	}
	compare.Near(t, "all erased at slot 1, and 1 and −1 added", write(one, beyondDoubt, beyondDoubt), []tensor.Float{1, 2, 1, -1, 5, 6, 7, 8}, compare.Off(1e-5, 0))
	compare.Near(t, "an erase that is told 10³⁰, which is not to be above 1", write(one, 1e30, 0), []tensor.Float{1, 2, 0, 0, 5, 6, 7, 8}, compare.Off(1e-5, 0))
}

// All erase before any adds: the order of the writing heads makes no difference.
func TestNTMWritersCommute(t *testing.T) {
	a := machine(6, memory.NTM{In: 2, Out: 2, Hidden: 4, Slots: 5, Width: 3, Writes: 2, Controller: memory.FeedForwardController})
	b := machine(6, *a)
	const each, width = 3 + 6, 3
	for _, p := range [][2]*grad.Param{{a.Say.W, b.Say.W}, {a.Say.B, b.Say.B}, {a.Layer.W, b.Layer.W}, {a.Layer.B, b.Layer.B}, {a.StartAt, b.StartAt},
		{a.StartRead, b.StartRead}, {a.Answer.W, b.Answer.W}, {a.Answer.B, b.Answer.B}} {
		copy(p[1].Value.Data, p[0].Value.Data)
	}
	swap := func(x []tensor.Float, at, length int) {
		for j := range length {
			x[at+j], x[at+length+j] = x[at+length+j], x[at+j]
		}
	}
	for r := range b.Say.W.Value.Rows() + 1 {
		row := b.Say.B.Value.Data
		if r < b.Say.W.Value.Rows() {
			row = b.Say.W.Value.Row(r)
		}
		swap(row, 0, each)
		swap(row, 3*each, width)
		swap(row, 3*each+2*width, width)
	}
	swap(b.StartAt.Value.Data, 0, 5)
	x, g := grad.Const(normal(7, 4, 2)), graph.Chains(4)
	_, one := a.ForwardFrom(nil, g, x, nil)
	_, two := b.ForwardFrom(nil, g, x, nil)
	compare.Near(t, "the memory of two writing heads the other way round", two[0].Value().Data, one[0].Value().Data, compare.Off(1e-4, 0))
	if compare.Differ(one[1].Value().Row(3)[:5], one[1].Value().Row(3)[5:10], compare.Off(1e-3, 0)) == nil {
		t.Error("both heads are at the same place: the test shows nothing")
	}
}

// Weights sum to one whatever is said, and a key or a memory of zeros has a gradient.
func TestNTMFinite(t *testing.T) {
	for _, size := range []tensor.Float{0, 1, 1e4} {
		n := machine(8, memory.NTM{In: 2, Out: 2, Hidden: 3, Slots: 7, Width: 3, Shifts: 2})
		for i := range n.Say.W.Value.Data {
			n.Say.W.Value.Data[i] *= size
		}
		for i := range n.Say.B.Value.Data {
			n.Say.B.Value.Data[i] *= size
		}
		tape := grad.NewTape(1)
		s := n.Start(tape)
		s[0] = tape.Input(tensor.New(1, 21))
		y, s := n.ForwardFrom(tape, graph.Chains(4, 2), tape.Input(normal(9, 6, 2)), s)
		w := n.Weights(s).Value()
		for r := range 6 * 2 {
			sum := 0.0
			for _, v := range w.Data[r*7 : (r+1)*7] {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("size %v: the weights of head %d sum to %v", size, r, sum)
			}
		}
		grads := tape.Backward(y.Square().Sum())
		for name, p := range grad.Params(n) {
			if d := grads.Param(p); d != nil && slices.ContainsFunc(d.Data, func(v tensor.Float) bool { return v-v != 0 }) {
				t.Errorf("size %v: the gradient of %s is not finite", size, name)
			}
		}
	}
}

// The loss hears the steps in which an answer is due, and no others.
func TestNTMLossIsMasked(t *testing.T) {
	b := text.Task{Count: 2, Min: 2, Max: 3, Symbols: 2, Seed: 3}.CopyBits()
	tape := grad.NewTape(1)
	y := tape.Watch(normal(11, b.X.Rows(), 2))
	d := tape.Backward(y.Rows(b.At).BCE(grad.Const(b.Answer))).Of(y)
	for r := range b.X.Rows() {
		if due := slices.Contains(b.At, int32(r)); due == slices.Equal(d.Row(r), []tensor.Float{0, 0}) {
			t.Errorf("an answer in step %d is due: %v; its gradient is %v", r, due, d.Row(r))
		}
	}
}

// No bit depends on the threads, forwards or backwards, of a batch that several of them share.
func TestNTMThreads(t *testing.T) {
	n := machine(15, memory.NTM{In: 2, Out: 2, Hidden: 4, Slots: 64, Width: 32, Writes: 2, Controller: memory.FeedForwardController})
	g, x := graph.Chains(2, 3, 3, 1, 3, 2, 3, 2, 3), normal(16, 22, 2)
	run := func(threads int) [][]tensor.Float {
		defer par.SetThreads(threads)()
		tape := grad.NewTape(1)
		y := n.Forward(tape, g, tape.Input(x))
		grads := tape.Backward(y.Square().Sum())
		out := [][]tensor.Float{slices.Clone(y.Value().Data)}
		for _, p := range grad.Params(n) {
			out = append(out, slices.Clone(grads.Param(p).Data))
		}
		return out
	}
	one := run(1)
	for _, threads := range sparing.Threads() {
		if !slices.EqualFunc(one, run(threads), slices.Equal) {
			t.Errorf("%d threads give other bits", threads)
		}
	}
}

func TestNTMRefuses(t *testing.T) {
	good := machine(12, memory.NTM{In: 2, Out: 2, Hidden: 3, Slots: 4, Width: 3})
	x := grad.Const(normal(13, 2, 2))
	for want, f := range map[string]func(){
		"Slots, Width and Hidden of 1 or more": func() { (&memory.NTM{In: 2, Out: 2, Hidden: 3, Width: 3}).Init(rand.New(rand.NewPCG(1, 1))) },
		"no controller is called tape":         func() { (&memory.NTM{Hidden: 3, Slots: 4, Width: 3, Controller: "tape"}).Start(nil) },
		"was Init called?":                     func() { (&memory.NTM{Hidden: 3, Slots: 4, Width: 3}).Start(nil) },
		"the state has 2 Vars, want 5":         func() { good.Step(nil, x, good.Start(nil)[:2]) },
		"x has 3 columns, In is 2":             func() { good.Step(nil, grad.Const(normal(14, 2, 3)), good.Start(nil)) },
		"want a row for each":                  func() { good.Forward(nil, graph.Chains(3), x) },
		"of the state wants 12 columns": func() {
			s := good.Start(nil)
			s[0] = s[1]
			good.Step(nil, x, s)
		},
	} {
		if err := refusal(f); !strings.Contains(err, want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
}

// refusal returns the error with which f panics.
func refusal(f func()) (why string) {
	defer func() {
		if err, ok := recover().(error); ok {
			why = err.Error()
		}
	}()
	f()
	return ""
}
