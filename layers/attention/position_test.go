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
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestSinusoids(t *testing.T) {
	y := attention.Sinusoids([]int32{0, 7}, 6)
	if !slices.Equal(y.Row(0), []tensor.Float{0, 1, 0, 1, 0, 1}) {
		t.Errorf("place 0 is %v, want 0, 1, 0, 1 …", y.Row(0))
	}
	for j, v := range y.Row(1) {
		angle := 7 / math.Pow(10000, float64(j-j%2)/6)
		want := math.Sin(angle)
		if j%2 == 1 {
			want = math.Cos(angle)
		}
		if math.Abs(float64(v)-want) > 1e-6 {
			t.Errorf("column %d of place 7 is %v, want %v", j, v, want)
		}
	}
}

// All cosines stand before all sines, at any width; rows and columns permuted alike, a
// network with weights permuted alike says the same.
func TestSinusoidHalves(t *testing.T) {
	places := []int32{0, 1, 7}
	for _, width := range []int{0, 1, 2, 5, 6} {
		y := attention.SinusoidHalves(places, width)
		for i, p := range places {
			for j, v := range y.Row(i) {
				k := j
				if j >= width/2 {
					k -= width / 2
				}
				angle := float64(p) * math.Pow(10000, -2*float64(k)/float64(width))
				want := math.Cos(angle)
				if j >= width/2 {
					want = math.Sin(angle)
				}
				compare.Number(t, "an element", v, want, rounded)
			}
		}
	}
	x, y, w := attention.Sinusoids(places, 6), attention.SinusoidHalves(places, 6), normal(1, 6, 4)
	moved := tensor.New(6, 4)
	for to, from := range []int{1, 3, 5, 0, 2, 4} { // the cosines, and then the sines
		copy(moved.Row(to), w.Row(from))
	}
	compare.Near(t, "a product", grad.Const(y).MatMul(grad.Const(moved)).Value().Data, grad.Const(x).MatMul(grad.Const(w)).Value().Data, compare.Off(1e-5, 0))
}

// The product of two turned rows depends on their distance, and a turn keeps lengths.
func TestRotate(t *testing.T) {
	x := grad.Const(normal(1, 2, 2, 6))
	product := func(a, b int32) []tensor.Float {
		y := attention.Rotate(x, []int32{a, b})
		return y.RowRange(0, 1).Mul(y.RowRange(1, 2)).SumAxis(2).Value().Data
	}
	apart, moved, further := product(3, 5), product(40, 42), product(3, 6)
	for h := range apart {
		if math.Abs(float64(apart[h]-moved[h])) > 1e-4 || math.Abs(float64(apart[h]-further[h])) < 1e-3 {
			t.Errorf("head %d: %v at 3 and 5, %v at 40 and 42, %v at 3 and 6", h, apart[h], moved[h], further[h])
		}
	}
	compare.Equal(t, "place 0", attention.Rotate(x, []int32{0, 0}).Value().Data, x.Value().Data)
	y := attention.Rotate(x, []int32{3, 40}).Value() // a column and the one half a row further, as a complex number times exp(i·p·θ)
	for i, p := range []float64{3, 40} {
		for h := range 2 {
			for j := range 3 {
				a, b, angle := float64(x.Value().Row(i)[6*h+j]), float64(x.Value().Row(i)[6*h+j+3]), p*math.Pow(10000, -float64(j)/3)
				compare.Number(t, "turned", y.Row(i)[6*h+j], a*math.Cos(angle)-b*math.Sin(angle), rounded)
				compare.Number(t, "turned", y.Row(i)[6*h+j+3], a*math.Sin(angle)+b*math.Cos(angle), rounded)
			}
		}
	}
}

// A Rotary head compares queries and keys that are turned by where they stand in their sentence;
// what it carries is not turned.
func TestRotaryHeads(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 8, Heads: 2, Rotary: true})
	g, x := graph.Batch(graph.Complete(2), graph.Causal(3)), grad.Const(normal(1, 5, 8))
	turned := func(w, b *grad.Param) *grad.Var {
		return attention.Rotate(x.Linear(grad.Const(w.Value), grad.Const(b.Value), grad.Identity).Reshape(5, 2, 4), []int32{0, 1, 0, 1, 2})
	}
	s := message.UDotV(turned(l.WKey, l.BKey), turned(l.WQuery, l.BQuery)).Scale(0.5)
	v := x.Linear(grad.Const(l.WValue.Value), grad.Const(l.BValue.Value), grad.Identity).Reshape(5, 2, 4)
	want := message.UpdateAll(g, message.U(v).Mul(s.Softmax()), message.Sum).Reshape(5, 8).Linear(grad.Const(l.WOut.Value), grad.Const(l.BOut.Value), grad.Identity)
	for i, y := range l.Forward(nil, g, x).Value().Data {
		compare.Number(t, "element", y, float64(want.Value().Data[i]), rounded)
	}
}

// The bias of an edge is that of its offset, beyond the last one that of the last.
func TestRelativeBias(t *testing.T) {
	l := newMultiHead(attention.MultiHead{Model: 4, Heads: 2, Relative: 2})
	g, x := graph.Batch(graph.Complete(1), graph.Complete(5)), grad.Const(normal(1, 6, 4))
	bias := tensor.New(26, 2, 1)
	e := 1
	copy(bias.Data, l.Offset.Value.Row(2))
	for v := range 5 {
		for u := range 5 {
			copy(bias.Row(e), l.Offset.Value.Row(min(max(v-u, -2), 2)+2))
			e++
		}
	}
	plain := *l
	plain.Relative = 0
	y := l.Forward(nil, g, x).Value()
	z, _ := plain.Apply(nil, g, attention.QKV{Query: x, Bias: message.E(grad.Const(bias))})
	compare.Near(t, "y", y.Data, z.Value().Data, compare.Off(1e-6, 0))
}

// More tokens than places were learned is an error that says so.
func TestLearnedPlacesEnd(t *testing.T) {
	l := newLanguageModel(attention.Block{Model: 4, Position: attention.Learned, Longest: 3}, 1, 5)
	l.Forward(nil, graph.Batch(graph.Causal(3), graph.Causal(2)), make([]int32, 5))
	got := refusal(t, func() { l.Forward(nil, graph.Causal(4), make([]int32, 4)) })
	if want := "a token stands at place 3, and 3 places are learned"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
