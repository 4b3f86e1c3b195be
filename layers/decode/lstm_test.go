package decode_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// writer is a recurrent language model.
type writer struct {
	Words *grad.Param
	LSTM  *sequence.LSTM
	Out   *layers.Linear

	held []int // bytes of the tape before each step
}

func newWriter(vocabulary, hidden int) *writer {
	rng := rand.New(rand.NewPCG(1, 2))
	w := &writer{Words: grad.NewParam(vocabulary, hidden), LSTM: &sequence.LSTM{In: hidden, Hidden: hidden}, Out: &layers.Linear{In: hidden, Out: vocabulary}}
	w.Words.Value.Normal(rng, 0, 2)
	w.LSTM.Init(rng)
	w.Out.Init(rng)
	for i := range w.Out.W.Value.Data {
		w.Out.W.Value.Data[i] *= 6
	}
	return w
}

func (w *writer) step(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
	w.held = append(w.held, t.Stats().Held)
	next := w.LSTM.Step(t, t.Use(w.Words).Rows(l.Last), l.State)
	return w.Out.Forward(t, next[0]), next
}

// search is one of n sentences that begin with different states.
func (w *writer) search(n, longest int) *decode.Search {
	s := &decode.Search{Step: w.step, Begin: make([]int32, n), End: 1, Longest: []int{longest}}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2 {
		x := tensor.New(n, w.LSTM.Hidden)
		x.Normal(rng, 0, 1)
		s.State = append(s.State, grad.Const(x))
	}
	for i := range s.Begin {
		s.Begin[i] = int32(i % 3)
	}
	return s
}

// only is the search of one of the sentences.
func only(s *decode.Search, i int) *decode.Search {
	one := &decode.Search{Step: s.Step, Begin: s.Begin[i : i+1], End: s.End, Longest: s.Longest, Forbid: s.Forbid}
	if len(s.Longest) > 1 {
		one.Longest = s.Longest[i : i+1]
	}
	if s.Prefix != nil {
		one.Prefix = s.Prefix[i : i+1]
	}
	for _, v := range s.State {
		one.State = append(one.State, grad.Const(v.Value().RowRange(i, i+1)))
	}
	return one
}

// A sentence comes out of a batch as it does alone, to the bit.
func TestBatchIsSeparate(t *testing.T) {
	w := newWriter(40, 16)
	s := w.search(7, 0)
	s.Longest = []int{12, 1, 7, 30, 2, 9, 12}
	s.Prefix = [][]int32{nil, nil, {5, 6}, {9}, nil, nil, {4, 4, 4}}
	s.Forbid = func(l *decode.Live, row int, forbidden []bool) { forbidden[l.Last[row]] = true }
	beam := decode.Beam{Width: 4, Best: 3, Alpha: 0.8}
	together, err := beam.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := decode.Sample{Temperature: 1.3, TopK: 20, Nucleus: 0.9, Seed: 5}.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for i := range together {
		one := only(s, i)
		apart, err := beam.Run(one)
		if err != nil {
			t.Fatal(err)
		}
		draw, err := decode.Sample{Temperature: 1.3, TopK: 20, Nucleus: 0.9, Seed: 5, First: i}.Run(one)
		if err != nil {
			t.Fatal(err)
		}
		if len(apart[0]) != len(together[i]) {
			t.Fatalf("sentence %d: %d sequences apart, %d in the batch", i, len(apart[0]), len(together[i]))
		}
		for k, b := range together[i] {
			a := apart[0][k]
			if !sameTokens(a, b) || a.LogProb != b.LogProb || a.Score != b.Score {
				t.Errorf("sentence %d: %v apart, %v in the batch", i, a, b)
			}
			if b.Ended {
				ended++
			}
		}
		if a, b := draw[0], drawn[i]; !sameTokens(a, b) || a.LogProb != b.LogProb {
			t.Errorf("sentence %d: drawn %v apart, %v in the batch", i, a, b)
		}
	}
	if ended == 0 || ended == 21 {
		t.Errorf("%d of 21 ended; the test wants some of both", ended)
	}
}

