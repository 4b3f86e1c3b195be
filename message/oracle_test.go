package message

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
	"github.com/edgewise-ml/edgewise/tensor"
)

// check compares everything that can be done with m with its formula.
func check(g *graph.Graph, m Msg) error {
	r := Reference(g, m, nil)
	if err := differs(ApplyEdges(g, m), r, r.Edges()); err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	last := r.Shape()[len(r.Shape())-1]
	joint := UpdateAll(g, m, everyReducer...).Value()
	for i, by := range everyReducer {
		want := r.Reduced(reducers[by])
		single := UpdateAll(g, m, by)
		if err := differs(single, r, want); err != nil {
			return fmt.Errorf("%v: %w", by, err)
		}
		part := tensor.New(single.Shape()...)
		for k := range part.Data { // of len(everyReducer) runs of the last axis, the i-th
			part.Data[k] = joint.Data[(k/last*len(everyReducer)+i)*last+k%last]
		}
		if err := differs(grad.Const(part), r, want); err != nil {
			return fmt.Errorf("%v of several: %w", by, err)
		}
	}
	return nil
}

// differs says how y differs from numbers of a formula, if by more than rounding.
func differs(y *grad.Var, r *reference.Reference, want []rounding.Number) error {
	if n := tensor.Size(r.Shape()...); n > 0 && y.Value().RowLen() != n {
		return fmt.Errorf("shape %v, want rows of %v", y.Shape(), r.Shape())
	}
	_, _, err := rounding.Largest(y.Value().Data, r.Results(want))
	return err
}

// sprout makes random expressions.
type sprout struct {
	*rand.Rand
	g    *graph.Graph
	tape *grad.Tape
	pool []Msg // made before: an expression may be used several times
	made []*grad.Var
}

func (s *sprout) array(rows int, shape ...int) *grad.Var {
	x := tensor.New(append([]int{rows}, shape...)...)
	x.Normal(s.Rand, 0, 1)
	s.made = append(s.made, s.tape.Watch(x))
	return s.made[len(s.made)-1]
}

func (s *sprout) kinds(n int32) []int32 {
	out := make([]int32, s.g.NumEdges())
	for i := range out {
		out[i] = s.Int32N(n)
	}
	return out
}

func (s *sprout) leaf() Msg {
	shapes := [][]int{{3}, {1}, {2, 3}, {2, 1}, {1, 3}}
	shape := shapes[s.IntN(len(shapes))]
	switch s.IntN(7) {
	case 0, 1:
		return U(s.array(s.g.NumSrc(), shape...))
	case 2, 3:
		return V(s.array(s.g.NumDst(), shape...))
	case 4:
		return E(s.array(s.g.NumEdges(), shape...))
	case 5:
		return W(s.array(4, shape...)).Pick(s.kinds(4))
	}
	return U(s.array(s.g.NumSrc(), 2, 2, 3)).Pick(s.kinds(2))
}

// tree returns a random expression. Factors are bounded, so that errors grow
// with the largest value and no faster; arguments of roots and quotients keep
// away from zero.
func (s *sprout) tree(depth int) (m Msg) {
	if depth == 0 || s.IntN(8) == 0 {
		return s.leaf()
	}
	if len(s.pool) > 0 && s.IntN(6) == 0 {
		return s.pool[s.IntN(len(s.pool))]
	}
	defer func() { s.pool = append(s.pool, m) }()
	a := s.tree(depth - 1)
	switch s.IntN(4) {
	case 0:
		return s.pair(a, s.tree(depth-1))
	case 1:
		all := ops.Said()
		return s.operation(all[s.IntN(len(all))], a)
	}
	return s.function(a)
}

func (s *sprout) pair(a, b Msg) Msg {
	switch s.IntN(7) {
	case 0:
		return a.Add(b)
	case 1:
		return a.Sub(b)
	case 2:
		return a.Div(b.Abs().Shift(1))
	case 3:
		return a.Min(b)
	case 4:
		return a.Max(b)
	}
	return a.Tanh().Mul(b.Tanh())
}

