package memory_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

var filed = []memory.Story{
	{Sentences: [][]int32{{1, 2}, {3}, {4, 0, 1}}, Values: [][]int32{{5}, {6, 1}, {2}}, Question: []int32{3, 1}, Answer: 2},
	{Question: []int32{2}, Answer: 0},
	{Sentences: [][]int32{{6}}, Values: [][]int32{{}}, Question: []int32{4}, Answer: grad.NoLabel},
}

func keyValue(e memory.Encoding) *memory.KeyValue {
	m := &memory.KeyValue{Vocab: 7, Dim: 3, Answers: 4, Hops: 2, Encoding: e}
	m.Init(rand.New(rand.NewPCG(1, 1)))
	for i := range m.A.Value.Data {
		m.A.Value.Data[i] *= 8
	}
	return m
}

func filedOf(t *testing.T, m *memory.KeyValue, stories ...memory.Story) *memory.Stories {
	t.Helper()
	s, err := m.Batch(stories)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The formulas of the comment in loops: what is read with is the key, what is carried the value.
func TestKeyValueIsItsFormula(t *testing.T) {
	for _, e := range []memory.Encoding{memory.BagOfWords, memory.Position} {
		m := keyValue(e)
		like := &memory.MemN2N{Vocab: 7, Dim: 3, Encoding: e, NoTime: true} // whose loops encode
		got := m.Forward(nil, filedOf(t, m, filed...)).Value()
		for i, s := range filed {
			u := encode(like, m.A, s.Question, 0)
			for _, r := range m.R {
				p, sum := make([]float64, len(s.Sentences)), 0.0
				for k, key := range s.Sentences {
					p[k] = math.Exp(dot(encode(like, m.A, key, 0), u))
					sum += p[k]
				}
				o := slices.Clone(u)
				for k, value := range s.Values {
					for j, v := range encode(like, m.A, value, 0) {
						o[j] += p[k] / sum * v
					}
				}
				for j := range u {
					u[j] = 0
					for k, v := range o {
						u[j] += v * float64(r.Value.Row(k)[j])
					}
				}
			}
			for a := range 4 {
				want := 0.0
				for j, v := range u {
					want += v * float64(m.B.Value.Row(a)[j])
				}
				if g := float64(got.Row(i)[a]); math.Abs(g-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("%v: story %d gives answer %d %v, want %v", e, i, a, g, want)
				}
			}
			if one := m.Forward(nil, filedOf(t, m, s)).Value(); !slices.Equal(one.Data, got.Row(i)) {
				t.Errorf("%v: story %d alone gives %v, in a batch %v", e, i, one.Data, got.Row(i))
			}
		}
		s := filedOf(t, m, filed...)
		gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var { return s.Loss(m.Forward(tape, s)) })
	}
}

func TestKeyValueRefuses(t *testing.T) {
	m := keyValue(memory.BagOfWords)
	for want, s := range map[string]memory.Story{
		"story 0 has 1 sentences and 0 values":        {Sentences: [][]int32{{1}}, Question: []int32{1}},
		"word 0 of value 0 of story 0 is 7":           {Sentences: [][]int32{{1}}, Values: [][]int32{{7}}, Question: []int32{1}},
		"the answer of story 0 is 5, and there are 4": {Question: []int32{1}, Answer: 5},
	} {
		if _, err := m.Batch([]memory.Story{s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	plain := &memory.MemN2N{Vocab: 7, Dim: 3, NoTime: true}
	plain.Init(rand.New(rand.NewPCG(1, 1)))
	if got := panicOf(func() { m.Forward(nil, batchOf(t, plain, filed[0])) }); !strings.Contains(got, "of another network") {
		t.Errorf("stories without values: %q", got)
	}
	if got := panicOf(func() { plain.Forward(nil, filedOf(t, m, filed[0])) }); !strings.Contains(got, "of another network") {
		t.Errorf("stories with values: %q", got)
	}
	if got := panicOf(func() { (&memory.KeyValue{Vocab: 7, Dim: 3}).Init(rand.New(rand.NewPCG(1, 1))) }); !strings.Contains(got, "Answers 0") {
		t.Errorf("no answers: %q", got)
	}
}
