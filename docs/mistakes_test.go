package docs_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// calls are the calls of the table of library/mistakes.md. Each returns the error that it returns.
func calls(t *testing.T) map[string]func() error {
	rng := rand.New(rand.NewPCG(1, 1))
	of := func(shape ...int) *grad.Var {
		x := tensor.New(shape...)
		x.Uniform(rng, 0, 1)
		return grad.Const(x)
	}
	ring := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}))
	x := of(3, 5)
	gat := func(in int) *layers.GATConv {
		l := &layers.GATConv{In: in, Out: 2}
		l.Init(rng)
		return l
	}
	no := filepath.Join(t.TempDir(), "none.safetensors")
	all := map[string]func() error{}
	put := func(call string, f func() error) { all[call] = f }
	does := func(call string, f func()) { put(call, func() error { f(); return nil }) }

	does("x.MatMul(w), of 3×5 and 4×2", func() { x.MatMul(of(4, 2)) })
	does("x.Rows([]int32{9}), of three rows", func() { x.Rows([]int32{9}) })
	does("logits.CrossEntropy([]int32{0, 3, 1}), of three classes", func() { of(3, 3).CrossEntropy([]int32{0, 3, 1}) })
	does("grad.CrossEntropy{Smoothing: 1.5}.Of(logits, labels)", func() { grad.CrossEntropy{Smoothing: 1.5}.Of(of(2, 3), []int32{0, 1}) })
	does("y.Scale(2), after the Reset of y's tape", func() {
		tape := grad.NewTape(1)
		y := tape.Use(grad.NewParam(3, 2)).Scale(2)
		tape.Reset()
		y.Scale(2)
	})
	does("grad.NewEval().Backward(loss)", func() {
		tape := grad.NewEval()
		tape.Backward(tape.Use(grad.NewParam(1, 1)).Sum())
	})
	does("a.Row(9), of a tensor.Dense with 5 rows", func() { tensor.New(5, 2).Row(9) })
	put("sparse.New(1, 2, offsets, []int32{7}, nil)", func() error {
		_, err := sparse.New(1, 2, []int64{0, 1}, []int32{7}, nil)
		return err
	})
	does("sparse.GatherRows(a, []int32{9})", func() { sparse.GatherRows(ring.In(), []int32{9}) })
	does("sparse.Product{}.Into(y, x)", func() { sparse.Product{}.Into(tensor.New(1, 1), tensor.New(1, 1)) })
	put("graph.New(3, []int32{0}, []int32{7})", func() error { _, err := graph.New(3, []int32{0}, []int32{7}); return err })
	does("graph.Must(graph.New(3, []int32{0}, []int32{7}))", func() { graph.Must(graph.New(3, []int32{0}, []int32{7})) })
	put("graph.Block(g, []int32{1, 1})", func() error { _, err := graph.Block(ring, []int32{1, 1}); return err })
	does("graph.WithKinds(g, []int32{1})", func() { graph.Must(graph.WithKinds(ring, []int32{1})) })
	does("random.Uniform(rng, -1, 2)", func() { random.Uniform(rng, -1, 2) })
	put("ring.Levels()", func() error { _, err := ring.Levels(); return err })
	does("message.Sweep(ring, init, step)", func() {
		message.Sweep(ring, message.State{of(3, 2)}, func(_ *message.Level, prev message.State) message.State { return prev })
	})
	does("message.UpdateAll(g, message.U(x))", func() { message.UpdateAll(ring, message.U(x)) })
	does("message.UpdateAll(block, message.V(x), message.Sum), x of the sources", func() {
		message.UpdateAll(graph.Must(graph.Block(ring, []int32{0})), message.V(of(2, 5)), message.Sum)
	})
	does("message.U(x).Pick([]int32{0, 1, 2}), two rows a node", func() {
		message.ApplyEdges(ring, message.U(of(3, 2, 4)).Pick([]int32{0, 1, 2}))
	})
	does("message.U(nil)", func() { message.U(nil) })
	does("(&layers.GATConv{In: 500, Out: 2}).Forward(t, g, x)", func() { gat(500).Forward(nil, ring, x) })
	does("(&layers.GATConv{In: 5}).Forward(t, g, x), without Init", func() { (&layers.GATConv{In: 5}).Forward(nil, ring, x) })
	does("(&layers.GATConv{Heads: -1}).Init(rng)", func() { (&layers.GATConv{Heads: -1}).Init(rng) })
	does("(&layers.GATConv{AttnDrop: math.NaN()}).Init(rng)", func() { (&layers.GATConv{AttnDrop: math.NaN()}).Init(rng) })
	does("(&layers.GATConv{Activation: \"relo\"}).Init(rng)", func() { (&layers.GATConv{Activation: "relo"}).Init(rng) })
	does("gat.Forward(t, two sides, x), without In.Dst", func() { gat(5).Forward(nil, graph.CompleteBipartite(3, 2), x) })
	put("memory.Store(memory.Hebb, patterns), one of them 0.5", func() error {
		_, err := memory.Store(memory.Hebb, tensor.Of([]tensor.Float{1, 0.5}, 1, 2))
		return err
	})
	put("(&sample.Sampler{…}).Blocks([]int32{-1}, 1)", func() error {
		_, err := (&sample.Sampler{Graph: ring, Fanout: []int{1}}).Blocks([]int32{-1}, 1)
		return err
	})
	put("(&sample.Loader{…, Size: -1}).Check()", func() error {
		return (&sample.Loader{Sampler: sample.Sampler{Graph: ring, Fanout: []int{1}}, Nodes: []int32{0}, Size: -1}).Check()
	})
	does("sample.Corruptions{Number: -1}.Draw(g, 1)", func() { sample.Corruptions{Number: -1}.Draw(ring, 1) })
	put("explain.New(model, g, x, explain.Node{Number: 9})", func() error {
		_, err := explain.New(func(*grad.Tape, *graph.Graph, *grad.Var, *grad.Var) *grad.Var { return x }, ring, x.Value(), explain.Node{Number: 9})
		return err
	})
	does("explain.New(model, g, x, node), x of two rows", func() {
		_, _ = explain.New(func(*grad.Tape, *graph.Graph, *grad.Var, *grad.Var) *grad.Var { return x }, ring, tensor.New(2, 5), explain.Node{})
	})
	put("datasets.Load(\"none.csv\", …)", func() error { _, err := datasets.Load(no); return err })
	put("train.Load(\"none.safetensors\", model)", func() error { return train.Load(no, gat(5)) })
	put("convert.Load(\"none.safetensors\")", func() error { _, err := convert.Load(no); return err })
	does("new(train.Adam).Step(grads)", func() {
		tape, w := grad.NewTape(1), grad.NewParam(1, 1)
		new(train.Adam).Step(tape.Backward(tape.Use(w).Sum()))
	})
	return all
}

