package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// someStories are ragged: one has no sentences, one a sentence without words, one more
// sentences than a memory of three holds.
var someStories = []memory.Story{
	{Sentences: [][]int32{{1, 2, 3}, {4, 5}}, Question: []int32{6, 1}, Answer: 3},
	{Question: []int32{2}, Answer: 0},
	{Sentences: [][]int32{{0}, {7, 2, 2, 6}, {}, {3, 1, 5, 4, 0}}, Question: []int32{5, 4, 3}, Answer: grad.NoLabel},
}

func memN2Ns() map[string]*memory.MemN2N {
	out := map[string]*memory.MemN2N{
		"adjacent":       {Vocab: 8, Dim: 3, Hops: 3, Memory: 3, Encoding: memory.Position},
		"longest":        {Vocab: 8, Dim: 3, Hops: 2, Memory: 3, Encoding: memory.Position, Longest: 5},
		"longest, a set": {Vocab: 8, Dim: 3, Hops: 2, Memory: 3, Encoding: memory.Position, Longest: 5, NoTime: true},
		"layer-wise":     {Vocab: 8, Dim: 3, Hops: 2, Memory: 3, Tying: memory.LayerWise, Encoding: memory.Position},
		"linear, words":  {Vocab: 8, Dim: 2, Hops: 2, Memory: 3, Linear: true},
		"without time":   {Vocab: 8, Dim: 2, Memory: 3, NoTime: true},
		"all, and a bag": {Vocab: 8, Dim: 4, Hops: 1, Tying: memory.LayerWise},
	}
	for name, m := range out {
		m.Init(rand.New(rand.NewPCG(uint64(len(name)), 1)))
		for _, p := range grad.Params(m) {
			for i := range p.Value.Data {
				p.Value.Data[i] *= 6 // so that attention is not even
			}
		}
	}
	return out
}

func batchOf(t *testing.T, m *memory.MemN2N, stories ...memory.Story) *memory.Stories {
	t.Helper()
	s, err := m.Batch(stories, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encode is Σ_j l_j⊙table[word j], in loops.
func encode(m *memory.MemN2N, table *grad.Param, words []int32, time int) []float64 {
	out := make([]float64, m.Dim)
	for k := range out {
		for j, w := range words {
			l := 1.0
			if m.Encoding == memory.Position {
				jj, kk, all, d := float64(j+1), float64(k+1), float64(len(words)), float64(m.Dim)
				l = 2 * ((1 - jj/all) - kk/d*(1-2*jj/all)) // the paper's, twice
				if m.Longest > 0 {
					l = fromTheMiddle(m, jj, kk)
				}
			}
			out[k] += l * float64(table.Value.Row(int(w))[k])
		}
		if time > 0 && !m.NoTime {
			l := 1.0
			if m.Longest > 0 {
				l = fromTheMiddle(m, float64(m.Longest+1), float64(k+1))
			}
			out[k] += l * float64(table.Value.Row(m.Vocab + time - 1)[k])
		}
	}
	return out
}

// fromTheMiddle is l of word j and column k where all sentences have one J, in which a time is the last word.
func fromTheMiddle(m *memory.MemN2N, j, k float64) float64 {
	all, d := float64(m.Longest+1), float64(m.Dim)
	if m.NoTime {
		all--
	}
	return 1 + 4*(k-(d+1)/2)*(j-(all+1)/2)/d/all
}

// answer is the formulas of MemN2N's comment in loops, with the weights of each hop.
func answer(m *memory.MemN2N, s memory.Story) (y []float64, hops [][]float64) {
	held := s.Sentences
	if room := max(m.Memory, 50*(1-min(1, m.Memory))); len(held) > room {
		held = held[len(held)-room:]
	}
	b := m.Tables[0]
	if m.Tying == memory.LayerWise {
		b = m.Tables[2]
	}
	u := encode(m, b, s.Question, 0)
	for hop := range max(1, m.Hops) {
		a, c := m.Tables[0], m.Tables[1]
		if m.Tying == memory.Adjacent {
			a, c = m.Tables[hop], m.Tables[hop+1]
		}
		p, sum := make([]float64, len(held)), 0.0
		for i, words := range held {
			p[i] = dot(encode(m, a, words, len(held)-i), u)
			if !m.Linear {
				p[i] = math.Exp(p[i])
			}
			sum += p[i]
		}
		next := slices.Clone(u)
		if m.Tying == memory.LayerWise {
			for k := range next {
				next[k] = 0
				for j, v := range u {
					next[k] += v * float64(m.H.Value.Row(j)[k])
				}
			}
		}
		for i, words := range held {
			if !m.Linear {
				p[i] /= sum
			}
			for k, v := range encode(m, c, words, len(held)-i) {
				next[k] += p[i] * v
			}
		}
		u, hops = next, append(hops, p)
	}
	for w := range m.Vocab {
		column := make([]float64, m.Dim)
		for k := range column {
			if m.Tying == memory.LayerWise {
				column[k] = float64(m.W.Value.Row(k)[w])
			} else {
				column[k] = float64(m.Tables[m.Hops+1-min(1, m.Hops)].Value.Row(w)[k])
			}
		}
		y = append(y, dot(u, column))
	}
	return y, hops
}

func dot(x, y []float64) (s float64) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func TestMemN2NIsItsFormula(t *testing.T) {
	for name, m := range memN2Ns() {
		s := batchOf(t, m, someStories...)
		got := m.Forward(nil, s).Value()
		var hops [][]float64
		for i, story := range someStories {
			want, weights := answer(m, story)
			compare.Near(t, fmt.Sprintf("%s: words of story %d", name, i), got.Row(i), want, compare.Off(1e-4, 1e-4))
			for h, p := range weights {
				if len(hops) <= h {
					hops = append(hops, nil)
				}
				hops[h] = append(hops[h], p...)
			}
		}
		for h, want := range hops {
			compare.Near(t, fmt.Sprintf("%s: weights of hop %d", name, h+1), m.Attention(s, h+1), want, compare.Off(1e-4, 1e-4))
		}
	}
}

func TestMemN2NGradients(t *testing.T) {
	for name, m := range memN2Ns() {
		s := batchOf(t, m, someStories...)
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var { return s.Loss(m.Forward(tape, s)) })
			gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var { // a loss may read the weights, too, or one alone
				y, weights := m.Apply(tape, s)
				loss := s.Loss(y)
				for _, p := range weights {
					loss = loss.Add(p.Mul(p).Sum())
				}
				return loss
			})
			gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var {
				_, weights := m.Apply(tape, s)
				return weights[0].Mul(weights[0]).Sum()
			})
		})
	}
}

