package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What follows is quoted in docs/library/writing-a-layer.md; TestWriting compares.

// GATv2 is graph attention, for each head
//
//	y_v = Σ_u α_uv·xW_u,   α_uv = softmax_u( a·LeakyReLU(xW_u + xV_v) )
//
// x is N×In, the result N×(Heads·Out). A node without in-edges gets zero.
type GATv2 struct {
	In, Out, Heads int

	W *grad.Param `json:"-"` // In×(Heads·Out), of the sources
	V *grad.Param `json:"-"` // In×(Heads·Out), of the destinations
	A *grad.Param `json:"-"` // Heads×Out
}

// Init makes the Params.
func (l *GATv2) Init(rng *rand.Rand) {
	width := l.Heads * l.Out
	l.W, l.V, l.A = grad.Glorot(rng, l.In, width), grad.Glorot(rng, l.In, width), grad.Glorot(rng, l.Heads, l.Out)
}

// Forward returns the layer's result for the features x of g's nodes.
func (l *GATv2) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	n := x.Dim(0)
	src := x.MatMul(t.Use(l.W)).Reshape(n, l.Heads, l.Out)
	dst := x.MatMul(t.Use(l.V)).Reshape(n, l.Heads, l.Out)
	score := message.UAddV(src, dst).LeakyReLU(0.2).Dot(message.W(t.Use(l.A)))
	y := message.UpdateAll(g, message.U(src).Mul(score.Softmax()), message.Sum)
	return y.Reshape(n, l.Heads*l.Out)
}

// loops is the formula of GATv2 with one head, for x·W, x·V and the edges.
func loops(src, dst, a matrix, from, to []int32) matrix {
	y := make(matrix, len(src))
	total := make([]float64, len(src))
	for v := range y {
		y[v] = make([]float64, len(src[0]))
		for e, u := range from {
			if int(to[e]) != v {
				continue
			}
			score := 0.0
			for k := range a[0] {
				z := src[u][k] + dst[v][k]
				score += a[0][k] * max(z, 0.2*z)
			}
			total[v] += math.Exp(score)
			for k := range y[v] {
				y[v][k] += math.Exp(score) * src[u][k]
			}
		}
		for k := range y[v] {
			if total[v] > 0 {
				y[v][k] /= total[v]
			}
		}
	}
	return y
}

func TestGATv2(t *testing.T) {
	from, to := []int32{0, 1, 2, 2, 2, 3}, []int32{1, 2, 0, 0, 2, 0} // a parallel edge, a loop, and node 4 alone
	g := graph.Must(graph.New(5, from, to))
	l := &GATv2{In: 3, Out: 2, Heads: 1}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	x := grad.NewParam(5, 3)
	x.Value.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)

	y := l.Forward(nil, g, grad.Const(x.Value)).Value()
	for v, row := range loops(affine(values(x), l.W, nil), affine(values(x), l.V, nil), values(l.A), from, to) {
		for k, want := range row {
			if got := float64(y.Row(v)[k]); math.Abs(got-want) > 1e-5 {
				t.Errorf("node %d, column %d is %v, want %v", v, k, got, want)
			}
		}
	}
	if gradtest.Sharp { // go test -tags f64
		gradtest.Check(t, []any{l, x}, func(tp *grad.Tape) *grad.Var {
			return l.Forward(tp, g, tp.Use(x)).Square().Sum()
		})
	}
}

func Example_writing() {
	g := graph.WithSelfLoops(graph.Must(graph.New(4, []int32{0, 1, 2, 3}, []int32{1, 2, 3, 0})))
	l := &GATv2{In: 5, Out: 8, Heads: 2}
	l.Init(rand.New(rand.NewPCG(1, 2)))

	x := tensor.New(4, 5)
	x.Uniform(rand.New(rand.NewPCG(3, 4)), 0, 1)
	t := grad.NewTape(1)
	loss := l.Forward(t, g, grad.Const(x)).CrossEntropy([]int32{0, 1, 2, 3})
	for _, d := range t.Backward(loss) {
		fmt.Println(d.Value.Shape())
	}
	// Output:
	// [5 16]
	// [5 16]
	// [2 8]
}

// With the same Params it is the layer of this package.
func TestGATv2IsGATv2Conv(t *testing.T) {
	l, theirs := &GATv2{In: 3, Out: 2, Heads: 2}, &layers.GATv2Conv{In: 3, Out: 2, Heads: 2, NoBias: true, NoProjBias: true}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	theirs.Init(rand.New(rand.NewPCG(3, 4)))
	l.W, l.V, l.A = theirs.W, theirs.WDst, theirs.Attn
	x := tensor.New(8, 3)
	x.Normal(rand.New(rand.NewPCG(5, 6)), 0, 1)
	got, want := l.Forward(nil, odd(), grad.Const(x)), theirs.Forward(nil, odd(), grad.Const(x))
	golden.Compare(t, "y", got.Value(), want.Value(), 0)
}

// What docs/library/writing-a-layer.md quotes is what stands here.
func TestWriting(t *testing.T) {
	src, err := os.ReadFile("writing_test.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../docs/library/writing-a-layer.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 6 {
		t.Fatalf("docs/library/writing-a-layer.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(src), b[1]) {
			t.Errorf("docs/library/writing-a-layer.md quotes what is not in writing_test.go:\n%s", b[1])
		}
	}
}
