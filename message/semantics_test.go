package message_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

var inf = math.Inf(1)

// column is a constant of one column.
func column(x ...float64) *grad.Var { return grad.Const(dense(x, len(x), 1)) }

func dense(x []float64, shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	for i, v := range x {
		d.Data[i] = tensor.Float(v)
	}
	return d
}

// star has n edges, from nodes 1 to n, into node 0.
func star(n int) *graph.Graph {
	src, dst := make([]int32, n), make([]int32, n)
	for i := range src {
		src[i] = int32(i + 1)
	}
	return graph.Must(graph.New(n+1, src, dst))
}

// everyWay runs f by rules, in tiles, and with destinations in parts.
func everyWay(t *testing.T, f func(t *testing.T)) {
	for _, way := range []struct {
		name  string
		fuse  bool
		bytes int
	}{{"rules", true, 32 << 10}, {"tiles", false, 32 << 10}, {"parts", false, 8}} {
		t.Run(way.name, func(t *testing.T) {
			message.SetFuse(t, way.fuse)
			message.SetTileBytes(t, way.bytes)
			f(t)
		})
	}
}

func TestNoMessagesGiveZero(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := graph.Must(graph.New(3, []int32{1}, []int32{1}))
		x := column(-5, -7, -9)
		for _, r := range reducers {
			for _, m := range []message.Msg{message.U(x), message.V(x), message.U(x).Mul(message.V(x)), message.U(x).Mul(message.V(x).Softmax())} {
				y := message.UpdateAll(g, m, r).Value()
				if y.Data[0] != 0 || y.Data[2] != 0 {
					t.Errorf("%v without messages: %v", r, y)
				}
			}
		}
	})
}

func TestInfinitiesStay(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := star(3)
		up, down := message.U(column(0, 1, inf, 2)), message.U(column(0, 1, -inf, 2))
		for r, x := range map[message.Reducer][2]float64{message.Sum: {inf, -inf}, message.Mean: {inf, -inf}, message.Max: {inf, 2}, message.Min: {1, -inf}} {
			compare.Near(t, r.String(), message.UpdateAll(g, up, r).Value().Data, []float64{x[0], 0, 0, 0}, compare.Exactly)
			compare.Near(t, r.String(), message.UpdateAll(g, down, r).Value().Data, []float64{x[1], 0, 0, 0}, compare.Exactly)
		}
		nan := message.U(column(0, 1, math.NaN(), 2))
		for _, r := range reducers {
			compare.Near(t, r.String()+" of NaN", message.UpdateAll(g, nan, r).Value().Data, []float64{math.NaN(), 0, 0, 0}, compare.Exactly.OrNaN())
		}
	})
}

func TestSoftmaxOfExtremes(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ logit, soft, log []float64 }{
		{[]float64{-inf, -inf, -inf}, []float64{0, 0, 0}, []float64{-inf, -inf, -inf}},
		{[]float64{inf, 3, inf}, []float64{0.5, 0, 0.5}, []float64{float64(tensor.Float(-math.Log(2))), -inf, float64(tensor.Float(-math.Log(2)))}},
		{[]float64{1, nan, 2}, []float64{nan, nan, nan}, []float64{nan, nan, nan}},
		{[]float64{nan, nan, nan}, []float64{nan, nan, nan}, []float64{nan, nan, nan}},
		{[]float64{-inf, 4, -inf}, []float64{0, 1, 0}, []float64{-inf, 0, -inf}},
		{[]float64{-3e38, 3e38, 0}, []float64{0, 1, 0}, nil},
	} {
		everyWay(t, func(t *testing.T) {
			g := star(16) // more edges than a part
			far, soft, log := make([]float64, 16), make([]float64, 16), make([]float64, 16)
			for i := range far {
				far[i], log[i] = -inf, -inf
				if c.logit[1] != c.logit[1] {
					soft[i], log[i] = nan, nan
				}
			}
			copy(far, c.logit)
			copy(soft, c.soft)
			tape := grad.NewTape(1)
			x := tape.Watch(dense(far, 16, 1))
			y := message.ApplyEdges(g, message.E(x).Softmax())
			compare.Near(t, fmt.Sprint("softmax of ", c.logit), y.Value().Data, soft, compare.Exactly.OrNaN())
			for i, d := range tape.Backward(y.Mul(y).Sum())[0].Value.Data {
				if d != d && soft[0] == soft[0] {
					t.Errorf("softmax of %v: gradient %d is NaN", c.logit, i)
				}
			}
			if c.log != nil {
				copy(log, c.log)
				compare.Near(t, fmt.Sprint("log-softmax of ", c.logit), message.ApplyEdges(g, message.E(x).LogSoftmax()).Value().Data, log, compare.Exactly.OrNaN())
			}
		})
	}
}

