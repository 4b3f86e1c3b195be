package attention_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// newPointer returns a network of the fields of like, over points of two numbers.
func newPointer(like attention.Pointer) *attention.Pointer {
	l := &like
	l.In, l.Hidden = 2, 3
	l.Encoder, l.Decoder = &sequence.LSTM{In: 2, Hidden: 3}, &sequence.LSTM{In: 2, Hidden: 3}
	l.Score = &attention.Additive{Key: 3, Query: 3, Hidden: 4}
	if l.Glimpse != nil {
		l.Glimpse = &attention.Additive{Key: 3, Query: 3, Hidden: 2}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	l.Init(rng)
	for _, p := range grad.Params(l) {
		p.Value.Normal(rng, 0, 0.8) // far from where all weights are alike
	}
	return l
}

// pointerForms are networks of every form with answers to sets of 3, 1 and 4 points.
var pointerForms = []struct {
	name    string
	like    attention.Pointer
	answers [][]int32
	edges   int // Σ over the steps of what they may choose
}{
	{"free", attention.Pointer{}, [][]int32{{2, 2, 0}, {0}, {1, 3}}, 3*3 + 1 + 2*4},
	{"no repeat", attention.Pointer{NoRepeat: true}, [][]int32{{2, 0, 1}, {0}, {1, 3}}, 3 + 2 + 1 + 1 + 4 + 3},
	{"end", attention.Pointer{End: true}, [][]int32{{2, 2, 0}, {}, {1}}, 4*4 + 2 + 2*5},
	{"no repeat, end", attention.Pointer{NoRepeat: true, End: true}, [][]int32{{2, 0}, {0}, {1, 3, 0, 2}}, 4 + 3 + 2 + 2 + 1 + 5 + 4 + 3 + 2 + 1},
	{"glimpse", attention.Pointer{NoRepeat: true, End: true, Glimpse: new(attention.Additive)}, [][]int32{{2, 0}, {0}, {1, 3, 0, 2}}, 4 + 3 + 2 + 2 + 1 + 5 + 4 + 3 + 2 + 1},
	{"closed", attention.Pointer{NoRepeat: true, End: true, Close: true}, [][]int32{{2, 0, 2}, {0}, {1, 3, 0}}, 4 + 3 + 3 + 1 + 2 + 1 + 5 + 4 + 4 + 3},
}

var pointerSets = graph.Chains(3, 1, 4)

func pointsOf(n int) *tensor.Dense {
	x := tensor.New(n, 2)
	x.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	return x
}

func pointing(t testing.TB, l *attention.Pointer, sets *graph.Graph, answers [][]int32) *attention.Pointing {
	t.Helper()
	p, err := l.Pointing(sets, answers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lstmLoops is a step of an LSTM.
func lstmLoops(c *sequence.LSTM, x, h, cell []float64) (nextH, nextC []float64) {
	m := c.Hidden
	z := make([]float64, 4*m)
	for j := range z {
		z[j] = float64(c.B.Value.Data[j])
		for i, v := range x {
			z[j] += v * float64(c.W.Value.Row(i)[j])
		}
		for i, v := range h {
			z[j] += v * float64(c.U.Value.Row(i)[j])
		}
	}
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for j := range m {
		next := sigmoid(z[m+j])*cell[j] + sigmoid(z[j])*math.Tanh(z[2*m+j])
		nextC = append(nextC, next)
		nextH = append(nextH, sigmoid(z[3*m+j])*math.Tanh(next))
	}
	return nextH, nextC
}

func float64s(x []tensor.Float) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// pointerLoops returns log p of every choice of an answer to one set, and the logits of
// what each step may choose, ⇒ last. allowed says what it may.
func pointerLoops(l *attention.Pointer, x *tensor.Dense, answer []int32, allowed func(taken []int32, j int) bool) (logP []float64, logits [][]float64) {
	h, c := make([]float64, 3), make([]float64, 3)
	var keys [][]float64
	for i := range x.Rows() {
		h, c = lstmLoops(l.Encoder.(*sequence.LSTM), float64s(x.Row(i)), h, c)
		keys = append(keys, h)
	}
	if l.End {
		keys = append(keys, float64s(l.Stop.Value.Data))
		answer = append(slices.Clone(answer), int32(x.Rows()))
	}
	fed := float64s(l.Start.Value.Data)
	for i, chosen := range answer {
		h, c = lstmLoops(l.Decoder.(*sequence.LSTM), fed, h, c)
		may := func(j int) bool { return allowed(answer[:i], j) }
		query := h
		if l.Glimpse != nil {
			query = glimpseLoops(l.Glimpse.(*attention.Additive), keys, h, may)
		}
		sum, row, of := 0.0, []float64(nil), 0.0
		for j, key := range keys {
			if !may(j) {
				continue
			}
			u := additiveLoops(l.Score.(*attention.Additive), key, query)
			row, sum = append(row, u), sum+math.Exp(u)
			if int32(j) == chosen {
				of = u
			}
		}
		logits, logP = append(logits, row), append(logP, of-math.Log(sum))
		if int(chosen) < x.Rows() {
			fed = float64s(x.Row(int(chosen)))
		}
	}
	return logP, logits
}

// additiveLoops is the score of a key and a query.
func additiveLoops(s *attention.Additive, key, query []float64) float64 {
	u := 0.0
	for k := range s.Hidden {
		z := 0.0
		for a := range key {
			z += key[a]*float64(s.W.Value.Row(a)[k]) + query[a]*float64(s.U.Value.Row(a)[k])
		}
		u += float64(s.V.Value.Data[k]) * math.Tanh(z)
	}
	return u
}

// glimpseLoops is the mean of the keys that a step may choose, by their weights.
func glimpseLoops(s *attention.Additive, keys [][]float64, d []float64, may func(int) bool) []float64 {
	sum, out := 0.0, make([]float64, len(d))
	for j, key := range keys {
		if may(j) {
			w := math.Exp(additiveLoops(s, key, d))
			sum += w
			for a := range out {
				out[a] += w * key[a]
			}
		}
	}
	for a := range out {
		out[a] /= sum
	}
	return out
}

// allowedBy says what a form may choose after some choices, of a set of n points.
func allowedBy(l *attention.Pointer, n int) func(taken []int32, j int) bool {
	return func(taken []int32, j int) bool {
		switch {
		case l.Close && len(taken) > 1 && taken[len(taken)-1] == taken[0]:
			return j == n
		case j == n || !l.NoRepeat:
			return true
		case l.Close && len(taken) > 1 && int32(j) == taken[0]:
			return true
		}
		return !slices.Contains(taken, int32(j))
	}
}

// Logits and loss are those of the formula, a loop for each number; there is a logit for
// every point that a step may choose.
func TestPointerIsItsFormula(t *testing.T) {
	x := pointsOf(8)
	ends := pointerSets.NodeOffsets()
	for _, f := range pointerForms {
		l := newPointer(f.like)
		p := pointing(t, l, pointerSets, f.answers)
		tape := grad.NewEval()
		got := l.Forward(tape, p, grad.Const(x)).Value()
		if got.Rows() != f.edges || got.RowLen() != 1 {
			t.Fatalf("%s: logits are %v, want %d", f.name, got.Shape(), f.edges)
		}
		e, loss, steps := 0, 0.0, 0
		for i, answer := range f.answers {
			logP, logits := pointerLoops(l, x.RowRange(ends[i], ends[i+1]), answer, allowedBy(l, ends[i+1]-ends[i]))
			for k, row := range logits {
				for _, want := range row {
					if math.Abs(float64(got.Data[e])-want) > 1e-5 {
						t.Fatalf("%s, set %d, step %d: edge %d has %v, want %v", f.name, i, k, e, got.Data[e], want)
					}
					e++
				}
				loss, steps = loss-logP[k], steps+1
			}
		}
		if got, want := float64(l.Loss(tape, p, grad.Const(x)).Value().Data[0]), loss/float64(steps); e != f.edges || math.Abs(got-want) > 1e-5 {
			t.Errorf("%s: the loss over %d edges is %v, want %v", f.name, e, got, want)
		}
	}
}

func TestPointerGradients(t *testing.T) {
	for _, f := range pointerForms {
		l := newPointer(f.like)
		p := pointing(t, l, pointerSets, f.answers)
		m := struct {
			Net *attention.Pointer
			X   *grad.Param
		}{l, grad.NewParam(8, 2)}
		copy(m.X.Value.Data, pointsOf(8).Data)
		gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var { return l.Loss(tape, p, tape.Use(m.X)) })
	}
}

// The weights of a step's points come to one: of a point over the steps they do not.
func TestPointerWeighsPointsNotSteps(t *testing.T) {
	l := newPointer(attention.Pointer{})
	p := pointing(t, l, graph.Chains(3), [][]int32{{0, 1, 2}})
	w := message.EdgeSoftmax(p.Pairs, l.Forward(grad.NewEval(), p, grad.Const(pointsOf(3)))).Value()
	steps, points := make([]float64, 3), make([]float64, 3)
	for e, v := range p.Pairs.Destinations() {
		steps[v] += float64(w.Data[e])
		points[p.Pairs.In().Cols[e]] += float64(w.Data[e])
	}
	for i := range 3 {
		if math.Abs(steps[i]-1) > 1e-6 {
			t.Errorf("the weights of step %d come to %v", i, steps[i])
		}
	}
	if math.Abs(points[0]-1) < 1e-3 {
		t.Errorf("so do those of point 0, %v: the softmax is over the steps", points[0])
	}
}

// A batch gives the bits of its sets alone.
func TestPointerBatchIsSeparate(t *testing.T) {
	x := pointsOf(8)
	ends := pointerSets.NodeOffsets()
	for _, f := range pointerForms {
		l := newPointer(f.like)
		all := l.Forward(grad.NewEval(), pointing(t, l, pointerSets, f.answers), grad.Const(x)).Value().Data
		for i, answer := range f.answers {
			p := pointing(t, l, graph.Chains(ends[i+1]-ends[i]), [][]int32{answer})
			one := l.Forward(grad.NewEval(), p, grad.Const(x.RowRange(ends[i], ends[i+1]))).Value().Data
			if !slices.Equal(one, all[:len(one)]) {
				t.Errorf("%s: set %d alone has %v, in the batch %v", f.name, i, one, all[:len(one)])
			}
			all = all[len(one):]
		}
	}
}

// Neither the sets of a batch nor their steps make more operations: all are in one sweep.
func TestPointerOperationsDoNotGrow(t *testing.T) {
	l := newPointer(attention.Pointer{NoRepeat: true})
	count := func(sizes ...int) int {
		var answers [][]int32
		points := 0
		for _, n := range sizes {
			points += n
			answers = append(answers, []int32{1, 0, 2, 3, 4, 5, 6, 7, 8}[:n])
		}
		tape := grad.NewTape(1)
		l.Loss(tape, pointing(t, l, graph.Chains(sizes...), answers), grad.Const(pointsOf(points)))
		return tape.Stats().Ops
	}
	if few, many := count(2, 2), count(3, 9, 5, 8); few != many {
		t.Errorf("two sets of two points make %d operations, four of up to nine %d", few, many)
	}
}

// A step is fed the point that the step before should have chosen, not its own: the first
// is fed Start, and a change of a target changes the steps after it, not those up to it.
func TestPointerIsFedThePreviousTarget(t *testing.T) {
	l, x := newPointer(attention.Pointer{}), pointsOf(4)
	logits := func(answer ...int32) []tensor.Float {
		p := pointing(t, l, graph.Chains(4), [][]int32{answer})
		return slices.Clone(l.Forward(grad.NewEval(), p, grad.Const(x)).Value().Data)
	}
	a, b := logits(0, 1, 2), logits(0, 3, 2)
	if !slices.Equal(a[:8], b[:8]) || slices.Equal(a[8:], b[8:]) {
		t.Errorf("with targets 0 1 2: %v; with 0 3 2: %v", a, b)
	}
	copy(x.Row(3), x.Row(1)) // points 1 and 3 are the same to the decoder
	if a, b := logits(0, 1, 2), logits(0, 3, 2); !slices.Equal(a, b) {
		t.Error("the decoder reads something other than the point")
	}
	l.Start.Value.Data[0]++
	if c := logits(0, 1, 2); slices.Equal(a[:4], c[:4]) {
		t.Error("the first step does not read Start")
	}
}

// Without an encoder the order of the points says nothing: the answer names the same points.
func TestPointerOfPermutedPoints(t *testing.T) {
	l := &attention.Pointer{In: 2, Hidden: 2, NoRepeat: true, Decoder: &sequence.LSTM{In: 2, Hidden: 5}, Score: &attention.Additive{Key: 2, Query: 5, Hidden: 4}}
	l.Init(rand.New(rand.NewPCG(5, 6)))
	x, order := pointsOf(6), []int32{3, 0, 5, 1, 4, 2}
	want, err := l.Decode(graph.Chains(6), grad.Const(x), 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Decode(graph.Chains(6), grad.Const(x).Rows(order), 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got[0] {
		got[0][i] = order[got[0][i]]
	}
	if !slices.Equal(got[0], want[0]) || slices.Equal(want[0], []int32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("permuted, the answer is %v, else %v", got[0], want[0])
	}
}

// With one the answer of a network that has learnt to sort follows the points, too.
func TestPointerLearnsToSort(t *testing.T) {
	l := &attention.Pointer{In: 1, Hidden: 16, NoRepeat: true, Encoder: &sequence.LSTM{In: 1, Hidden: 16}, Decoder: &sequence.LSTM{In: 1, Hidden: 16}, Score: &attention.Additive{Key: 16, Query: 16, Hidden: 16}}
	rng := rand.New(rand.NewPCG(7, 8))
	l.Init(rng)
	sets := graph.Chains(slices.Repeat([]int{3}, 16)...)
	step := func() (x *tensor.Dense, answers [][]int32) {
		x = tensor.New(48, 1)
		x.Uniform(rng, 0, 1)
		for i := range 16 {
			order := []int32{0, 1, 2}
			slices.SortFunc(order, func(a, b int32) int {
				return int(math.Copysign(1, float64(x.Data[3*i+int(a)]-x.Data[3*i+int(b)])))
			})
			answers = append(answers, order)
		}
		return x, answers
	}
	params := map[*grad.Param][]float64{} // a momentum of each
	tape := grad.NewTape(1)
	for range 250 {
		x, answers := step()
		tape.Reset()
		grads := tape.Backward(l.Loss(tape, pointing(t, l, sets, answers), grad.Const(x)))
		grads.ClipNorm(1)
		for _, p := range grad.Params(l) {
			m := params[p]
			if m == nil {
				m = make([]float64, len(p.Value.Data))
				params[p] = m
			}
			for i, d := range grads.Param(p).Data {
				m[i] = 0.9*m[i] + float64(d)
				p.Value.Data[i] -= tensor.Float(0.1 * m[i])
			}
		}
	}
	right, all := 0, 0
	for range 4 {
		x, answers := step()
		got, err := l.Decode(sets, grad.Const(x), 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			all++
			if slices.Equal(got[i], answers[i]) {
				right++
			}
		}
	}
	if right*10 < all*8 {
		t.Errorf("%d of %d are sorted", right, all)
	}
}

func TestPointerRefusesAnswers(t *testing.T) {
	free, once := newPointer(attention.Pointer{}), newPointer(attention.Pointer{NoRepeat: true})
	end, closing := newPointer(attention.Pointer{NoRepeat: true, End: true}), newPointer(attention.Pointer{NoRepeat: true, End: true, Close: true})
	two := graph.Chains(2, 3)
	for _, c := range []struct {
		name    string
		l       *attention.Pointer
		sets    *graph.Graph
		answers [][]int32
		want    string // empty: it is good
	}{
		{"repeated", once, two, [][]int32{{0, 1}, {1, 0, 1}}, "set 1, place 2, is 1, which NoRepeat does not allow again"},
		{"repeated, allowed", free, two, [][]int32{{0, 1}, {1, 0, 1}}, ""},
		{"beyond", free, two, [][]int32{{0, 2}, {1}}, "set 0, place 1, is 2: its 2 points are 0 to 1"},
		{"negative", end, two, [][]int32{{0}, {-1}}, "set 1, place 0, is -1"},
		{"too long", free, two, [][]int32{{0, 1, 1}, {1}}, "set 0, of 2 points, has 3 places"},
		{"empty", free, two, [][]int32{{0}, {}}, "set 1, which has no places"},
		{"empty, with an end", end, two, [][]int32{{0}, {}}, ""},
		{"an answer is missing", free, two, [][]int32{{0}}, "1 answers for 2 sets"},
		{"an empty set", end, graph.Chains(2, 0), [][]int32{{0}, {}}, "set 1 has no points"},
		{"closed", closing, two, [][]int32{{0, 1, 0}, {2, 2}}, "set 1, place 1, is 2"},
		{"closed with another", closing, two, [][]int32{{0, 1, 1}, {2}}, "set 0, place 2, is 1"},
		{"on after the close", closing, graph.Chains(4), [][]int32{{0, 1, 0, 2}}, "set 0, place 3, is 2"},
	} {
		_, err := c.l.Pointing(c.sets, c.answers)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if _, err := free.Decode(graph.Chains(2, 0), grad.Const(pointsOf(2)), 1); err == nil || !strings.Contains(err.Error(), "set 1 has no points") {
		t.Errorf("an empty set: %v", err)
	}
	bad := pointsOf(2)
	bad.Data[3] = tensor.Float(math.NaN())
	var wrong *decode.StepError
	if _, err := free.Decode(graph.Chains(2), grad.Const(bad), 1); !errors.As(err, &wrong) {
		t.Errorf("a point that is NaN: %v", err)
	}
}

func TestPointerRefusesShapes(t *testing.T) {
	l := newPointer(attention.Pointer{})
	p := pointing(t, l, graph.Chains(3), [][]int32{{0, 1, 2}})
	for name, f := range map[string]func(){
		"x of three columns": func() { l.Forward(nil, p, grad.Const(tensor.New(3, 3))) },
		"x of four rows":     func() { l.Forward(nil, p, grad.Const(tensor.New(4, 2))) },
		"a set that is a tree": func() {
			l.Decode(graph.Reverse(graph.Must(graph.Trees([]int32{-1, 0, 0}))), grad.Const(pointsOf(3)), 1)
		},
		"no encoder, and keys of another width": func() {
			(&attention.Pointer{In: 2, Hidden: 3, Decoder: l.Decoder, Score: l.Score}).Init(nil)
		},
		"Close alone": func() {
			(&attention.Pointer{In: 2, Hidden: 3, Encoder: l.Encoder, Decoder: l.Decoder, Score: l.Score, Close: true}).Init(nil)
		},
		"no Init": func() {
			m := *l
			m.Start = nil
			m.Forward(nil, p, grad.Const(pointsOf(3)))
		},
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "attention.Pointer") {
					t.Errorf("%s: %v", name, err)
				}
			}()
			f()
		}()
	}
}
