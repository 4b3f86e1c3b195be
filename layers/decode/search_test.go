package decode_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

func sameTokens(a, b decode.Sequence) bool {
	return slices.Equal(a.Tokens, b.Tokens) && a.Ended == b.Ended
}

// flat is a model that says the same in every step.
func flat(x ...tensor.Float) decode.Step {
	return func(_ *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		out := tensor.New(l.Len(), len(x))
		for i := range l.Len() {
			copy(out.Row(i), x)
		}
		return grad.Const(out), l.State
	}
}

// A decoder that never ends stops at its longest length, and says so.
func TestNeverEnds(t *testing.T) {
	inf := tensor.Float(math.Inf(-1))
	for _, end := range []int32{2, decode.NoEnd} {
		s := &decode.Search{Step: flat(0, 1, inf), Begin: []int32{0, 0}, End: end, Longest: []int{3, 5}}
		got, err := decode.Greedy{}.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			if g.Ended || len(g.Tokens) != s.Longest[i] || g.Tokens[0] != 1 {
				t.Errorf("End %d: got %+v, want %d tokens that did not end", end, g, s.Longest[i])
			}
		}
	}
}

// Of equal hypotheses the lower tokens come first.
func TestTies(t *testing.T) {
	s := &decode.Search{Step: flat(1, 1, 1, 1), Begin: []int32{0}, End: decode.NoEnd, Longest: []int{2}}
	got, err := decode.Beam{Width: 5, Best: 5}.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int32{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}}
	for i, g := range got[0] {
		if !slices.Equal(g.Tokens, want[i]) {
			t.Errorf("number %d is %v, want %v", i, g.Tokens, want[i])
		}
	}
}

// No sentence is no result; a beam wider than there are sequences returns what
// there is.
func TestFew(t *testing.T) {
	never := func(*grad.Tape, *decode.Live) (*grad.Var, decode.State) { panic("there is nothing to do") }
	for _, longest := range [][]int{{3}, {}} {
		got, err := decode.Beam{Width: 3}.Run(&decode.Search{Step: never, End: 0, Longest: longest})
		if err != nil || len(got) != 0 {
			t.Errorf("of no sentence: %v, %v", got, err)
		}
	}
	got, err := decode.Beam{Width: 1000, Best: 1000}.Run(&decode.Search{Step: flat(0, 1), Begin: []int32{0}, End: 0, Longest: []int{2}})
	if err != nil || len(got[0]) != 3 {
		t.Errorf("got %v, %v; want the three sequences that there are", got, err)
	}
}

// A hypothesis that may take nothing is dropped; the sentence goes on with others,
// or with what has ended.
func TestDeadEnd(t *testing.T) {
	inf := tensor.Float(math.Inf(-1))
	step := func(_ *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		x := tensor.New(l.Len(), 3)
		for i := range l.Len() {
			row := []tensor.Float{inf, 2, 1} // 0 ends
			if l.Step > 0 {
				if row = []tensor.Float{0, inf, inf}; l.Last[i] == 1 {
					row[0] = inf // after a 1 nothing is left
				}
			}
			copy(x.Row(i), row)
		}
		return grad.Const(x), nil
	}
	s := &decode.Search{Step: step, Begin: []int32{0}, End: 0, Longest: []int{9}}
	got, err := decode.Beam{Width: 2, Best: 2}.Run(s)
	if err != nil || len(got[0]) != 1 || !slices.Equal(got[0][0].Tokens, []int32{2}) || !got[0][0].Ended {
		t.Errorf("got %v, %v; want only 2 and the end", got, err)
	}
	_, err = decode.Greedy{}.Run(s)
	var stuck *decode.StepError
	if !errors.As(err, &stuck) || stuck.Sentence != 0 || stuck.Step != 1 {
		t.Errorf("got %v, want a StepError of step 1", err)
	}
}