func TestTiesGoToTheLowestEdge(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := star(20)
		for _, r := range []message.Reducer{message.Max, message.Min} {
			x := tensor.New(20, 1)
			x.Fill(4)
			x.Data[0], x.Data[1] = 3, 3
			lead := 0
			if r == message.Max {
				lead = 2
			}
			tape := grad.NewTape(1)
			e := tape.Watch(x)
			y := message.UpdateAll(g, message.E(e), r)
			d := make([]float64, 20)
			d[lead] = 1
			compare.Near(t, r.String(), tape.Backward(y.Sum()).Of(e).Data, d, compare.Exactly)
		}
	})
}

func TestParallelEdgesAndLoops(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := graph.Must(graph.New(2, []int32{0, 0, 1, 0}, []int32{1, 1, 1, 0}))
		x := column(3, 5)
		compare.Equal(t, "Sum", message.UpdateAll(g, message.U(x), message.Sum).Value().Data, []tensor.Float{3, 11})
		compare.Near(t, "Mean", message.UpdateAll(g, message.U(x), message.Mean).Value().Data, []float64{3, float64(tensor.Float(11) / 3)}, compare.Exactly)
		third := float64(tensor.Float(1) / 3)
		compare.Near(t, "Softmax", message.ApplyEdges(g, message.V(x).Softmax()).Value().Data, []float64{1, third, third, third}, compare.Exactly)
	})
}

// TestViews reads destinations of blocks and views by their own numbers, and by those of the
// sources that they are, also where there are as many of both.
func TestViews(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := odd()
		all := column(0, 10, 20, 30, 40, 50, 60, 70)
		whole := message.ApplyEdges(g, message.UAddV(all, all.Scale(2))).Value()
		some, turned := []int32{2, 5, 0}, []int32{7, 6, 5, 4, 3, 2, 1, 0}
		for i, h := range []*graph.Graph{graph.Must(graph.Dst(g, some)), graph.Must(graph.Block(g, some)), graph.Must(graph.Dst(g, turned)), graph.Must(graph.Block(g, turned))} {
			src, dst := all.Rows(h.From().Src), all.Rows(h.From().Dst)
			bySource := message.ApplyEdges(h, message.UAddV(src, message.OnDst(h, src.Scale(2)))).Value()
			byNumber := message.ApplyEdges(h, message.UAddV(src, dst.Scale(2))).Value()
			for e, p := range h.From().Edges {
				if bySource.Data[e] != whole.Data[p] || byNumber.Data[e] != whole.Data[p] {
					t.Errorf("graph %d, edge %d: %v and %v, want %v", i, e, bySource.Data[e], byNumber.Data[e], whole.Data[p])
				}
			}
		}
		same := graph.Must(graph.Dst(g, turned))
		for e, d := range same.Destinations() {
			y, z := message.ApplyEdges(same, message.V(all)).Value(), message.ApplyEdges(same, message.V(message.OnDst(same, all))).Value()
			if v := same.DstRows()[d]; y.Data[e] != tensor.Float(10*d) || z.Data[e] != tensor.Float(10*v) {
				t.Errorf("edge %d reads %v at destination %d, and %v at the source %d that this is", e, y.Data[e], d, z.Data[e], v)
			}
		}
	})
}

