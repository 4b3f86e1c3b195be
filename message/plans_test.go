package message

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// spoken is a message of several shapes, none of which has a rule.
func spoken(x, e, w *grad.Var, kind int) Msg {
	m := UAddV(x, x).Tanh()
	switch kind % 4 {
	case 0:
		return m.Mul(E(e).Softmax())
	case 1:
		return m.MatMul(w).Sigmoid()
	case 2:
		return m.Scale(float64(kind)).Dot(W(w).SumLast().SumLast()).Abs()
	}
	return m.LogSumExpLast().Mul(U(x)).Softmax()
}

// TestPlansOfManyGoroutines says the same and other messages on eight goroutines at
// once, whose plans are shared: each gets the bits that it gets alone.
func TestPlansOfManyGoroutines(t *testing.T) {
	g := random.BarabasiAlbert(rand.New(rand.NewPCG(1, 1)), 200, 3)
	draw := func(shape ...int) *grad.Param {
		p := grad.NewParam(shape...)
		p.Value.Normal(rand.New(rand.NewPCG(uint64(len(shape)), 2)), 0, 1)
		return p
	}
	px, pe, pw := draw(g.NumNodes(), 1), draw(g.NumEdges(), 1), draw(1, 1)
	steps := func(k int) (out []tensor.Float) {
		tape := grad.NewTape(1)
		for i := range 12 {
			tape.Reset()
			x, e, w := tape.Use(px), tape.Use(pe), tape.Use(pw)
			y := UpdateAll(g, spoken(x, e, w, k+i), []Reducer{Sum, Max, Mean}[i%3])
			out = append(out, y.Value().Data...)
			for _, d := range tape.Backward(y.Sum()) {
				out = append(out, d.Value.Data...)
			}
		}
		return out
	}
	var want [8][]tensor.Float
	for k := range want {
		want[k] = steps(k)
	}
	plans.Lock()
	plans.all, plans.n = nil, 0
	plans.Unlock()
	var all sync.WaitGroup
	for k := range want {
		all.Go(func() {
			if !slices.Equal(steps(k), want[k]) {
				t.Errorf("goroutine %d has other results than alone", k)
			}
		})
	}
	all.Wait()
}

// TestPlansAreBounded says ever new messages: old plans go.
func TestPlansAreBounded(t *testing.T) {
	g := graph.Ring(4, 1)
	x := grad.Const(tensor.New(4, 2))
	for i := range 2 * mostPlans {
		UpdateAll(g, U(x).Scale(float64(i)), Sum)
		if plans.n > mostPlans {
			t.Fatalf("%d plans are kept, want at most %d", plans.n, mostPlans)
		}
	}
}

// TestPlansAreToldApart says messages that differ in one thing each, and the first
// of them again: two plans are the same where the messages are.
func TestPlansAreToldApart(t *testing.T) {
	g := graph.Ring(4, 1)
	tape := grad.NewTape(1)
	x, wide := tensor.New(4, 2), tensor.New(4, 3)
	u, trained := grad.Const(x), tape.Watch(x)
	one := func(x *grad.Var, c float64) Msg { return U(x).Scale(c).Add(V(x)) }
	seen := map[*rules.Compiled]string{}
	for name, p := range map[string]*rules.Compiled{
		"sum":            planned("", g, ptr(one(u, 1)), []Reducer{Sum}),
		"mean":           planned("", g, ptr(one(u, 1)), []Reducer{Mean}),
		"both":           planned("", g, ptr(one(u, 1)), []Reducer{Sum, Mean}),
		"edges":          planned("", g, ptr(one(u, 1)), nil),
		"another number": planned("", g, ptr(one(u, math.Nextafter(1, 2)*2)), []Reducer{Sum}),
		"wider":          planned("", g, ptr(one(grad.Const(wide), 1)), []Reducer{Sum}),
		"trained":        planned("", g, ptr(one(trained, 1)), []Reducer{Sum}),
		"of two arrays":  planned("", g, ptr(U(u).Scale(1).Add(V(grad.Const(x)))), []Reducer{Sum}),
	} {
		if other, ok := seen[p]; ok {
			t.Errorf("%s has the plan of %s", name, other)
		}
		seen[p] = name
	}
	again := planned("", graph.Ring(9, 2), ptr(one(grad.Const(tensor.New(9, 2)), 1)), []Reducer{Sum})
	if seen[again] != "sum" {
		t.Errorf("the same on another graph has the plan of %q", seen[again])
	}
}

func ptr(m Msg) *Msg { return &m }

// TestMatMulWants checks what MatMul does not take.
func TestMatMulWants(t *testing.T) {
	g := graph.Ring(4, 1)
	x := grad.Const(tensor.New(4, 2, 3))
	for _, shape := range [][]int{{3}, {2, 3}, {3, 2, 2, 2}, {3, 2, 2}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			w := grad.Const(tensor.New(shape...))
			err := tensor.Try(func() { ApplyEdges(g, U(x).MatMul(w)) })
			if fits := len(shape) == 3; (err == nil) != fits {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
