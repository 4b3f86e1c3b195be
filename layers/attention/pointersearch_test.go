package attention_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// What a search is told to answer has the log-probability of Forward, and each of its steps
// the same bits.
func TestPointerSearchIsForward(t *testing.T) {
	x := pointsOf(8)
	for _, f := range pointerForms {
		l := newPointer(f.like)
		p := pointing(t, l, pointerSets, f.answers)
		logits := l.Forward(grad.NewEval(), p, grad.Const(x)).Value().Data
		s, err := l.Search(pointerSets, grad.Const(x))
		if err != nil {
			t.Fatal(err)
		}
		width, rows := 4, map[[2]int][]tensor.Float{} // by sentence and step
		step := s.Step
		s.Step = func(tp *grad.Tape, live *decode.Live) (*grad.Var, decode.State) {
			y, next := step(tp, live)
			for i, set := range live.Sentence {
				rows[[2]int{int(set), live.Step}] = slices.Clone(y.Value().Row(i))
			}
			return y, next
		}
		s.Prefix = make([][]int32, len(f.answers))
		for i, answer := range f.answers {
			s.Prefix[i] = slices.Clone(answer)
			if l.End {
				s.Prefix[i] = append(s.Prefix[i], s.End)
			} else {
				s.Longest[i] = len(answer)
			}
		}
		found, err := decode.Greedy{}.Run(s)
		if err != nil {
			t.Fatal(f.name, err)
		}
		ends, e := pointerSets.NodeOffsets(), 0
		for i, answer := range f.answers {
			logP, all := pointerLoops(l, x.RowRange(ends[i], ends[i+1]), answer, allowedBy(l, ends[i+1]-ends[i]))
			sum := 0.0
			for k := range all {
				sum += logP[k]
				var want []tensor.Float // as the search has them
				for j := range width {
					want = append(want, tensor.Float(math.Inf(-1)))
					if j < ends[i+1]-ends[i] && allowedBy(l, ends[i+1]-ends[i])(answer[:min(k, len(answer))], j) {
						want[j] = logits[e]
						e++
					}
				}
				if l.End {
					want = append(want, logits[e])
					e++
				}
				if got := rows[[2]int{i, k}]; !slices.Equal(got, want) {
					t.Fatalf("%s, set %d, step %d: the search has %v, Forward %v", f.name, i, k, got, want)
				}
			}
			if !slices.Equal(found[i].Tokens, answer) || math.Abs(found[i].LogProb-sum) > 1e-5 {
				t.Errorf("%s, set %d: %v with %v, want %v with %v", f.name, i, found[i].Tokens, found[i].LogProb, answer, sum)
			}
		}
	}
}

// With NoRepeat weights that have learnt nothing give a permutation, by any width of beam; a
// batch the answers of its sets alone. A wider beam is not less likely than greedy here.
func TestPointerDecode(t *testing.T) {
	x := pointsOf(8)
	ends := pointerSets.NodeOffsets()
	for _, f := range pointerForms {
		l := newPointer(f.like)
		for _, width := range []int{1, 3} {
			all, err := l.Decode(pointerSets, grad.Const(x), width)
			if err != nil {
				t.Fatal(f.name, err)
			}
			for i, answer := range all {
				n := ends[i+1] - ends[i]
				alone, err := l.Decode(graph.Chains(n), grad.Const(x.RowRange(ends[i], ends[i+1])), width)
				if err != nil || !slices.Equal(alone[0], answer) {
					t.Errorf("%s: set %d alone is answered %v, %v, in the batch %v", f.name, i, alone, err, answer)
				}
				for k, j := range answer {
					if j < 0 || int(j) >= n || !allowedBy(l, n)(answer[:k], int(j)) {
						t.Errorf("%s: the answer to set %d is %v", f.name, i, answer)
					}
				}
				if !l.End && len(answer) != n {
					t.Errorf("%s: the answer to %d points is %v", f.name, n, answer)
				}
			}
		}
	}
}

// The likeliest of all answers is found by a beam that is wide enough.
func TestPointerBeamFindsTheLikeliest(t *testing.T) {
	l, x := newPointer(attention.Pointer{NoRepeat: true}), pointsOf(4)
	var best []int32
	most := math.Inf(-1)
	var try func(answer []int32)
	try = func(answer []int32) {
		if len(answer) == 4 {
			logP, _ := pointerLoops(l, x, answer, allowedBy(l, 4))
			sum := 0.0
			for _, v := range logP {
				sum += v
			}
			if sum > most {
				best, most = answer, sum
			}
		}
		for j := range int32(4) {
			if !slices.Contains(answer, j) {
				try(append(slices.Clone(answer), j))
			}
		}
	}
	try(nil)
	got, err := l.Decode(graph.Chains(4), grad.Const(x), 24)
	if err != nil || !slices.Equal(got[0], best) {
		t.Errorf("a beam of 24 finds %v, %v; the likeliest is %v", got, err, best)
	}
}

// A file of a network gives one of the same fields its answers.
func TestPointerIsSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pointer.safetensors")
	like := attention.Pointer{NoRepeat: true, End: true, Glimpse: new(attention.Additive)}
	a, b := newPointer(like), newPointer(like)
	for _, p := range grad.Params(b) {
		p.Value.Zero()
	}
	if err := train.Save(path, a); err != nil {
		t.Fatal(err)
	}
	if err := train.Load(path, b); err != nil {
		t.Fatal(err)
	}
	p := pointing(t, a, graph.Chains(4), [][]int32{{2, 0, 1}})
	x := grad.Const(pointsOf(4))
	if y, z := a.Forward(nil, p, x).Value(), b.Forward(nil, p, x).Value(); !slices.Equal(y.Data, z.Data) {
		t.Errorf("loaded it gives %v, saved %v", z.Data, y.Data)
	}
}