// The same bits on any number of threads.
func TestThreads(t *testing.T) {
	w := newWriter(700, 8)
	s := w.search(9, 6)
	var want [][]decode.Sequence
	for _, threads := range []int{1, 2, 5} {
		undo := par.SetThreads(threads)
		got, err := decode.Beam{Width: 6, Best: 6}.Run(s)
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		for i := range got {
			for k, g := range got[i] {
				if !sameTokens(g, want[i][k]) || g.LogProb != want[i][k].LogProb {
					t.Fatalf("%d threads: %v, on one %v", threads, g, want[i][k])
				}
			}
		}
	}
}

// The reported log-probability is that of the whole sequence in one sweep.
func TestScoreIsTeacherForced(t *testing.T) {
	w := newWriter(30, 12)
	s := w.search(4, 15)
	found, err := decode.Beam{Width: 5, Best: 5}.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, all := range found {
		for _, f := range all {
			in, labels := append([]int32{s.Begin[i]}, f.Tokens...), f.Tokens
			if f.Ended {
				labels = append(labels[:len(labels):len(labels)], s.End)
			}
			tape := grad.NewEval()
			x := tape.Use(w.Words).Rows(in[:len(labels)])
			h := w.LSTM.ForwardFrom(tape, graph.Chains(len(labels)), x, message.State(only(s, i).State))[0]
			sum, logits := 0.0, w.Out.Forward(tape, h).Value()
			for k, label := range labels {
				sum += logSoftmax(logits.Row(k))[label]
			}
			if math.Abs(sum-f.LogProb) > 1e-4 {
				t.Errorf("sentence %d: %v is reported as %v, one sweep gives %v", i, f.Tokens, f.LogProb, sum)
			}
		}
	}
}

// What the tapes hold does not grow with the length, nor does the garbage of a
// step.
func TestMemory(t *testing.T) {
	w := newWriter(50, 8)
	s := w.search(5, 100)
	s.End = decode.NoEnd
	run := func() {
		if _, err := (decode.Beam{Width: 3}).Run(s); err != nil {
			t.Fatal(err)
		}
	}
	run()
	for odd := range 2 { // two tapes take turns
		if early, late := w.held[8+odd], w.held[98+odd]; late != early || late == 0 {
			t.Errorf("the tape holds %d bytes before step %d and %d before step %d", early, 8+odd, late, 98+odd)
		}
	}
	s.Step = flat(make([]tensor.Float, 50)...)
	s.State = nil
	allocs := func(longest int) float64 {
		s.Longest = []int{longest}
		return testing.AllocsPerRun(2, run)
	}
	allocs(600)
	if each := (allocs(600) - allocs(300)) / 300; each > 12 {
		t.Errorf("a step more costs %v allocations", each)
	}
}

// A search that is run again follows weights that were trained in between.
func TestWeightsChangeBetweenRuns(t *testing.T) {
	w := newWriter(12, 16)
	s := w.search(3, 8)
	for range 3 {
		got, err := decode.Beam{Width: 3}.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode.Beam{Width: 3}.Run(w.search(3, 8)) // which has memory of its own
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !sameSequences(got[i], want[i]) {
				t.Errorf("sentence %d: %v, a new search finds %v", i, got[i], want[i])
			}
		}
		for _, p := range []*grad.Param{w.LSTM.W, w.LSTM.U, w.Out.W} {
			for i := range p.Value.Data {
				p.Value.Data[i] *= -1.25
			}
		}
	}
}

// Searches on several goroutines find with one set of packed weights what each finds with its
// own.
func TestSearchesAtOnce(t *testing.T) {
	w, packed := newWriter(40, 16), new(grad.Weights)
	want, err := decode.Greedy{}.Run(w.search(3, 12))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			own := &writer{Words: w.Words, LSTM: w.LSTM, Out: w.Out}
			s := own.search(3, 12)
			s.Weights = packed
			for range 3 {
				got, err := decode.Greedy{}.Run(s)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("found %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	all.Wait()
}