// TestOnDst wants a row for each source, of a graph whose destinations are sources.
func TestOnDst(t *testing.T) {
	g := odd()
	x := column(0, 10, 20, 30, 40, 50, 60, 70)
	if message.OnDst(g, x) != x {
		t.Error("an ordinary graph has other destinations than sources")
	}
	for want, f := range map[string]func(){
		"are none of its 8 sources": func() { message.OnDst(graph.CompleteBipartite(8, 2), x) },
		"8 sources, want a row":     func() { message.OnDst(g, column(1, 2)) },
		"message.OnDst(g, x) takes": func() { message.ApplyEdges(graph.Must(graph.Dst(g, []int32{3, 1})), message.V(x)) },
		"V wants 2 rows on a graph": func() { message.ApplyEdges(graph.CompleteBipartite(8, 2), message.V(x)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestMisfits(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g, two := odd(), sides()
		n, e := grad.Const(tensor.New(8, 2, 3)), grad.Const(tensor.New(13, 2, 3))
		wrong, five := grad.Const(tensor.New(9, 2, 3)), grad.Const(tensor.New(8, 5))
		seven, big := grad.Const(tensor.New(7, 3)), grad.Const(tensor.New(2, 2, 2, 2))
		for name, c := range map[string]struct {
			g      *graph.Graph
			m      message.Msg
			shapes string
		}{
			"U":         {g, message.U(wrong), "[9 2 3]"},
			"V":         {g, message.V(wrong), "[9 2 3]"},
			"E":         {g, message.E(n), "[8 2 3]"},
			"W":         {g, message.W(big), "[2 2 2 2]"},
			"Add":       {g, message.U(n).Add(message.V(five)), "[2 3] with [5]"},
			"UMulE":     {g, message.UMulE(n, n), "[8 2 3]"},
			"Dot":       {g, message.UDotV(n, five), "[2 3] with [5]"},
			"Dot ones":  {g, message.U(n).Dot(message.V(n).SumLast()), "[2 3] with [2 1]"},
			"V sources": {two, message.V(seven), "[7 3]"},
			"Pick few":  {g, message.U(n).Pick([]int32{1}), "[2 3]"},
			"Pick high": {g, message.E(e).Pick(slices.Repeat([]int32{2}, 13)), "[2 3]"},
		} {
			for op, f := range map[string]func(){
				"message.ApplyEdges": func() { message.ApplyEdges(c.g, c.m) },
				"message.UpdateAll":  func() { message.UpdateAll(c.g, c.m, message.Sum) },
				"message.Explain":    func() { message.Explain(c.g, c.m) },
			} {
				var shape *tensor.ShapeError
				if err := tensor.Try(f); !errors.As(err, &shape) || shape.Op != op || !strings.Contains(err.Error(), c.shapes) {
					t.Errorf("%s in %s: error %v, want one that names %s and %s", name, op, err, op, c.shapes)
				}
			}
		}
	})
}

// TestEdgeRowMisfits wants a row for each edge, no fewer and no more.
func TestEdgeRowMisfits(t *testing.T) {
	g := odd()
	for _, rows := range []int{g.NumEdges() - 1, g.NumEdges() + 1} {
		x := grad.Const(tensor.New(rows, 2))
		for op, f := range map[string]func(){
			"message.OnEdges":             func() { message.OnEdges(g, x) },
			"message.EdgeSoftmaxBySource": func() { message.EdgeSoftmaxBySource(g, x) },
		} {
			var shape *tensor.ShapeError
			if err := tensor.Try(f); !errors.As(err, &shape) || shape.Op != op || !strings.Contains(err.Error(), fmt.Sprintf("[%d 2]: the graph has 13 edges", rows)) {
				t.Errorf("%s of %d rows: %v", op, rows, err)
			}
		}
	}
}

// tapeError returns the *grad.TapeError that f panics with, or nil.
func tapeError(f func()) (err *grad.TapeError) {
	defer func() { err, _ = recover().(*grad.TapeError) }()
	f()
	return nil
}

func TestMisuse(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		g := odd()
		one, two := grad.NewTape(1), grad.NewTape(2)
		x, y := one.Watch(tensor.New(8, 3)), two.Watch(tensor.New(8, 3))
		old := one.Watch(tensor.New(8, 3))
		kept := message.U(old)
		u, v := message.U(x), message.V(y)
		for name, f := range map[string]func(){
			"two tapes":         func() { message.UpdateAll(g, u.Add(v), message.Sum) },
			"two tapes, edges":  func() { message.ApplyEdges(g, u.Dot(v)) },
			"empty":             func() { message.UpdateAll(g, message.Msg{}, message.Sum) },
			"empty on edges":    func() { message.ApplyEdges(g, message.Msg{}) },
			"empty explained":   func() { message.Explain(g, message.Msg{}) },
			"empty operand":     func() { message.UpdateAll(g, u.Mul(message.Msg{}), message.Sum) },
			"empty in function": func() { message.ApplyEdges(g, message.Msg{}.Softmax()) },
			"no reducer":        func() { message.UpdateAll(g, u) },
			"wrong reducer":     func() { message.UpdateAll(g, u, message.Reducer(77)) },
			"no relation":       func() { message.UpdateRelations(message.Sum) },
			"wrong across":      func() { message.UpdateRelations(message.Std, message.Relation{Graph: g, Msg: u}) },
			"no graph":          func() { message.UpdateAll(nil, u, message.Sum) },
			"no graph's edges":  func() { message.ApplyEdges(nil, u) },
			"no graph to sweep": func() { message.Sweep(nil, message.State{x}, nil) },
			"nil of sources":    func() { message.U(nil) },
			"nil of edges":      func() { message.E(nil) },
			"nil state": func() {
				message.Sweep(graph.Chains(3), message.State{nil}, func(_ *message.Level, prev message.State) message.State { return prev })
			},
			"nil result": func() {
				message.Sweep(graph.Chains(3), message.State{grad.Const(tensor.New(1, 2))}, func(*message.Level, message.State) message.State { return message.State{nil} })
			},
			"wrong fraction": func() { u.Dropout(one, 1.5) },
		} {
			if tapeError(f) == nil {
				t.Errorf("%s: no *grad.TapeError", name)
			}
		}
		one.Reset()
		if tapeError(func() { message.UpdateAll(g, kept, message.Sum) }) == nil {
			t.Error("a Msg from before the tape's Reset: no *grad.TapeError")
		}
	})
}