// An untrained model that may not repeat itself finds a permutation, of as many
// inputs as its sentence has.
func TestForbid(t *testing.T) {
	m, inputs := &historic{vocabulary: 6, seed: 3}, []int{6, 2, 4}
	s := &decode.Search{Step: m.step, Begin: []int32{0, 0, 0}, End: decode.NoEnd, Longest: inputs}
	var buf []int32
	s.Forbid = func(l *decode.Live, row int, forbidden []bool) {
		if slices.Contains(forbidden, true) {
			t.Error("something was forbidden before")
		}
		buf = l.Tokens(row, buf[:0])
		for _, k := range buf {
			forbidden[k] = true
		}
		for k := inputs[l.Sentence[row]]; k < len(forbidden); k++ {
			forbidden[k] = true
		}
	}
	for _, run := range []func(*decode.Search) ([]decode.Sequence, error){
		decode.Greedy{}.Run, decode.Sample{Temperature: 1}.Run, decode.Sample{Temperature: 2, TopK: 3, Nucleus: 0.8}.Run,
		func(s *decode.Search) ([]decode.Sequence, error) {
			all, err := decode.Beam{Width: 4, Best: 2}.Run(s)
			return []decode.Sequence{all[0][1], all[1][1], all[2][1]}, err
		},
	} {
		got, err := run(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			slices.Sort(g.Tokens)
			for k := range inputs[i] {
				if len(g.Tokens) != inputs[i] || g.Tokens[k] != int32(k) {
					t.Fatalf("sentence %d: %v is no permutation of %d inputs", i, g.Tokens, inputs[i])
				}
			}
			if inputs[i] == 1 && g.LogProb != 0 {
				t.Errorf("what alone is left has the log-probability %v, want 0", g.LogProb)
			}
		}
	}
}

// A prefix is kept and scored, Forbid or not; the whole of a found sequence as the
// prefix gives its score again, to the bit.
func TestPrefix(t *testing.T) {
	m := &historic{vocabulary: 8, seed: 11}
	s := &decode.Search{Step: m.step, Begin: []int32{0, 0}, End: 5, Longest: []int{6}, Prefix: [][]int32{{7, 1, 2}, nil}}
	s.Forbid = func(_ *decode.Live, _ int, forbidden []bool) { forbidden[7] = true }
	b := decode.Beam{Width: 3, Best: 3, Alpha: 0.7}
	got, err := b.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got[0] {
		if !slices.Equal(g.Tokens[:3], []int32{7, 1, 2}) {
			t.Errorf("%v does not begin with the prefix", g.Tokens)
		}
	}
	s.Forbid, s.Prefix = nil, nil
	if got, err = b.Run(s); err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		s.Prefix = [][]int32{}
		for i := range got {
			p := slices.Clone(got[i][k].Tokens)
			if got[i][k].Ended {
				p = append(p, s.End)
			}
			s.Prefix = append(s.Prefix, p)
		}
		again, err := b.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if a, g := again[i][0], got[i][k]; len(again[i]) != 1 || !sameTokens(a, g) || a.LogProb != g.LogProb || a.Score != g.Score {
				t.Errorf("forced, it is %v, found %v", again[i], g)
			}
		}
	}
}