// Stories of a batch do not see each other: each has the bits that it has alone.
func TestMemN2NBatchIsSeparate(t *testing.T) {
	for name, m := range memN2Ns() {
		all := m.Forward(nil, batchOf(t, m, someStories...)).Value()
		for i, story := range someStories {
			if one := m.Forward(nil, batchOf(t, m, story)).Value(); !slices.Equal(one.Data, all.Row(i)) {
				t.Errorf("%s: story %d alone gives %v, in a batch %v", name, i, one.Data, all.Row(i))
			}
		}
	}
}

// The latest sentence has the first time, however many there are; counted from the beginning
// it would have another in each story.
func TestMemN2NRecency(t *testing.T) {
	m := &memory.MemN2N{Vocab: 4, Dim: 2, Memory: 5}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	m.Tables[0].Value.Zero()
	m.Tables[0].Value.Row(0)[0] = 1              // the question
	m.Tables[0].Value.Row(m.Vocab + 0)[0] = 1000 // it looks at the latest
	said := []int32{1, 2, 3, 2, 1, 3, 2}
	for n := 1; n <= len(said); n++ {
		story := memory.Story{Question: []int32{0}, Answer: said[n-1]}
		for _, w := range said[:n] {
			story.Sentences = append(story.Sentences, []int32{w})
		}
		p := m.Attention(batchOf(t, m, story), 1)
		if len(p) != min(n, 5) || p[len(p)-1] != 1 {
			t.Errorf("of %d sentences the weights are %v, want 1 at the latest of up to five", n, p)
		}
	}
}

