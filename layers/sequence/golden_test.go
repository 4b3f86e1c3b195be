package sequence_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stack is PyTorch's LSTM: layers of one or two directions.
type stack struct {
	*golden.Case
	g      *graph.Graph
	rows   []int32 // of each node, its row of a (T·B)×… array
	cells  []*sequence.LSTM
	layers int
	dirs   int
}

func newStack(t *testing.T, path string) *stack {
	s := &stack{Case: golden.Load(t, path), dirs: 1, layers: 1}
	shape := s.Inputs["x"].Shape
	lengths := make([]int, shape[1])
	for b := range lengths {
		lengths[b] = shape[0]
		if s.Has("inputs", "lengths") {
			lengths[b] = int(s.Ints(t, "inputs", "lengths")[b])
		}
		for i := range lengths[b] {
			s.rows = append(s.rows, int32(i*shape[1]+b))
		}
	}
	s.g = graph.Chains(lengths...)
	if v, _ := s.Config["bidirectional"].(bool); v {
		s.dirs = 2
	}
	s.layers = int(s.Config["num_layers"].(float64))
	bias := s.Has("params", "bias_ih_l0")
	for i := range s.layers * s.dirs {
		w := s.matrix(t, "params", s.key("weight_ih", i))
		l := &sequence.LSTM{In: w.Dim(0), Hidden: w.Dim(1) / 4, NoBias: !bias}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		l.W.Value, l.U.Value = w, s.matrix(t, "params", s.key("weight_hh", i))
		if bias {
			l.B.Value = s.Tensor(t, "params", s.key("bias_ih", i))
			l.B.Value.Add(s.Tensor(t, "params", s.key("bias_hh", i)))
		}
		s.cells = append(s.cells, l)
	}
	return s
}

// key is the name of a parameter of cell i.
func (s *stack) key(name string, i int) string {
	name = fmt.Sprintf("%s_l%d", name, i/s.dirs)
	if i%s.dirs == 1 {
		name += "_reverse"
	}
	return name
}

func (s *stack) matrix(t *testing.T, section, key string) *tensor.Dense {
	return golden.Transpose(s.Tensor(t, section, key))
}

// part is what belongs to cell i of a (cells, B, hidden) array.
func part(x *tensor.Dense, i int) *tensor.Dense {
	return x.RowRange(i, i+1).Reshape(x.Dim(1), x.Dim(2))
}

// forward returns the last layer's h, and the last h and c of each cell.
func (s *stack) forward(tp *grad.Tape, x *grad.Var, init []message.State) (y *grad.Var, last []message.State) {
	for l := range s.layers {
		var hs []*grad.Var
		for d := range s.dirs {
			g, i := s.g, l*s.dirs+d
			if d == 1 {
				g = g.Reverse()
			}
			st := s.cells[i].ForwardFrom(tp, g, x, init[i])
			hs, last = append(hs, st[0]), append(last, st.Rows(g.Sinks()))
		}
		x = grad.Concat(hs...)
	}
	return x, last
}

func TestLSTMTorch(t *testing.T) {
	files, err := filepath.Glob("testdata/torch/lstm*.json")
	if err != nil || len(files) != 7 {
		t.Fatalf("%d files, want 7 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { newStack(t, filepath.ToSlash(file)).run(t) })
	}
}

func (s *stack) run(t *testing.T) {
	tp := grad.NewTape(1)
	flat := s.Tensor(t, "inputs", "x")
	x := tp.Watch(flat.Reshape(-1, flat.Dim(-1)))
	h0, c0 := s.Tensor(t, "inputs", "h_0"), s.Tensor(t, "inputs", "c_0")
	var init []message.State
	for i := range s.cells {
		init = append(init, message.State{tp.Watch(part(h0, i)), tp.Watch(part(c0, i))})
	}
	y, last := s.forward(tp, x.Rows(s.rows), init)

	want := s.Tensor(t, "outputs", "y")
	got := want.Like()
	for v, r := range s.rows {
		copy(got.Reshape(-1, want.Dim(-1)).Row(int(r)), y.Value().Row(v))
	}
	golden.Compare(t, "y", got, want, s.Float32Error.Outputs)
	cot := s.Tensor(t, "cotangents", "y").Reshape(-1, want.Dim(-1))
	loss := y.Mul(grad.Const(cot).Rows(s.rows)).Sum()
	for i, st := range last {
		for j, name := range []string{"h_n", "c_n"} {
			golden.Compare(t, name, st[j].Value(), part(s.Tensor(t, "outputs", name), i), s.Float32Error.Outputs)
			loss = loss.Add(st[j].Mul(grad.Const(part(s.Tensor(t, "cotangents", name), i))).Sum())
		}
	}
	s.compareGrads(t, tp.Backward(loss), x, init)
}

func (s *stack) compareGrads(t *testing.T, grads grad.Grads, x *grad.Var, init []message.State) {
	e := s.Float32Error.Grads
	want := s.Tensor(t, "grads", "x")
	golden.Compare(t, "gradient of x", grads.Of(x).Reshape(want.Shape()...), want, e)
	for i, l := range s.cells {
		golden.Compare(t, "gradient of h_0", grads.Of(init[i][0]), part(s.Tensor(t, "grads", "h_0"), i), e)
		golden.Compare(t, "gradient of c_0", grads.Of(init[i][1]), part(s.Tensor(t, "grads", "c_0"), i), e)
		golden.Compare(t, "gradient of W", grads.Param(l.W), s.matrix(t, "grads", s.key("weight_ih", i)), e)
		golden.Compare(t, "gradient of U", grads.Param(l.U), s.matrix(t, "grads", s.key("weight_hh", i)), e)
		if l.B != nil {
			for _, name := range []string{"bias_ih", "bias_hh"} { // each is that of the one bias
				golden.Compare(t, "gradient of "+name, grads.Param(l.B), s.Tensor(t, "grads", s.key(name, i)), e)
			}
		}
	}
}
