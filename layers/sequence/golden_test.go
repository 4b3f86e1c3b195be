package sequence_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// torchCase is one of PyTorch's recurrent networks with the same Stack.
type torchCase struct {
	*golden.Case
	g     *graph.Graph
	rows  []int32 // of each node, its row of a (T·B)×… array
	net   *sequence.Stack
	cells []torchCell // layer by layer, the forward one first
	dirs  int
}

// torchCell is a cell with its Params under PyTorch's names. A bias may be a sum
// of several of PyTorch's, or of parts of them.
type torchCell struct {
	sequence.Cell
	w, u, b, bn *grad.Param
}

func newTorchCase(t *testing.T, path string) *torchCase {
	s := &torchCase{Case: golden.Load(t, path), dirs: 1, net: new(sequence.Stack)}
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
	for i := range int(s.Config["num_layers"].(float64)) * s.dirs {
		c := s.cell(t, i)
		s.cells = append(s.cells, c)
		if i%s.dirs == 0 {
			s.net.Layers = append(s.net.Layers, c.Cell)
		} else {
			s.net.Back = append(s.net.Back, c.Cell)
		}
	}
	return s
}

// cell returns cell i with PyTorch's weights.
func (s *torchCase) cell(t *testing.T, i int) (c torchCell) {
	w, u := s.matrix(t, "params", s.key("weight_ih", i)), s.matrix(t, "params", s.key("weight_hh", i))
	in, hidden, bias := w.Dim(0), u.Dim(0), s.Has("params", "bias_ih_l0")
	switch s.Config["layer"] {
	case "LSTM":
		l := &sequence.LSTM{In: in, Hidden: hidden, NoBias: !bias}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		c = torchCell{l, l.W, l.U, l.B, nil}
	case "GRU":
		l := &sequence.GRU{In: in, Hidden: hidden, NoBias: !bias}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		c = torchCell{l, l.W, l.U, l.B, l.BN}
	default:
		l := &sequence.RNN{In: in, Hidden: hidden, NoBias: !bias, Activation: grad.Activation(s.Config["nonlinearity"].(string))}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		c = torchCell{l, l.W, l.U, l.B, nil}
	}
	c.w.Value, c.u.Value = w, u
	if !bias {
		return c
	}
	c.b.Value = s.Tensor(t, "params", s.key("bias_ih", i))
	rest := s.Tensor(t, "params", s.key("bias_hh", i))
	if c.bn != nil {
		n := rest.Data[2*hidden:]
		copy(c.bn.Value.Data, n)
		clear(n)
	}
	c.b.Value.Add(rest)
	return c
}

// key is the name of a parameter of cell i.
func (s *torchCase) key(name string, i int) string {
	name = fmt.Sprintf("%s_l%d", name, i/s.dirs)
	if i%s.dirs == 1 {
		name += "_reverse"
	}
	return name
}

func (s *torchCase) matrix(t *testing.T, section, key string) *tensor.Dense {
	return golden.Transpose(s.Tensor(t, section, key))
}

// part is what belongs to cell i of a (cells, B, hidden) array.
func part(x *tensor.Dense, i int) *tensor.Dense {
	return x.RowRange(i, i+1).Reshape(x.Dim(1), x.Dim(2))
}

func TestTorch(t *testing.T) {
	files, err := filepath.Glob("testdata/torch/*.json")
	if err != nil || len(files) != 26 {
		t.Fatalf("%d files, want 26 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			newTorchCase(t, filepath.ToSlash(file)).run(t)
		})
	}
}

// states are the names of the Vars of a state.
func (s *torchCase) states(suffix string) []string {
	if s.Config["layer"] == "LSTM" {
		return []string{"h_" + suffix, "c_" + suffix}
	}
	return []string{"h_" + suffix}
}

func (s *torchCase) run(t *testing.T) {
	tp := grad.NewTape(1)
	flat := s.Tensor(t, "inputs", "x")
	x := tp.Watch(flat.Reshape(-1, flat.Dim(-1)))
	var init []message.State
	for i := range s.cells {
		var st message.State
		for _, name := range s.states("0") {
			st = append(st, tp.Watch(part(s.Tensor(t, "inputs", name), i)))
		}
		init = append(init, st)
	}
	y, states := s.net.ForwardFrom(tp, s.g, x.Rows(s.rows), init)

	want := s.Tensor(t, "outputs", "y")
	got := want.Like()
	for v, r := range s.rows {
		copy(got.Reshape(-1, want.Dim(-1)).Row(int(r)), y.Value().Row(v))
	}
	golden.Compare(t, "y", got, want, s.Float32Error.Outputs)
	cot := s.Tensor(t, "cotangents", "y").Reshape(-1, want.Dim(-1))
	loss := y.Mul(grad.Const(cot).Rows(s.rows)).Sum()
	for i, st := range states {
		ends := s.g.Sinks()
		if i%s.dirs == 1 {
			ends = graph.Reverse(s.g).Sinks()
		}
		for j, name := range s.states("n") {
			last := st[j].Rows(ends)
			golden.Compare(t, name, last.Value(), part(s.Tensor(t, "outputs", name), i), s.Float32Error.Outputs)
			loss = loss.Add(last.Mul(grad.Const(part(s.Tensor(t, "cotangents", name), i))).Sum())
		}
	}
	s.compareGrads(t, tp.Backward(loss), x, init)
}

func (s *torchCase) compareGrads(t *testing.T, grads grad.Grads, x *grad.Var, init []message.State) {
	e := s.Float32Error.Grads
	want := s.Tensor(t, "grads", "x")
	golden.Compare(t, "gradient of x", grads.Of(x).Reshape(want.Shape()...), want, e)
	for i, c := range s.cells {
		for j, name := range s.states("0") {
			golden.Compare(t, "gradient of "+name, grads.Of(init[i][j]), part(s.Tensor(t, "grads", name), i), e)
		}
		golden.Compare(t, "gradient of W", grads.Param(c.w), s.matrix(t, "grads", s.key("weight_ih", i)), e)
		golden.Compare(t, "gradient of U", grads.Param(c.u), s.matrix(t, "grads", s.key("weight_hh", i)), e)
		if c.b == nil {
			continue
		}
		db := grads.Param(c.b)
		golden.Compare(t, "gradient of bias_ih", db, s.Tensor(t, "grads", s.key("bias_ih", i)), e)
		if c.bn != nil { // the last third of bias_hh is a bias of its own
			copy(db.Data[2*len(c.bn.Value.Data):], grads.Param(c.bn).Data)
		}
		golden.Compare(t, "gradient of bias_hh", db, s.Tensor(t, "grads", s.key("bias_hh", i)), e)
	}
}
