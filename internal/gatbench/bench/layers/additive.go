package layers

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// additiveShape is what is timed of additive attention: so many sentences of so many words,
// which so many steps of a decoder read, all of one width.
type additiveShape struct{ b, s, t, h int }

var additiveOfBench = additiveShape{64, 50, 50, 256}

func (s additiveShape) String() string { return fmt.Sprintf("%dx%dx%dx%d", s.b, s.s, s.t, s.h) }

// Additive is attention by a network of keys and queries: of all steps at once, and of a step after the
// other as a decoder takes them.
func Additive(c *bench.Choice) []bench.Benchmark {
	s := additiveOfBench
	params := func(form string) map[string]any {
		return map[string]any{"b": s.b, "s": s.s, "t": s.t, "h": s.h, "form": form, "threads": c.Threads}
	}
	return []bench.Benchmark{
		{
			Name: fmt.Sprintf("attention/additive/%v", s), Op: "attention/additive", Lanes: c.Threads, Params: params("whole"),
			Prepare: func() bench.Work { return s.task(s.t).workload() },
		},
		{
			Name: fmt.Sprintf("attention/additive/%v/steps", s), Op: "attention/additive", Lanes: c.Threads, Params: params("steps"),
			Prepare: func() bench.Work { return s.task(1).workload() },
		},
	}
}

// additiveTask has the operands of additive attention. Keys and queries are projected already.
type additiveTask struct {
	g               *graph.Graph // from the words to so many steps at a time
	queries         []*tensor.Dense
	keys, values, v *tensor.Dense
}

// task is the attention of so many steps at a time. The queries are the same however many
// that are: row b·T + t of what is drawn is sentence b's at step t.
func (s additiveShape) task(at int) *additiveTask {
	pairs, rows := make([]*graph.Graph, s.b), bench.Operand(s.b*s.t, s.h)
	for i := range pairs {
		pairs[i] = graph.CompleteBipartite(s.s, at)
	}
	out := &additiveTask{
		g: graph.Batch(pairs...), keys: bench.Operand(s.b*s.s, s.h), values: bench.Operand(s.b*s.s, s.h), v: bench.Operand(s.h),
	}
	for from := 0; from < s.t; from += at {
		q := tensor.New(s.b*at, s.h)
		for i := range s.b * at {
			copy(q.Row(i), rows.Row(i/at*s.t+from+i%at))
		}
		out.queries = append(out.queries, q)
	}
	return out
}

// forward returns what each query heard, steps below steps.
func (a *additiveTask) forward(in func(*tensor.Dense) *grad.Var) *grad.Var {
	keys, values, v, out := in(a.keys), in(a.values), message.W(in(a.v)), make([]*grad.Var, len(a.queries))
	for i, q := range a.queries {
		alpha := message.UAddV(keys, in(q)).Tanh().Dot(v).Softmax()
		out[i] = message.UpdateAll(a.g, message.U(values).Mul(alpha), message.Sum)
	}
	return grad.ConcatAxis(0, out...)
}

// workload goes to the gradients of keys, queries, values and the vector of the score.
func (a *additiveTask) workload() bench.Work {
	return bench.BothWays(func(_ *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var { return a.forward(in) }, bench.Operand)
}
