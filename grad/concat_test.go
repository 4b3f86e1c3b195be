package grad_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestConcatSizes joins and cuts on either side of what one thread copies by itself, and
// compares elements with their places; gradients with sums of small whole numbers.
func TestConcatSizes(t *testing.T) {
	for _, rows := range []int{0, 1, 1489, 1490, 3000} { // 11 columns: 2¹⁴ elements are 1489 rows and some
		for _, threads := range []int{1, 3} {
			undo := par.SetThreads(threads)
			x, y, c := whole(rows, 11), whole(rows, 2), whole(rows, 1)
			tape := grad.NewTape(1)
			vx, vy := tape.Watch(x), tape.Watch(y)
			z := grad.ConcatScaled([]*grad.Var{vx, vy, vx, vx}, []*grad.Var{nil, grad.Const(c), grad.Const(c), nil})
			dz := whole(rows, 35)
			for i, v := range z.Value().Data {
				r, j := i/35, i%35
				want := tensor.Float(0)
				switch {
				case j < 11:
					want = x.Data[r*11+j]
				case j < 13:
					want = y.Data[r*2+j-11] * c.Data[r]
				case j < 24:
					want = x.Data[r*11+j-13] * c.Data[r]
				default:
					want = x.Data[r*11+j-24]
				}
				if v != want {
					t.Fatalf("%d rows: element %d of row %d is %v, want %v", rows, j, r, v, want)
				}
			}
			part := z.Columns(5, 35)
			d := tensor.New(rows, 30)
			for r := range rows {
				copy(d.Data[r*30:(r+1)*30], dz.Data[r*35+5:(r+1)*35])
			}
			grads := tape.BackwardFrom(part, d)
			gx, gy := grads.Of(vx).Data, grads.Of(vy).Data
			for r := range rows {
				of := dz.Data[r*35 : (r+1)*35]
				for j := range 11 {
					want := of[13+j]*c.Data[r] + of[24+j]
					if j >= 5 {
						want += of[j]
					}
					if gx[r*11+j] != want {
						t.Fatalf("%d rows: gradient %d of row %d is %v, want %v", rows, j, r, gx[r*11+j], want)
					}
				}
				if gy[r*2+1] != of[12]*c.Data[r] {
					t.Fatalf("%d rows: row %d of the narrow part has the gradient %v", rows, r, gy[r*2+1])
				}
			}
			undo()
		}
	}
}

// whole returns small whole numbers, of which sums are exact.
func whole(shape ...int) *tensor.Dense {
	x, rng := tensor.New(shape...), rand.New(rand.NewPCG(1, uint64(len(shape)+shape[0])))
	for i := range x.Data {
		x.Data[i] = tensor.Float(rng.IntN(15) - 7)
	}
	return x
}

// TestConcatScaled is Concat of products to the bit, gradients included.
func TestConcatScaled(t *testing.T) {
	x, c, d := randomly(7, 3), randomly(7, 1), randomly(7, 1)
	bits := func(join func(x *grad.Var) *grad.Var) []tensor.Float {
		tape := grad.NewTape(1)
		v := tape.Watch(x)
		y := join(v)
		dy := randomly(7, 9)
		return append(slices.Clone(y.Value().Data), tape.BackwardFrom(y, dy).Of(v).Data...)
	}
	cv, dv := grad.Const(c), grad.Const(d)
	got := bits(func(x *grad.Var) *grad.Var { return grad.ConcatScaled([]*grad.Var{x, x, x}, []*grad.Var{cv, nil, dv}) })
	want := bits(func(x *grad.Var) *grad.Var { return grad.Concat(x.Mul(cv), x, x.Mul(dv)) })
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for why, f := range map[string]func(){
		"each array needs": func() { grad.ConcatScaled([]*grad.Var{cv, dv}, []*grad.Var{nil}) },
		"[7 1]":            func() { grad.ConcatScaled([]*grad.Var{cv}, []*grad.Var{grad.Const(randomly(6, 1))}) },
		"[6 1]":            func() { grad.ConcatScaled([]*grad.Var{cv, grad.Const(randomly(6, 1))}, []*grad.Var{nil, nil}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want an error about %q", err, why)
		}
	}
}

func randomly(shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	x.Normal(rand.New(rand.NewPCG(3, uint64(shape[0]))), 0, 1)
	return x
}
