package text

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// shapeError runs f, which must panic with a ShapeError, and returns its text.
func shapeError(t *testing.T, f func()) string {
	t.Helper()
	err := tensor.Try(f)
	if !errors.As(err, new(*tensor.ShapeError)) {
		t.Fatalf("error %v, want a ShapeError", err)
	}
	return err.Error()
}

func TestRagged(t *testing.T) {
	r := RaggedOf([]int32{5, 6, 7}, nil, []int32{8})
	if r.Len() != 3 || !slices.Equal(r.Lengths(), []int{3, 0, 1}) || !slices.Equal(r.Sequence(2), []int32{8}) {
		t.Errorf("%+v", r)
	}
	b := r.Batch([]int32{2, 0, 1})
	if !slices.Equal(b.Tokens, []int32{8, 5, 6, 7}) || !slices.Equal(b.Graph.NodeOffsets(), []int{0, 1, 4, 4}) || b.Graph.NumEdges() != 2 {
		t.Errorf("batch %v of %d edges", b.Tokens, b.Graph.NumEdges())
	}
	back := make([][]int32, 3)
	b.Scatter(back, b.Tokens)
	for i := range r.Len() {
		if !slices.Equal(back[i], r.Sequence(i)) {
			t.Errorf("sequence %d comes back as %v", i, back[i])
		}
	}
	if empty := r.Batch(nil); empty.Graph.NumNodes() != 0 || len(empty.Tokens) != 0 {
		t.Errorf("an empty batch has %d nodes", empty.Graph.NumNodes())
	}
	var none Ragged
	if none.Len() != 0 || len(none.Lengths()) != 0 || none.Graph().NumNodes() != 0 || none.Batch(nil).Graph.NumNodes() != 0 {
		t.Error("the zero Ragged holds something")
	}
	shapeError(t, func() { r.Rows([]int32{3}) })
	shapeError(t, func() { r.Batch([]int32{-1}) })
	shapeError(t, func() { b.Scatter(back, b.Tokens[:3]) })
	shapeError(t, func() { b.Scatter(back[:2], b.Tokens) })
}

// What add does must not reach into the sequences that others share.
func TestSequenceIsItsOwn(t *testing.T) {
	r := RaggedOf([]int32{1}, []int32{2})
	_ = append(r.Sequence(0), 9)
	if r.Tokens[1] != 2 {
		t.Error("appending to a sequence wrote into the next")
	}
}

func TestByLength(t *testing.T) {
	lengths := make([]int, 1003)
	for i := range lengths {
		lengths[i] = i * 7919 % 50
	}
	first := ByLength(lengths, 8, 1, 0)
	seen, spread := make([]int, len(lengths)), 0
	for k, rows := range first {
		if len(rows) > 8 || len(rows) == 0 {
			t.Fatalf("batch %d has %d rows", k, len(rows))
		}
		lo, hi := 50, 0
		for _, i := range rows {
			seen[i]++
			lo, hi = min(lo, lengths[i]), max(hi, lengths[i])
		}
		spread += hi - lo
	}
	if len(first) != 126 || slices.Min(seen) != 1 || slices.Max(seen) != 1 {
		t.Errorf("%d batches, rows %d to %d times", len(first), slices.Min(seen), slices.Max(seen))
	}
	if mean := float64(spread) / float64(len(first)); mean > 4 { // of shuffled rows, about 39
		t.Errorf("lengths of a batch are %.1f apart", mean)
	}
	same := func(a, b [][]int32) bool { return slices.EqualFunc(a, b, slices.Equal[[]int32]) }
	if !same(first, ByLength(lengths, 8, 1, 0)) {
		t.Error("the same seed and epoch give other batches")
	}
	if same(first, ByLength(lengths, 8, 1, 1)) || same(first, ByLength(lengths, 8, 2, 0)) {
		t.Error("another epoch or seed gives the same batches")
	}
	sorted := slices.IsSortedFunc(first, func(a, b []int32) int { return lengths[a[0]] - lengths[b[0]] })
	if sorted {
		t.Error("short batches always come first")
	}
	if n := len(ByLength(nil, 8, 1, 0)); n != 0 {
		t.Errorf("%d batches of nothing", n)
	}
	shapeError(t, func() { ByLength(lengths, 0, 1, 0) })
}