// Each call of the table has the outcome that stands there, in words that it says.
func TestMistakes(t *testing.T) {
	made := calls(t)
	for _, row := range tableAfter(t, "library/mistakes.md", "## Examples") {
		call := strings.Trim(row[0], "`")
		f := made[call]
		if f == nil {
			t.Errorf("nothing makes the call %q", call)
			continue
		}
		delete(made, call)
		how, err := outcome(f)
		if err == nil || how != row[1] || !strings.Contains(err.Error(), row[2]) {
			t.Errorf("%s %s: %v; the page says that it %s: %s", call, how, err, row[1], row[2])
		}
		tries, tried := outcome(func() error { return tensor.Try(func() { _ = f() }) })
		if mistake := errors.As(err, new(tensor.Mistake)) && strings.HasPrefix(how, "panics"); mistake != (tried != nil && strings.HasPrefix(tries, "returns")) {
			t.Errorf("%s: tensor.Try %s %v", call, tries, tried)
		}
	}
	for call := range made {
		t.Errorf("the page does not list %q", call)
	}
}

// outcome is what comes of a call: the error that it returns or panics with, and which of the two.
func outcome(f func() error) (how string, err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err, _ = r.(error)
		var m tensor.Mistake
		switch {
		case errors.As(err, new(runtime.Error)):
			how = "panics with a `runtime.Error`"
		case errors.As(err, &m):
			how = fmt.Sprintf("panics with a `%T`", m)
		case err != nil:
			how = "panics with an `error`"
		default:
			how = fmt.Sprintf("panics with %T", r)
		}
	}()
	return "returns an `error`", f()
}