// operation returns an operation on a. What wants an operand of a kind has it here; any other takes a as it is.
func (s *sprout) operation(k ops.Kind, a Msg) Msg {
	three := a.Tanh().Add(W(s.array(3).Reshape(3)))
	switch k {
	case ops.Unary:
		return s.function(a)
	case ops.Binary:
		return s.pair(a, s.leaf())
	case ops.DotLast:
		return three.Dot(W(s.array(1, 3)))
	case ops.MatMul:
		return three.MatMul(s.array(3, 3))
	case ops.Pick:
		return three.Mul(W(s.array(4, 1, 3))).Pick(s.kinds(4))
	case ops.Dropout:
		return a.Dropout(s.tape, 0.4)
	case ops.Gumbel:
		_, logp := s.leaf().Sample(s.tape)
		return a.Add(logp)
	case ops.Normalise:
		return a.Abs().Shift(0.5).Normalise()
	case ops.TopK:
		return s.leaf().TopK(2).Softmax().Mul(a) // leaves have no ties and no rounding
	}
	return Say(k, a, a.Tanh())
}

// function returns a function of the elements of a.
func (s *sprout) function(a Msg) Msg {
	switch s.IntN(16) {
	case 0:
		return a.Scale(-1.5)
	case 1:
		return a.Shift(0.25).Neg()
	case 2:
		return a.LeakyReLU(0.2)
	case 3:
		return a.ReLU()
	case 4:
		return a.ELU()
	case 5:
		return a.Sigmoid()
	case 6:
		return a.Softplus()
	case 7:
		return a.Tanh().Exp()
	case 8:
		return a.Abs().Shift(0.5).Log()
	case 9:
		return a.Abs().Shift(0.5).Sqrt()
	case 10:
		return a.SiLU()
	case 11:
		return a.GELU()
	case 12:
		return a.Tanh().Sin()
	case 13:
		return a.Cos()
	case 14:
		return a.Tanh().Abs().Shift(0.5).Pow(-1.5)
	}
	return a.Mul(s.leaf().Sign())
}

// randomGraph has up to 12 nodes and 40 edges, and may be a block or a view.
func randomGraph(rng *rand.Rand) *graph.Graph {
	n := 1 + rng.Int32N(12)
	src, dst := make([]int32, rng.IntN(40)), make([]int32, 0, 40)
	for i := range src {
		src[i], dst = rng.Int32N(n), append(dst, rng.Int32N(n))
	}
	g := graph.Must(graph.New(int(n), src, dst))
	rows := rng.Perm(int(n))[:rng.IntN(int(n)+1)]
	some := make([]int32, len(rows))
	for i, v := range rows {
		some[i] = int32(v)
	}
	switch rng.IntN(4) {
	case 0:
		return graph.Must(graph.Block(g, some))
	case 1:
		return graph.Must(graph.Dst(g, some))
	case 2:
		return graph.Must(graph.NewBipartite(int(n), int(n), src, dst))
	}
	return g
}

// checkRandom checks the expression that a seed gives: its values against the
// formula, its gradients for the same bits in tiles of any size.
func checkRandom(t *testing.T, seed uint64) {
	defer func() { rules.TilesOnly, exec.TileBytes = false, 32<<10 }()
	var want []tensor.Float
	for i, bytes := range []int{32 << 10, 64, 1 << 20} {
		rules.TilesOnly, exec.TileBytes = i != 0, bytes
		rng := rand.New(rand.NewPCG(seed, 5))
		tape := grad.NewTape(seed)
		tape.Reset()
		s := &sprout{Rand: rng, g: randomGraph(rng), tape: tape}
		m := s.tree(5)
		if err := check(s.g, m); err != nil {
			t.Fatalf("seed %d, tiles of %d bytes: %v\n%s", seed, bytes, err, Explain(s.g, m))
		}
		rules.TilesOnly = true
		y := UpdateAll(s.g, m, everyReducer...)
		if !y.Needs() {
			return
		}
		var all []tensor.Float
		for _, g := range tape.Backward(y.Mul(y).Sum()) {
			all = append(all, g.Value.Data...)
		}
		if want == nil {
			want = all
		}
		if err := compare.Differ(all, want, compare.SameBits); err != nil {
			t.Fatalf("seed %d, tiles of %d bytes: gradients: %v\n%s", seed, bytes, err, Explain(s.g, m))
		}
	}
}

// TestRandomExpressions compares many expressions with their formulas.
func TestRandomExpressions(t *testing.T) {
	seeds := uint64(70)
	if sparing.Full() {
		seeds = 200
	}
	for seed := range seeds {
		checkRandom(t, seed)
	}
}

// FuzzExpressions is TestRandomExpressions for any seed.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []uint64{1, 42, 125, 1 << 40, math.MaxUint64} { // 125: a Std of equal messages
		f.Add(seed)
	}
	f.Fuzz(checkRandom)
}