// A table that two hops share gets the gradients of both: three hops have four tables, each
// once among the Params.
func TestMemN2NTiedTables(t *testing.T) {
	m := memN2Ns()["adjacent"]
	if n := len(slices.Collect(func(yield func(*grad.Param) bool) {
		for _, p := range grad.Params(m) {
			yield(p)
		}
	})); n != 4 {
		t.Fatalf("three hops have %d Params, want 4 tables", n)
	}
	s := batchOf(t, m, someStories...)
	tape := grad.NewTape(1)
	want := tape.Backward(s.Loss(m.Forward(tape, s))).Param(m.Tables[1]).Clone()

	apart := &memory.MemN2N{Vocab: 8, Dim: 3, Hops: 1, Memory: 3, Encoding: memory.Position}
	difference := func(carries, reads float64) float64 { // the loss with C¹ and A² moved apart
		const h = 1e-2
		f := func(by float64) float64 {
			tables := []*grad.Param{m.Tables[0], moved(m.Tables[1], carries*by), moved(m.Tables[1], reads*by), m.Tables[2], m.Tables[3]}
			return untied(t, apart, tables, s)
		}
		return (f(h) - f(-h)) / (2 * h)
	}
	sum := 0.0
	for _, v := range want.Data {
		sum += float64(v)
	}
	carries, reads := difference(1, 0), difference(0, 1)
	if math.Abs(sum-carries-reads) > 0.02*(1+math.Abs(sum)) || math.Abs(carries) < 1e-3 || math.Abs(reads) < 1e-3 {
		t.Errorf("the table that hop 1 carries with and hop 2 reads with has a gradient of %v, want %v + %v", sum, carries, reads)
	}
}

// moved returns a copy of p with a number added to all elements.
func moved(p *grad.Param, by float64) *grad.Param {
	q := grad.NewParam(p.Value.Shape()...)
	for i, v := range p.Value.Data {
		q.Value.Data[i] = v + tensor.Float(by)
	}
	return q
}

// untied is the loss of someStories with tables A¹, C¹, A², C² = A³, C³, in loops.
func untied(t *testing.T, like *memory.MemN2N, tables []*grad.Param, s *memory.Stories) float64 {
	t.Helper()
	pairs := [][2]int{{0, 1}, {2, 3}, {3, 4}}
	loss := 0.0
	for i, story := range someStories {
		if s.Answers[i] == grad.NoLabel {
			continue
		}
		u := encode(like, tables[0], story.Question, 0)
		for _, pair := range pairs {
			p, sum := make([]float64, len(story.Sentences)), 0.0
			for k, words := range story.Sentences {
				p[k] = math.Exp(dot(encode(like, tables[pair[0]], words, len(story.Sentences)-k), u))
				sum += p[k]
			}
			next := slices.Clone(u)
			for k, words := range story.Sentences {
				for j, v := range encode(like, tables[pair[1]], words, len(story.Sentences)-k) {
					next[j] += p[k] / sum * v
				}
			}
			u = next
		}
		sum, at := 0.0, 0.0
		for w := range like.Vocab {
			y := 0.0
			for j, v := range u {
				y += v * float64(tables[4].Value.Row(w)[j])
			}
			sum += math.Exp(y)
			if int32(w) == s.Answers[i] {
				at = y
			}
		}
		loss += math.Log(sum) - at
	}
	return loss
}

// Words that no story has, and times that no sentence has, get a gradient of exactly zero: there
// is no padding that could.
func TestMemN2NWordsThatAreNotThere(t *testing.T) {
	m := &memory.MemN2N{Vocab: 6, Dim: 2, Hops: 2, Memory: 4, Tying: memory.LayerWise, Encoding: memory.Position}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	s := batchOf(t, m, memory.Story{Sentences: [][]int32{{1}, {2, 3}}, Question: []int32{3}, Answer: 5})
	tape := grad.NewTape(1)
	g := tape.Backward(s.Loss(m.Forward(tape, s)))
	for table, there := range [][]int{{1, 2, 3, 6, 7}, {1, 2, 3, 6, 7}, {3}} {
		d := g.Param(m.Tables[table])
		for r := range d.Rows() {
			zero := !slices.ContainsFunc(d.Row(r), func(v tensor.Float) bool { return v != 0 })
			if zero == slices.Contains(there, r) {
				t.Errorf("table %d: the gradient of row %d is %v", table, r, d.Row(r))
			}
		}
	}
}

