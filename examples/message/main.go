// Message sends a message that no layer of the library sends: attention that fades with the
// distance between two points, behind a gate that both ends open. It shows how the formula is
// spelt, that its gradient needs no code, how it will run, and what it costs beside the usual
// way, which makes an array with a row for each edge at every step.
//
//	go run ./examples/message
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

const points, near, in, heads, width = 20_000, 12, 32, 4, 8 // each point hears the 12 nearest

// Faded is the formula. Points stand at p; a, b and h are linear in their features x:
//
//	y_v = Σ_u α_uv · sigmoid(a_u + b_v) · h_u,   α_uv = softmax_u( −c·|p_u − p_v|² )
type Faded struct{ A, B, C, H *grad.Param }

// Init draws the Params, which are trained: a matrix for each of a, b and h, and c.
func (l *Faded) Init(rng *rand.Rand) {
	l.A, l.B, l.H = grad.Glorot(rng, in, heads), grad.Glorot(rng, in, heads), grad.Glorot(rng, in, heads*width)
	l.C = grad.NewParam(heads, 1)
	l.C.Value.Fill(0.5)
}

// Message is what an edge carries. It computes nothing yet: U is a row at the edge's source, V
// one at its destination, and W is the same on every edge.
func (l *Faded) Message(t *grad.Tape, x, p *grad.Var) message.Msg {
	step := message.USubV(p, p)
	attention := step.Dot(step).Mul(message.W(t.Use(l.C))).Neg().Softmax() // a number a head
	gate := message.UAddV(x.Project(t.Use(l.A), heads), x.Project(t.Use(l.B), heads)).Sigmoid()
	return message.U(x.Project(t.Use(l.H), heads)).Mul(attention).Mul(gate)
}

// Stored is the same formula as one would write it with gather and scatter.
func (l *Faded) Stored(t *grad.Tape, g *graph.Graph, x, p *grad.Var) *grad.Var {
	sources, destinations := g.In().Cols, g.Destinations()
	step := p.Rows(sources).Sub(p.Rows(destinations))
	attention := message.EdgeSoftmax(g, step.Dot(step).InsertAxis(1).Mul(t.Use(l.C)).Neg())
	a, b := x.Project(t.Use(l.A), heads), x.Project(t.Use(l.B), heads)
	gate := a.Rows(sources).Add(b.Rows(destinations)).Sigmoid()
	h := x.Project(t.Use(l.H), heads).Rows(sources)
	return h.Mul(attention).Mul(gate).ScatterAdd(destinations, points)
}

func main() {
	rng := rand.New(rand.NewPCG(1, 0))
	places, features := tensor.New(points, 2), tensor.New(points, in)
	places.Uniform(rng, 0, 100)
	features.Normal(rng, 0, 1)
	g, err := nearest.KNN(places, near)
	if err != nil {
		log.Fatal(err)
	}
	x, p, l := grad.Const(features), grad.Const(places), &Faded{}
	l.Init(rng)
	fmt.Print(message.Explain(g, l.Message(nil, x, p), message.Sum))

	fused, norm := measure(func(t *grad.Tape) *grad.Var { return message.UpdateAll(g, l.Message(t, x, p), message.Sum) })
	stored, same := measure(func(t *grad.Tape) *grad.Var { return l.Stored(t, g, x, p) })
	fmt.Printf("length of the gradient: %.4g, with rows of edges %.4g\n", norm, same)
	fmt.Printf("%d edges, forward and backward: %.0f ms, with rows of edges %.0f ms, %.1f times as long\n",
		g.NumEdges(), fused*1e3, stored*1e3, stored/fused)
}

// measure returns the least time of five steps in seconds, and the length of the gradient of the
// mean square. The tape uses its memory again in every step.
func measure(forward func(t *grad.Tape) *grad.Var) (least, norm float64) {
	least = math.Inf(1)
	t := grad.NewTape(1)
	for range 5 {
		begin := time.Now()
		t.Reset()
		norm = t.Backward(forward(t).Square().Mean()).Norm()
		least = min(least, time.Since(begin).Seconds())
	}
	return least, norm
}

// Output:
// tiles: 250 edges at a time, 49 elements of scratch an edge (forward)
//    0 U              [4 8]
//    1 U              [2]
//    2 V              [2]
//    3 Sub            [2] of 1, 2
//    4 Dot            [1] of 3, 3
//    5 W              [4 1]
//    6 Mul by runs    [4 1] of 5, 4
//    7 Neg            [4 1] of 6
//    8 Softmax        [4 1] of 7
//    9 Mul by runs    [4 8] of 0, 8
//   10 U              [4 1]
//   11 V              [4 1]
//   12 Add            [4 1] of 10, 11
//   13 Sigmoid        [4 1] of 12
//   14 Mul by runs    [4 8] of 9, 13
//   reduced by [Sum] onto 20000 destinations
// each step across the in-edges keeps two numbers a column for every destination: 160000 numbers
// length of the gradient: 0.01411, with rows of edges 0.01411
// 240000 edges, forward and backward: 13 ms, with rows of edges 102 ms, 8.2 times as long
