package fused_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// onPaths runs f on each path of kernels that there is.
func onPaths(t *testing.T, f func(t *testing.T)) {
	t.Run(cpu.Path(), f)
	if cpu.Path() == "avx512" {
		t.Run("narrow", func(t *testing.T) { defer cpu.Narrow()(); f(t) })
	}
	if cpu.Path() != "go" {
		t.Run("go", func(t *testing.T) { defer cpu.Disable()(); f(t) })
	}
}

// biases are sizes of a bias beside results of about one.
var biases = []float{0, 0.1, 1, 10, 100, 1e4, 1e7}

// A bias of any size, in all heads or in one, leaves the gradients of the logits as exact
// as none: Backward does not take them from what is left of a result after the bias.
func TestAttentionLargeBias(t *testing.T) {
	for _, hd := range [][2]int{{8, 8}, {8, 5}, {1, 7}, {4, 24}, {16, 8}} {
		for options := range 3 {
			rng := rand.New(rand.NewPCG(uint64(hd[0]), uint64(hd[1])))
			a := random(rng, 300, 200, 1500, false)
			k := &fused.GAT{In: a, El: normal(rng, 200, hd[0]), Er: normal(rng, 300, hd[0]), Ft: normal(rng, 200, hd[0], hd[1]), Slope: 0.2}
			switch options {
			case 1:
				drop := tensor.NewMask(1, 2, 3, 0.4)
				k.Drop = &drop
			case 2:
				k.Ee = normal(rng, a.NNZ(), hd[0])
			}
			dOut := normal(rng, 300, hd[0], hd[1])
			want := newOracle(k, dOut)
			onPaths(t, func(t *testing.T) {
				for i, size := range biases {
					if i%3 != options && !sparing.Full() {
						continue // the other options have these
					}
					k.Bias = normal(rng, hd[0]*hd[1])
					for j, b := range k.Bias.Data {
						k.Bias.Data[j] = size * (1 + b/8)
					}
					if i%2 == 0 {
						clear(k.Bias.Data[hd[1]:])
					}
					out, rec := dOut.Like(), records(k)
					k.Forward(out, rec)
					kept := out.Clone()
					into := &fused.GATGrads{El: k.El.Like(), Er: k.Er.Like(), Ft: k.Ft.Like()}
					k.Backward(dOut, out, rec, into)
					what := fmt.Sprintf("%v, options %d, a bias of %v: ", hd, options, size)
					compare.Equal(t, what+"the result", out.Data, kept.Data)
					compare.Near(t, what+"El", into.El.Data, want.el, compare.Part(1e-5))
					compare.Near(t, what+"Er", into.Er.Data, want.er, compare.Part(1e-5))
					compare.Near(t, what+"Ft", into.Ft.Data, want.ft, compare.Part(1e-5))
				}
			})
		}
	}
}

// A destination that hears one source attends to it whatever the logit, once or, without
// dropout and weights, several times: the gradient of the logits is zero, and no rounding.
func TestAttentionToOneSource(t *testing.T) {
	const nodes = 270 // in two parts
	onPaths(t, func(t *testing.T) {
		for i, hd := range [][2]int{{1, 7}, {8, 8}, {8, 5}, {16, 8}, {2, 8}, {4, 8}, {4, 64}, {8, 12}, {3, 5}, {6, 121}, {1, 1}} {
			for options := range 16 {
				if (bits.OnesCount(uint(options))+i)%2 != 0 { // any three of the options in all ways
					continue
				}
				rng := rand.New(rand.NewPCG(uint64(hd[0]), uint64(hd[1])))
				var r, c []int32
				for v := range int32(nodes) {
					if v%5 == 0 {
						continue
					}
					u := rng.Int32N(90)
					for range 1 + v%4/3*v%7*min(1, 1-int32(options)%2) {
						r, c = append(r, v), append(c, u)
					}
				}
				a, _, err := sparse.FromCOO(nodes, 90, r, c, nil)
				if err != nil {
					t.Fatal(err)
				}
				k := &fused.GAT{In: a, El: normal(rng, 90, hd[0]), Er: normal(rng, nodes, hd[0]), Ft: normal(rng, 90, hd[0], hd[1]), Slope: 0.2}
				if options&1 != 0 {
					drop := tensor.NewMask(1, 2, 3, 0.4)
					k.Drop = &drop
				}
				if options&2 != 0 {
					k.Ee = normal(rng, a.NNZ(), hd[0])
				}
				if options&5 == 5 {
					k.Weight = normal(rng, a.NNZ(), hd[0])
				}
				if options&8 != 0 {
					k.Bias = normal(rng, hd[0]*hd[1])
				}
				dOut := normal(rng, nodes, hd[0], hd[1])
				out, rec := dOut.Like(), records(k)
				k.Forward(out, rec)
				into := gradsOf(k)
				into.Weight = nil
				if options&2 == 0 {
					into.Ee = nil
				}
				k.Backward(dOut, out, rec, into)
				for name, x := range map[string]*tensor.Dense{"El": into.El, "Er": into.Er, "Ee": into.Ee} {
					for i := 0; x != nil && i < len(x.Data); i++ {
						if x.Data[i] != 0 {
							t.Fatalf("%v, options %d: %s at %d is %v, want 0", hd, options, name, i, x.Data[i])
						}
					}
				}
			}
		}
	})
}

// A softmax that one source of several takes whole has no gradient either.
func TestAttentionTakenWhole(t *testing.T) {
	onPaths(t, func(t *testing.T) {
		for _, hd := range [][2]int{{1, 7}, {8, 8}, {2, 8}, {4, 64}, {8, 12}, {6, 121}} {
			rng := rand.New(rand.NewPCG(uint64(hd[0]), uint64(hd[1])))
			a := random(rng, 60, 40, 400, false)
			k := &fused.GAT{In: a, El: tensor.New(40, hd[0]), Er: normal(rng, 60, hd[0]), Ft: normal(rng, 40, hd[0], hd[1]), Slope: 0.2}
			for u := range 40 {
				for h := range hd[0] {
					k.El.Row(u)[h] = float(1000 * (u + 1))
				}
			}
			alone := map[int]bool{}
			for v := range 60 { // no source twice where it is the largest
				top, n := int32(-1), 0
				for _, u := range a.Cols[a.Offsets[v]:a.Offsets[v+1]] {
					if u == top {
						n++
					} else if u > top {
						top, n = u, 1
					}
				}
				alone[v] = n < 2
			}
			dOut := normal(rng, 60, hd[0], hd[1])
			out, rec := dOut.Like(), records(k)
			k.Forward(out, rec)
			into := gradsOf(k)
			k.Backward(dOut, out, rec, into)
			for v := range 60 {
				for h, x := range into.Er.Row(v) {
					if alone[v] && x != 0 {
						t.Fatalf("%v: Er of %d, head %d, is %v, want 0", hd, v, h, x)
					}
				}
			}
		}
	})
}
