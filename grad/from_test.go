package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BackwardFrom gives the gradients of ⟨dy, y⟩, whether y is the last result, an
// earlier one, a view or watched itself, and leaves dy as it is.
func TestBackwardFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p, dy := param(1, 5, 3), tensor.New(5, 3)
	dy.Normal(rng, 0, 1)
	before := dy.Clone()
	tape := grad.NewTape(1)
	for name, f := range map[string]func(x *grad.Var) *grad.Var{
		"last":    func(x *grad.Var) *grad.Var { return x.Mul(x) },
		"earlier": func(x *grad.Var) *grad.Var { y := x.Tanh(); y.Exp().Sum(); return y },
		"view":    func(x *grad.Var) *grad.Var { return x.Mul(x).Reshape(15).Reshape(5, 3) },
		"leaf":    func(x *grad.Var) *grad.Var { return x },
	} {
		tape.Reset()
		y := f(tape.Use(p))
		first := tape.BackwardFrom(y, dy).Param(p).Clone()
		again := tape.BackwardFrom(y, dy).Param(p).Clone()
		want := tape.Backward(y.Mul(grad.Const(dy)).Sum()).Param(p)
		if !slices.Equal(first.Data, want.Data) || !slices.Equal(again.Data, want.Data) {
			t.Errorf("%s: gradient %v, then %v, want %v", name, first, again, want)
		}
		if !slices.Equal(dy.Data, before.Data) {
			t.Errorf("%s: dy was written to", name)
		}
	}
}

// The memory of dy is the caller's: the tape does not hand it out again.
func TestBackwardFromKeepsItsOwn(t *testing.T) {
	p, dy := param(1, 40), ones(40)
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		x := tape.Use(p)
		y := x.Mul(x)
		tape.BackwardFrom(y, dy)
		y.Exp().Mul(y).Sum()
	}
	if !slices.Equal(dy.Data, ones(40).Data) {
		t.Errorf("dy is now %v", dy)
	}
}

func TestBackwardFromMisuse(t *testing.T) {
	tape := grad.NewTape(1)
	x := tape.Watch(ones(2, 2))
	if _, ok := tensor.Try(func() { tape.BackwardFrom(x.Exp(), ones(4)) }).(*tensor.ShapeError); !ok {
		t.Error("a gradient of another shape: no ShapeError")
	}
	for name, call := range map[string]func(){
		"eval":     func() { grad.NewEval().BackwardFrom(x, ones(2, 2)) },
		"other":    func() { grad.NewTape(1).BackwardFrom(x, ones(2, 2)) },
		"constant": func() { tape.BackwardFrom(grad.Const(ones(2)), ones(2)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*grad.TapeError); !ok {
					t.Errorf("%s: no TapeError", name)
				}
			}()
			call()
		}()
	}
}