// TestOneMask applies one dropout wherever a message can run, and backward.
func TestOneMask(t *testing.T) {
	g := hub(100)
	n, e := g.NumNodes(), g.NumEdges()
	ones := tensor.New(n, 2, 3)
	ones.Fill(1)
	run := func(t *testing.T, m func(tape *grad.Tape, x *grad.Var) message.Msg, r func(message.Msg) *grad.Var) (y, dx *tensor.Dense) {
		tape := grad.NewTape(8)
		tape.Reset()
		x := tape.Watch(ones)
		v := r(m(tape, x))
		return v.Value(), tape.Backward(v.Sum()).Of(x)
	}
	zero := grad.Const(tensor.New(n, 2, 1))
	gat := func(tape *grad.Tape, x *grad.Var) message.Msg {
		return message.U(x).Mul(message.UAddV(zero, zero).LeakyReLU(0.2).Softmax().Dropout(tape, 0.5))
	}
	var mask []bool
	everyWay(t, func(t *testing.T) {
		edges, dEdges := run(t, gat, func(m message.Msg) *grad.Var { return message.ApplyEdges(g, m) })
		kept := make([]bool, e*6)
		for i, v := range edges.Data {
			kept[i] = v != 0
		}
		if mask == nil {
			mask = kept
		}
		if !slices.Equal(mask, kept) {
			t.Error("another mask on the edges")
		}
		if !slices.Contains(mask, true) || !slices.Contains(mask, false) {
			t.Fatal("the mask drops all or nothing")
		}
		y, dx := run(t, gat, func(m message.Msg) *grad.Var { return message.UpdateAll(g, m, message.Sum) })
		tape := grad.NewTape(8)
		tape.Reset()
		f := sum(g, gat(tape, tape.Watch(ones)))
		f.dy = given(ones.Data)
		want := f.results(ones.Data)
		reference.Near(t, "sum and gradient", []*tensor.Dense{y, dx}, want)
		reference.Near(t, "gradient by the edges", []*tensor.Dense{dEdges}, want[1:])
	})
}