// A step may hand on the very state it was given: rows follow their hypotheses,
// though two tapes take turns.
func TestStateFollows(t *testing.T) {
	m := &historic{vocabulary: 5, seed: 2}
	step := func(t2 *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		for i := range l.Len() {
			sum := tensor.Float(0)
			for _, k := range l.Tokens(i, nil) {
				sum = sum*5 + tensor.Float(k)
			}
			if l.Step > 12 {
				sum = l.State[1].Value().Row(i)[0] // too large for a float32
			}
			if s := l.State[0].Value().Row(i)[0]; s != tensor.Float(l.Sentence[i]) {
				t.Fatalf("step %d: row %d has the state of sentence %v, it is of %d", l.Step, i, s, l.Sentence[i])
			}
			if got := l.State[1].Value().Row(i)[0]; l.Step > 0 && got*5+tensor.Float(l.Last[i]) != sum && l.Step <= 12 {
				t.Fatalf("step %d: row %d carries %v, its tokens are %v", l.Step, i, got, l.Tokens(i, nil))
			}
		}
		for range 3 { // something that overwrites what is free
			t2.Input(tensor.New(l.Len(), 1)).Shift(99)
		}
		logits, _ := m.step(t2, l)
		last := tensor.New(l.Len(), 1)
		for i, k := range l.Last {
			last.Data[i] = tensor.Float(k)
		}
		carried := l.State[1].Scale(5).Add(t2.Input(last))
		if l.Step == 0 {
			carried = l.State[1].Scale(1)
		}
		return logits, decode.State{l.State[0], carried}
	}
	s := &decode.Search{Step: step, Begin: []int32{0, 0, 0}, End: 0, Longest: []int{9, 4, 30}}
	s.State = decode.State{grad.Const(tensor.Of([]tensor.Float{0, 1, 2}, 3, 1)), grad.Const(tensor.New(1, 1))}
	if _, err := (decode.Beam{Width: 4, Best: 4}).Run(s); err != nil {
		t.Fatal(err)
	}
}