// Of one word l is 2k/d, by the paper's formula k/d, and not 0 or NaN; as a bag it is 1.
func TestPositionOfOneWord(t *testing.T) {
	for _, e := range []memory.Encoding{memory.BagOfWords, memory.Position} {
		m := &memory.MemN2N{Vocab: 2, Dim: 4, Encoding: e, NoTime: true}
		m.Init(rand.New(rand.NewPCG(1, 1)))
		m.Tables[0].Value.Fill(1)
		m.Tables[1].Value.Zero()
		for k := range 2 {
			m.Tables[1].Value.Row(k)[k*3] = 1 // the answer's logits are u's first and last element
		}
		y := m.Forward(nil, batchOf(t, m, memory.Story{Question: []int32{1}, Answer: 0})).Value().Data
		if want := []tensor.Float{0.5, 2}; e == memory.Position && !slices.Equal(y, want) || e == memory.BagOfWords && !slices.Equal(y, []tensor.Float{1, 1}) {
			t.Errorf("%v: one word gives %v", e, y)
		}
	}
}

// Empty memories move times on, in order, and never out of the table; without chance, and with
// no sentence, there are none.
func TestMemN2NNoise(t *testing.T) {
	m := &memory.MemN2N{Vocab: 3, Dim: 2, Memory: 12, Noise: 0.5}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	story := memory.Story{Sentences: slices.Repeat([][]int32{{1}}, 10), Question: []int32{2}}
	times := func(rng *rand.Rand) (out []int32) {
		s, err := m.Batch([]memory.Story{story, {Question: []int32{1}}}, rng)
		if err != nil {
			t.Fatal(err)
		}
		for v := range 10 {
			for _, u := range s.Words.Sources(v) {
				if u >= 3 {
					out = append(out, u-3)
				}
			}
		}
		return out
	}
	if got := times(nil); !slices.Equal(got, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) {
		t.Errorf("without noise the times are %v", got)
	}
	rng, moved, latest := rand.New(rand.NewPCG(1, 1)), 0, 0
	for range 300 {
		got := times(rng)
		if len(got) != 10 || got[0] > 11 || !slices.IsSortedFunc(got, func(a, b int32) int { return int(b - a) }) {
			t.Fatalf("the times are %v", got)
		}
		if got[0] > 9 {
			moved++
		}
		if got[9] > 0 {
			latest++
		}
	}
	if moved < 200 || moved > 290 || latest < 20 || latest > 120 {
		t.Errorf("of 300 stories noise moves the first sentence in %d and the latest in %d", moved, latest)
	}
}