func TestPairs(t *testing.T) {
	p := Pairs{RaggedOf([]int32{4, 5, 6}, []int32{7}, []int32{8}), RaggedOf([]int32{4}, []int32{5, 6}, nil)}
	b := p.Batch([]int32{1, 2, 0})
	got := fmt.Sprint(b.Source.Tokens, b.Input.Tokens, b.Output, b.Input.Graph.NodeOffsets(), b.Input.Rows)
	if want := fmt.Sprint([]int32{7, 8, 4, 5, 6}, []int32{Begin, 5, 6, Begin, Begin, 4}, []int32{5, 6, End, End, 4, End}, []int{0, 3, 4, 6}, []int32{1, 2, 0}); got != want {
		t.Errorf("batch %s, want %s", got, want)
	}
	if short := p.Within(2); short.Len() != 2 || short.Source.Tokens[0] != 7 {
		t.Errorf("within 2: %+v", short)
	}
	broken := Pairs{RaggedOf([]int32{1}), RaggedOf()}
	shapeError(t, func() { broken.Batch(nil) })
	shapeError(t, func() { broken.Within(3) })
}

func TestSegments(t *testing.T) {
	in, next := Segments([]int32{3, 4, 5, 6, 7, 8}, 2)
	got := fmt.Sprint(in.Sequence(0), in.Sequence(1), in.Sequence(2), next.Sequence(0), next.Sequence(1), next.Sequence(2), in.Len(), next.Len())
	if got != "[3 4] [5 6] [7] [4 5] [6 7] [8] 3 3" {
		t.Errorf("segments %s", got)
	}
	for _, few := range [][]int32{nil, {3}} {
		if in, next := Segments(few, 2); in.Len() != 0 || next.Len() != 0 || len(in.Tokens)+len(next.Tokens) != 0 {
			t.Errorf("%v: %+v and %+v", few, in, next)
		}
	}
	shapeError(t, func() { Segments(nil, 0) })
}

func TestSeriesRows(t *testing.T) {
	s := Series{tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2), []int{0, 1, 1, 4}}
	r := s.Rows([]int32{2, 1, 0})
	if !slices.Equal(r.X.Data, []tensor.Float{3, 4, 5, 6, 7, 8, 1, 2}) || !slices.Equal(r.Lengths(), []int{3, 0, 1}) || r.Graph().NumEdges() != 2 {
		t.Errorf("%v of lengths %v", r.X.Data, r.Lengths())
	}
	shapeError(t, func() { s.Rows([]int32{3}) })
}

func TestLabelled(t *testing.T) {
	l := &Labelled{Texts: []string{"a", "b", "a", "a"}, Labels: []int32{0, 1, 0, 2}, Classes: []string{"A:x", "A:y", "B:x"}}
	u := l.Unique()
	if !slices.Equal(u.Texts, []string{"a", "b", "a"}) || !slices.Equal(u.Labels, []int32{0, 1, 2}) {
		t.Errorf("unique %v %v", u.Texts, u.Labels)
	}
	if c := l.Coarse(); !slices.Equal(c.Classes, []string{"A", "B"}) || !slices.Equal(c.Labels, []int32{0, 0, 0, 1}) {
		t.Errorf("coarse %v %v", c.Classes, c.Labels)
	}
	if m := l.Map(func(s string) string { return s + s }); m.Texts[1] != "bb" || l.Texts[1] != "b" {
		t.Errorf("mapped %v, before %v", m.Texts, l.Texts)
	}
	big := (Task{Count: 200}).Dates()
	many := &Labelled{Texts: big.Source, Labels: make([]int32, 200), Classes: []string{"A"}}
	train, test := many.Split(0.1, 7)
	again, _ := many.Split(0.1, 7)
	other, _ := many.Split(0.1, 8)
	both := slices.Concat(train.Texts, test.Texts)
	slices.Sort(both)
	if test.Len() != 20 || train.Len() != 180 || !slices.Equal(both, slices.Sorted(slices.Values(many.Texts))) || !slices.Equal(train.Texts, again.Texts) || slices.Equal(train.Texts, other.Texts) {
		t.Errorf("split into %d and %d", train.Len(), test.Len())
	}
	bare := &Labelled{Texts: []string{"x", "x"}}
	if u := bare.Unique(); u.Len() != 1 || u.Labels != nil {
		t.Errorf("unique %v %v", u.Texts, u.Labels)
	}
	shapeError(t, func() { l.Rows([]int32{4}) })
}