func TestErrors(t *testing.T) {
	nan, inf := tensor.Float(math.NaN()), tensor.Float(math.Inf(1))
	ok := func() *decode.Search {
		return &decode.Search{Step: flat(0, 1, 2), Begin: []int32{0, 0}, End: 0, Longest: []int{4}}
	}
	beam := func(b decode.Beam) func(*decode.Search) error {
		return func(s *decode.Search) error { _, err := b.Run(s); return err }
	}
	sample := func(d decode.Sample) func(*decode.Search) error {
		return func(s *decode.Search) error { _, err := d.Run(s); return err }
	}
	greedy := beam(decode.Beam{Width: 1})
	tests := []struct {
		name   string
		change func(*decode.Search)
		run    func(*decode.Search) error
		want   string
	}{
		{"no step", func(s *decode.Search) { s.Step = nil }, greedy, "Step is nil"},
		{"End", func(s *decode.Search) { s.End = -2 }, greedy, "End is -2"},
		{"unknown End", func(s *decode.Search) { s.End = 3 }, greedy, "End is 3, and the step has logits for 3 tokens"},
		{"lengths", func(s *decode.Search) { s.Longest = []int{1, 2, 3} }, greedy, "3 numbers for 2 sentences"},
		{"no lengths", func(s *decode.Search) { s.Longest = nil }, greedy, "0 numbers for 2 sentences"},
		{"length 0", func(s *decode.Search) { s.Longest = []int{3, 0} }, greedy, "of sentence 1 is 0"},
		{"prefixes", func(s *decode.Search) { s.Prefix = [][]int32{{1}} }, greedy, "1 lists for 2 sentences"},
		{"long prefix", func(s *decode.Search) { s.Prefix = [][]int32{nil, {1, 1, 1, 1, 1}} }, greedy, "sentence 1 has 5 tokens"},
		{"ended prefix", func(s *decode.Search) { s.Prefix = [][]int32{{1, 0, 1}, nil} }, greedy, "goes on after End, its token 1"},
		{"negative prefix", func(s *decode.Search) { s.Prefix = [][]int32{{-3}, nil} }, greedy, "has the token -3"},
		{"unknown prefix", func(s *decode.Search) { s.Prefix = [][]int32{nil, {2, 3}} }, greedy, "sentence 1, step 1: its prefix has the token 3, and there are 3"},
		{"forbidden prefix", func(s *decode.Search) { s.Step, s.Prefix = flat(0, -inf), [][]int32{nil, {1}} }, greedy, "sentence 1, step 0: token 1 of its prefix"},
		{"NaN", func(s *decode.Search) { s.Step = flat(0, 1, nan) }, greedy, "sentence 0, step 0: the logit of token 2 is NaN"},
		{"NaN, drawn", func(s *decode.Search) { s.Step = flat(0, nan, 1) }, sample(decode.Sample{Temperature: 1}), "logit of token 1 is NaN"},
		{"infinite", func(s *decode.Search) { s.Step = flat(0, inf) }, greedy, "logit of token 1 is +Inf"},
		{"nothing", func(s *decode.Search) { s.Step = flat(-inf, -inf) }, greedy, "every token of every hypothesis is forbidden"},
		{"forbidden", func(s *decode.Search) {
			s.Forbid = func(l *decode.Live, row int, f []bool) { f[0], f[1], f[2] = true, true, l.Sentence[row] == 1 }
		}, sample(decode.Sample{Temperature: 1}), "sentence 1, step 0: every token"},
		{"width", nil, beam(decode.Beam{}), "Width is 0"},
		{"best", nil, beam(decode.Beam{Width: 2, Best: 3}), "Best is 3"},
		{"norm", nil, beam(decode.Beam{Width: 2, Norm: 2}), "Norm is 2"},
		{"alpha", nil, beam(decode.Beam{Width: 2, Alpha: math.NaN()}), "Alpha is NaN"},
		{"temperature", nil, sample(decode.Sample{Temperature: -1}), "Temperature is -1"},
		{"NaN temperature", nil, sample(decode.Sample{Temperature: math.NaN()}), "Temperature is NaN"},
		{"top k", nil, sample(decode.Sample{TopK: -1}), "TopK is -1"},
		{"nucleus", nil, sample(decode.Sample{Nucleus: 1.5}), "Nucleus is 1.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ok()
			if tt.change != nil {
				tt.change(s)
			}
			if err := tt.run(s); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := greedy(ok()); err != nil {
		t.Error(err)
	}
}

// A step of another shape is a bug of the program.
func TestStepShape(t *testing.T) {
	rows := func(n int) *grad.Var { return grad.Const(tensor.New(n, 2)) }
	for name, step := range map[string]decode.Step{
		"logits": func(*grad.Tape, *decode.Live) (*grad.Var, decode.State) { return rows(3), nil },
		"axes": func(*grad.Tape, *decode.Live) (*grad.Var, decode.State) {
			return grad.Const(tensor.New(2, 2, 2)), nil
		},
		"state": func(*grad.Tape, *decode.Live) (*grad.Var, decode.State) { return rows(2), decode.State{rows(1)} },
	} {
		err := tensor.Try(func() {
			_, _ = decode.Greedy{}.Run(&decode.Search{Step: step, Begin: []int32{0, 0}, Longest: []int{2}})
		})
		if !errors.As(err, new(*tensor.ShapeError)) {
			t.Errorf("%s: got %v, want a ShapeError", name, err)
		}
	}
}

// A state that every step returns as it came stays what it was, though nothing is
// reordered and the memory of each tape is used again.
func TestStateStays(t *testing.T) {
	step := func(tape *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		for i := range 1 + 2*l.Step { // all that is free is overwritten
			tape.Input(tensor.New(l.Len(), 3)).Shift(float64(90 + i))
		}
		for i, v := range l.State[0].Value().Data {
			if v != tensor.Float(i%3) {
				t.Fatalf("step %d: the state is %v", l.Step, l.State[0].Value().Data)
			}
		}
		return tape.Input(tensor.New(l.Len(), 4)), l.State
	}
	s := &decode.Search{Step: step, Begin: []int32{0, 0}, End: decode.NoEnd, Longest: []int{9}}
	s.State = decode.State{grad.Const(tensor.Of([]tensor.Float{0, 1, 2}, 1, 3))}
	if _, err := (decode.Greedy{}).Run(s); err != nil {
		t.Fatal(err)
	}
}