// What is wrong with a story is said; what is merely empty has a meaning.
func TestMemN2NRefuses(t *testing.T) {
	m := &memory.MemN2N{Vocab: 4, Dim: 2}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	good := memory.Story{Sentences: [][]int32{{1}}, Question: []int32{2}, Answer: 3}
	for want, change := range map[string]func(*memory.Story){
		"the question of story 1 has no words":            func(s *memory.Story) { s.Question = nil },
		"word 1 of sentence 0 of story 1 is 4, and Vocab": func(s *memory.Story) { s.Sentences = [][]int32{{0, 4}} },
		"word 0 of question 0 of story 1 is -2":           func(s *memory.Story) { s.Question = []int32{-2} },
		"the answer of story 1 is 4, and there are 4":     func(s *memory.Story) { s.Answer = 4 },
		"never learnt is grad.NoLabel":                    func(s *memory.Story) { s.Answer = -7 },
	} {
		bad := good
		change(&bad)
		if _, err := m.Batch([]memory.Story{good, bad}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for want, wrong := range map[string]*memory.MemN2N{"Noise is 2": {Vocab: 4, Dim: 2, Noise: 2}, "Encoding(9)": {Vocab: 4, Dim: 2, Encoding: 9}} {
		if got := panicOf(func() { _, _ = wrong.Batch(nil, nil) }); !strings.Contains(got, want) {
			t.Errorf("the panic is %q, want %q", got, want)
		}
	}
	// An answer that was never learnt: no loss, no gradient, and wrong.
	unknown := good
	unknown.Answer = grad.NoLabel
	s := batchOf(t, m, unknown)
	tape := grad.NewTape(1)
	y := m.Forward(tape, s)
	loss := s.Loss(y)
	if right := s.Right(y.Value()); right != 0 || loss.Value().Data[0] != 0 {
		t.Errorf("an answer that was never learnt is right in %v, and its loss is %v", right, loss.Value().Data[0])
	}
	for _, g := range tape.Backward(loss) {
		if slices.ContainsFunc(g.Value.Data, func(v tensor.Float) bool { return v != 0 }) {
			t.Error("it has a gradient")
		}
	}
	// No sentences at all in a batch, and no stories.
	if y := m.Forward(nil, batchOf(t, m, memory.Story{Question: []int32{1}})).Value(); y.Rows() != 1 || y.Data[0] != y.Data[0] {
		t.Errorf("without a memory the answer is %v", y.Data)
	}
	if y := m.Forward(nil, batchOf(t, m)).Value(); y.Rows() != 0 {
		t.Errorf("no question has %d answers", y.Rows())
	}
	other := &memory.MemN2N{Vocab: 9, Dim: 2}
	other.Init(rand.New(rand.NewPCG(1, 1)))
	for want, f := range map[string]func(){
		"of another network":  func() { m.Forward(nil, batchOf(t, other, good)) },
		"there are 2 tables":  func() { (&memory.MemN2N{Vocab: 4, Dim: 2, Hops: 2, Tables: m.Tables}).Forward(nil, s) },
		"counted from 1 to 1": func() { m.Attention(s, 2) },
		"Memory is -1":        func() { (&memory.MemN2N{Vocab: 4, Dim: 2, Memory: -1}).Init(rand.New(rand.NewPCG(1, 1))) },
	} {
		if got := panicOf(f); !strings.Contains(got, want) {
			t.Errorf("the panic is %q, want %q", got, want)
		}
	}
}

// panicOf returns the words that f panics with.
func panicOf(f func()) (words string) {
	defer func() {
		if err, is := recover().(error); is {
			words = err.Error()
		}
	}()
	f()
	return ""
}

// learnt trains a network on walks, and returns the share of others that it answers.
func learnt(t *testing.T, m *memory.MemN2N) (right float64, s *memory.Stories) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	m.Vocab, m.Dim, m.Memory = 7, 16, 8
	m.Init(rng)
	tape, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	for step := range 250 {
		m.Linear = step < 50 // linear start
		s, err := m.Batch(walks(rng, 32), rng)
		if err != nil {
			t.Fatal(err)
		}
		tape.Reset()
		opt.Step(tape.Backward(s.Loss(m.Forward(tape, s))))
	}
	s = batchOf(t, m, walks(rng, 500)...)
	return s.Right(m.Forward(nil, s).Value()), s
}

// Who was last where is learnt from the times alone; more hops than that takes do no harm, and
// the slot that is looked at most is the one that says it. Without times it cannot be known.
func TestMemN2NLearns(t *testing.T) {
	for _, hops := range []int{1, 3} {
		m := &memory.MemN2N{Hops: hops, Noise: 0.1}
		right, s := learnt(t, m)
		if right < 0.95 {
			t.Errorf("%d hops answer %v", hops, right)
		}
		hit := make([]bool, s.Slots.NumDst())
		for h := range hops {
			p := m.Attention(s, h+1)
			for q := range hit {
				top := int32(-1)
				for e, u := range s.Slots.Sources(q) {
					if top < 0 || p[e] > p[top] {
						top = u
					}
				}
				for _, w := range s.Words.Sources(int(top)) {
					hit[q] = hit[q] || w == s.Answers[q] // it says the answer
				}
			}
		}
		hits := 0
		for _, is := range hit {
			if is {
				hits++
			}
		}
		if float64(hits) < 0.95*float64(len(hit)) {
			t.Errorf("%d hops look most at the fact in %d of %d", hops, hits, len(hit))
		}
	}
	if right, _ := learnt(t, &memory.MemN2N{NoTime: true}); right > 0.8 {
		t.Errorf("without times %v are right", right)
	}
}

// No bit depends on the threads, forwards or backwards, of a batch that several of them share.
func TestMemN2NThreads(t *testing.T) {
	m := &memory.MemN2N{Vocab: 9, Dim: 20, Hops: 2, Memory: 40, Encoding: memory.Position}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	rng, stories := rand.New(rand.NewPCG(2, 2)), make([]memory.Story, 40)
	for i := range stories {
		stories[i] = memory.Story{Question: []int32{rng.Int32N(9)}, Answer: rng.Int32N(9)}
		for range rng.IntN(40) {
			stories[i].Sentences = append(stories[i].Sentences, []int32{rng.Int32N(9), rng.Int32N(9)})
		}
	}
	s := batchOf(t, m, stories...)
	run := func(threads int) [][]tensor.Float {
		defer par.SetThreads(threads)()
		tape := grad.NewTape(1)
		y := m.Forward(tape, s)
		grads := tape.Backward(s.Loss(y))
		out := [][]tensor.Float{slices.Clone(y.Value().Data)}
		for _, p := range m.Tables {
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