func TestExplain(t *testing.T) {
	g := odd()
	x, el := grad.Const(tensor.New(8, 2, 3)), grad.Const(tensor.New(8, 2, 1))
	ee, att := grad.Const(tensor.New(13, 2, 1)), grad.Const(tensor.New(2, 3))
	tape := grad.NewTape(1)
	soft := message.UAddV(el, el).LeakyReLU(0.2).Softmax()
	withEdge := message.UAddV(el, el).Add(message.E(ee)).LeakyReLU(0.2).Softmax()
	sum := []message.Reducer{message.Sum}
	for name, c := range map[string]struct {
		m    message.Msg
		rs   []message.Reducer
		want string
	}{
		"sum of U":             {message.U(x), sum, "rule: sum of U(x)"},
		"weighted":             {message.UMulE(x, ee), sum, "rule: sum of U(x) × a scalar"},
		"weighted, turned":     {message.E(ee).Mul(message.U(x)), sum, "rule: sum of U(x) × a scalar"},
		"GAT":                  {message.U(x).Mul(soft), sum, "rule: graph attention"},
		"GAT, turned":          {soft.Mul(message.U(x)), sum, "rule: graph attention"},
		"GAT with dropout":     {message.U(x).Mul(soft.Dropout(tape, 0.5)), sum, "rule: graph attention"},
		"GAT with edges":       {message.U(x).Mul(withEdge), sum, "rule: graph attention"},
		"GAT with weights":     {message.U(x).Mul(soft.Dropout(tape, 0.5).Mul(message.E(ee))), sum, "rule: graph attention"},
		"GAT with everything":  {message.U(x).Mul(withEdge.Dropout(tape, 0.5).Mul(message.E(ee))), sum, "rule: graph attention"},
		"U·V":                  {message.UDotV(x, x), nil, "rule: U(x)·V(y)"},
		"edge softmax":         {message.E(ee).Softmax(), nil, "rule: edge softmax"},
		"mean of U":            {message.U(x), []message.Reducer{message.Mean}, "rule: mean of U(x)"},
		"max of U":             {message.U(x), []message.Reducer{message.Max}, "rule: largest of U(x)"},
		"min of U":             {message.U(x), []message.Reducer{message.Min}, "rule: smallest of U(x)"},
		"std of U":             {message.U(x), []message.Reducer{message.Std}, "tiles: "},
		"backward":             {message.U(tape.Watch(x.Value())).Tanh(), sum, "computes 2 of the 2 steps again"},
		"backward of U":        {message.U(tape.Watch(x.Value())).Scale(2), sum, "computes 0 of the 2 steps again"},
		"gradient of U":        {message.U(tape.Watch(x.Value())).Scale(2), sum, "through a window of edges: U"},
		"gradient of V":        {message.V(tape.Watch(x.Value())).Scale(2), sum, "added where they arise: V"},
		"several":              {message.U(x), []message.Reducer{message.Sum, message.Max}, "reduced by [Sum Max] onto 8 destinations"},
		"U on edges":           {message.U(x), nil, "stored for 13 edges"},
		"sum of dots":          {message.UDotV(x, x), sum, "tiles: "},
		"wide weights":         {message.U(x).Mul(message.V(x)), sum, "tiles: "},
		"GATv2":                {message.U(x).Mul(message.UAddV(x, x).LeakyReLU(0.2).Dot(message.W(att)).Softmax()), sum, "Softmax"},
		"softmax keeps little": {soft, nil, "each step across the in-edges keeps two numbers a column for every destination: 32 numbers"},
		"ELU attention":        {message.U(x).Mul(message.UAddV(el, el).ELU().Softmax()), sum, "ELU"},
	} {
		got := message.Explain(g, c.m, c.rs...)
		if !strings.Contains(got, c.want) || strings.Contains(got, "rule: ") != strings.Contains(c.want, "rule: ") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if s := message.Explain(hub(3000), message.V(grad.Const(tensor.New(40, 64))), message.Max); !strings.Contains(s, "run in parts") {
		t.Errorf("a hub: %q", s)
	}
}

// TestWeightOfMoreAxes multiplies with a weight whose ones add an axis: the
// result has that axis, whether a rule or the tiles run.
func TestWeightOfMoreAxes(t *testing.T) {
	g := odd()
	x, el := grad.Const(param(1, 8, 2, 3).Value), grad.Const(param(2, 8, 2, 1).Value)
	w := grad.Const(param(3, 13, 1, 1, 1).Value)
	m := message.U(x).Mul(message.UAddV(el, el).LeakyReLU(0.2).Softmax().Mul(message.E(w)))
	fused := message.UpdateAll(g, m, message.Sum).Value()
	message.SetFuse(t, false)
	reference.Near(t, "weighted attention", []*tensor.Dense{fused, message.UpdateAll(g, m, message.Sum).Value()}, slices.Repeat(sum(g, m).results(), 2))
}
