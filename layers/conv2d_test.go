package layers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pictured is a picture: a row of numbers for each of its cells.
type pictured struct {
	rows, cols int
	x          *tensor.Dense
}

// pictures are of odd shapes, one of them without cells, a stack of their rows beneath.
func pictures(width int) (all []pictured, x *grad.Param) {
	rng, n := rand.New(rand.NewPCG(3, 5)), 0
	for _, side := range [][2]int{{1, 1}, {1, 5}, {4, 1}, {0, 3}, {3, 6}, {5, 4}} {
		n += side[0] * side[1]
		all = append(all, pictured{rows: side[0], cols: side[1]})
	}
	x = grad.NewParam(n, width)
	x.Value.Normal(rng, 0, 1)
	at := 0
	for i, p := range all {
		all[i].x = x.Value.RowRange(at, at+p.rows*p.cols)
		at += p.rows * p.cols
	}
	return all, x
}

// convOracle is a convolution of one picture in nested loops, with zeros beyond its edges.
func convOracle(l *layers.Conv2D, p pictured, w graph.Window) (y [][]float64) {
	stride := max(1, w.Stride)
	for top := -w.Pad; top+w.Size <= p.rows+w.Pad && len(p.x.Data) > 0; top += stride {
		for left := -w.Pad; left+w.Size <= p.cols+w.Pad; left += stride {
			row := make([]float64, l.Out)
			for q := range row {
				if l.B != nil {
					row[q] = float64(l.B.Value.Data[q])
				}
				for i := range w.Size {
					for j := range w.Size {
						for in := range l.In {
							if r, c := top+i, left+j; r >= 0 && r < p.rows && c >= 0 && c < p.cols {
								row[q] += float64(p.x.Row(r*p.cols + c)[in]) * float64(l.W.Value.Data[((i*w.Size+j)*l.In+in)*l.Out+q])
							}
						}
					}
				}
				if l.Activation == grad.ReLU {
					row[q] = max(0, row[q])
				}
			}
			y = append(y, row)
		}
	}
	return y
}

// A convolution on a batch of pictures of odd shapes is the nested loops on each, and the message
// whose matrix the kind of an edge picks; alone each picture has the same bits.
func TestConv2D(t *testing.T) {
	all, x := pictures(3)
	xv := grad.Const(x.Value)
	for _, c := range []struct {
		l layers.Conv2D
		w graph.Window
	}{
		{layers.Conv2D{}, graph.Window{Size: 3, Pad: 1}},
		{layers.Conv2D{NoBias: true, Activation: grad.ReLU}, graph.Window{Size: 3, Stride: 2, Pad: 1}},
		{layers.Conv2D{Kernel: 1}, graph.Window{Size: 1}},
		{layers.Conv2D{Kernel: 2, Activation: grad.ReLU}, graph.Window{Size: 2, Stride: 2}},
		{layers.Conv2D{Kernel: 5}, graph.Window{Size: 5, Pad: 2}},
	} {
		l, what := &c.l, fmt.Sprint(c.w)
		l.In, l.Out = 3, 2
		l.Init(rand.New(rand.NewPCG(1, 2)))
		if l.B != nil {
			l.B.Value.Normal(rand.New(rand.NewPCG(2, 2)), 0, 1)
		}
		var parts []*graph.Graph
		var want [][]float64
		for _, p := range all {
			parts = append(parts, graph.Windows(p.rows, p.cols, c.w))
			want = append(want, convOracle(l, p, c.w)...)
		}
		g := graph.Batch(parts...)
		y := l.Forward(nil, g, xv).Value()
		if y.Rows() != len(want) {
			t.Fatalf("%s: %d places, want %d", what, y.Rows(), len(want))
		}
		for v, row := range want {
			compare.Near(t, fmt.Sprintf("%s: place %d", what, v), y.Row(v), row, compare.Off(1e-5, 1e-12))
		}
		for i, p := range all {
			lo, hi := g.DstOffsets()[i], g.DstOffsets()[i+1]
			if alone := l.Forward(nil, parts[i], grad.Const(p.x)).Value(); !slices.Equal(alone.Data, y.RowRange(lo, hi).Data) {
				t.Errorf("%s: picture %d alone differs", what, i)
			}
		}
		k, columns := l.W.Value.Dim(0), []*grad.Var(nil)
		for i := range k {
			columns = append(columns, grad.Const(l.W.Value).RowRange(i, i+1).Reshape(3, 2))
		}
		xw := xv.MatMul(grad.Concat(columns...)).Reshape(x.Value.Rows(), k, 2)
		act := l.Activation
		var bias *grad.Var
		if l.B != nil {
			bias = grad.Const(l.B.Value)
		}
		picked := message.UpdateAll(g, message.U(xw).Pick(g.Kinds()), message.Sum).AddBias(bias, act).Value()
		summed := message.UpdateKinds(g, xv, grad.Const(l.W.Value), message.Sum).AddBias(bias, act).Value()
		for _, other := range []*tensor.Dense{picked, summed} {
			if diff := compare.Differ(other.Data, y.Data, compare.Off(1e-5, 1e-12)); diff != nil {
				t.Errorf("%s: as a message: %v", what, diff)
			}
		}
		if act == grad.Identity || gradtest.Sharp { // in float32 a step walks over the corner of a ReLU
			gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var { return weigh(l.Forward(tp, g, tp.Use(x))) })
		}
	}
}

// Pooling is a message on a coarser graph: the largest of each two by two, or their mean.
func TestPoolingIsAMessage(t *testing.T) {
	all, x := pictures(2)
	w, from := graph.Window{Size: 2, Stride: 2}, 0
	for _, p := range all {
		g := graph.Windows(p.rows, p.cols, w)
		xv := grad.Const(x.Value.RowRange(from, from+p.rows*p.cols))
		most, mean := message.UpdateAll(g, message.U(xv), message.Max).Value(), message.UpdateAll(g, message.U(xv), message.Mean).Value()
		for r := range p.rows / 2 {
			for c := range p.cols / 2 {
				for j := range 2 {
					sum, best := 0.0, tensor.Float(-100)
					for k := range 4 {
						v := p.x.Row((2*r+k/2)*p.cols + 2*c + k%2)[j]
						sum, best = sum+float64(v)/4, max(best, v)
					}
					at := r*(p.cols/2) + c
					compare.Number(t, fmt.Sprintf("mean %d of %d×%d", at, p.rows, p.cols), mean.Row(at)[j], sum, compare.Off(1e-6, 1e-12))
					if most.Row(at)[j] != best {
						t.Errorf("maximum %d of %d×%d is %v, want %v", at, p.rows, p.cols, most.Row(at)[j], best)
					}
				}
			}
		}
		from += p.rows * p.cols
	}
}

// What a convolution cannot do, it says.
func TestConv2DMisuse(t *testing.T) {
	x := grad.Const(tensor.New(8, 3))
	two := graph.Must(graph.WithKinds(odd(), make([]int32, 13)))
	for want, c := range map[string]struct {
		l layers.Conv2D
		g *graph.Graph
	}{
		"edges have no kinds":                  {layers.Conv2D{}, odd()},
		"an edge has kind 8, and Kernel² is 4": {layers.Conv2D{Kernel: 2}, graph.Windows(2, 4, graph.Window{Size: 3, Pad: 1})},
		"two in-edges of kind 0":               {layers.Conv2D{}, two},
	} {
		c.l.In, c.l.Out = 3, 2
		c.l.Init(rand.New(rand.NewPCG(1, 1)))
		if err := misused(func() { c.l.Forward(nil, c.g, x) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a TapeError about %q", err, want)
		}
	}
	l := &layers.Conv2D{In: 3, Out: 2}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	l.Kernel = 5
	if err := misused(func() { l.Forward(nil, graph.Windows(2, 4, graph.Window{Size: 5, Pad: 2}), x) }); err == nil || !strings.Contains(err.Error(), "Kernel was changed after Init") {
		t.Errorf("got %v, want an error about Kernel", err)
	}
}
