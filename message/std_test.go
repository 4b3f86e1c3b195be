package message_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestStdOfNearMessages compares Std and its gradient with two passes in float64
// where messages differ little beside their mean, and where they are many: a mean in
// one number is off by then.
func TestStdOfNearMessages(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for _, n := range []int{1, 2, 3, 40, 3000} {
		for _, offset := range []float64{0, 10, 1000} {
			for _, width := range []int{1, 8, 17} {
				x, seed := tensor.New(n, width), tensor.New(1, width)
				for i := range x.Data {
					x.Data[i] = tensor.Float(offset + rng.NormFloat64()*math.Max(1, offset)/100)
				}
				for i := range seed.Data {
					seed.Data[i] = tensor.Float(rng.NormFloat64())
				}
				compareStd(t, fmt.Sprintf("%d messages of %d around %v", n, width, offset), x, seed)
			}
		}
	}
}

// compareStd sends all rows of x to one node.
func compareStd(t *testing.T, what string, x, seed *tensor.Dense) {
	t.Helper()
	n, width := x.Dim(0), x.Dim(1)
	tape := grad.NewTape(1)
	u, v := tape.Watch(x), tape.Watch(tensor.New(1, width))
	y := message.UpdateAll(graph.CompleteBipartite(n, 1), message.U(u).Add(message.V(v)), message.Std)
	gs := tape.BackwardFrom(y, seed)
	for j := range width {
		mean, std := spread(x, j)
		if got := float64(y.Value().Row(0)[j]); math.Abs(got-std) > 1e-5*max(1, std) {
			t.Fatalf("%s: column %d is %v, want %v", what, j, got, std)
		}
		if got := gs.Of(v).Row(0)[j]; math.Abs(float64(got)) > 1e-5 {
			t.Fatalf("%s: the gradient of what all have in common is %v in column %d, want 0", what, got, j)
		}
		for i := range n {
			want := 0.0
			if std > 0 {
				want = float64(seed.Row(0)[j]) * (float64(x.Row(i)[j]) - mean) / (float64(n) * std)
			}
			if got := float64(gs.Of(u).Row(i)[j]); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
				t.Fatalf("%s: the gradient of row %d, column %d is %v, want %v", what, i, j, got, want)
			}
		}
	}
}

// Std and its gradient are those of two passes in float64 where squares leave the range of float32, on
// either side, denormal messages among them; a column by itself, whatever others are, and of hubs, whose
// messages are not there at once. Equal messages have no deviation and no gradient.
func TestStdAtTheEnds(t *testing.T) {
	exponents := []int{-149, -140, -120, -75, -64, -52, -45, 0, 45, 55, 64, 100, 126}
	rng := rand.New(rand.NewPCG(21, 1))
	inf := math.Inf(1)
	for _, n := range []int{1, 2, 3, 9, 40, 700} {
		width := len(exponents) + 5
		x, seed := tensor.New(n, width), tensor.New(1, width)
		for j := range width {
			seed.Data[j] = tensor.Float(rng.NormFloat64())
			for i := range n {
				v := 0.0 // of the last column but four
				switch k := j - len(exponents); k {
				case 1: // equal
					v = 0.1
				case 2: // equal and tiny
					v = 1e-30
				case 3: // far apart, and their mean is nought
					v = math.Copysign(1e-31, float64(i%2)-0.5)
				case 4:
					v = math.Copysign(3e38, float64(i%2)-0.5)
				default:
					if k < 0 {
						v = math.Ldexp(rng.Float64()*2-1, exponents[j]+1)
					}
				}
				x.Row(i)[j] = tensor.Float(v)
			}
		}
		for _, tile := range []int{48 << 10, 2 << 10} {
			message.SetTileBytes(t, tile)
			tape := grad.NewTape(1)
			u := tape.Watch(x)
			m := message.U(u).Add(message.W(grad.Const(tensor.New(width))))
			y := message.UpdateAll(graph.CompleteBipartite(n, 1), m, message.Std)
			several := message.UpdateAll(graph.CompleteBipartite(n, 1), m, message.Mean, message.Std, message.Max)
			gs := tape.BackwardFrom(y, seed)
			for j := range width {
				mean, std := spread(x, j)
				if j == len(exponents)+1 || j == len(exponents)+2 {
					std = 0
				}
				what := fmt.Sprintf("%d messages, tiles of %d, column %d", n, tile, j)
				const quantum = 0x1p-149
				got := float64(y.Value().Row(0)[j])
				if math.Abs(got-std) > 1e-5*std+quantum || got == inf {
					t.Errorf("%s: %v, want %v", what, got, std)
				}
				if other := float64(several.Value().Row(0)[width+j]); other != got {
					t.Errorf("%s: %v beside other reducers, %v alone", what, other, got)
				}
				for i := range n {
					want := 0.0
					if std > 0 {
						want = float64(seed.Row(0)[j]) * ((float64(x.Row(i)[j]) - mean) / std) / float64(n)
					}
					if d := float64(gs.Of(u).Row(i)[j]) - want; !(math.Abs(d) <= 1e-5+4*quantum/max(std, quantum)/float64(n)) && std > 4*quantum || std == 0 && d != 0 {
						t.Fatalf("%s: the gradient of row %d is %v, want %v", what, i, d+want, want)
					}
				}
			}
		}
	}
}

// A column that is computed again has the same bits at any destination, wherever its messages are among
// the edges, and of a hub too, whose messages are not there at once.
func TestStdAtTheEndsOfEachDestination(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 2))
	const n, width = 700, 4
	x := tensor.New(n, width)
	for i := range x.Data {
		x.Data[i] = tensor.Float(math.Ldexp(rng.Float64()*2-1, []int{-100, 0, 100, -64}[i%width]))
	}
	m := message.U(grad.Const(x)).Add(message.W(grad.Const(tensor.New(width))))
	for _, tile := range []int{48 << 10, 2 << 10} {
		message.SetTileBytes(t, tile)
		want := message.UpdateAll(graph.CompleteBipartite(n, 1), m, message.Std).Value().Row(0)
		y := message.UpdateAll(graph.CompleteBipartite(n, 3), m, message.Std).Value()
		for v := range 3 {
			if got := y.Row(v); !slices.Equal(got, want) {
				t.Errorf("tiles of %d: destination %d has %v, and one alone %v", tile, v, got, want)
			}
		}
	}
}

// spread returns the mean and the standard deviation of column j, in float64.
func spread(x *tensor.Dense, j int) (mean, std float64) {
	n, square := x.Dim(0), 0.0
	for i := range n {
		mean += float64(x.Row(i)[j]) / float64(n)
	}
	for i := range n {
		square += math.Pow(float64(x.Row(i)[j])-mean, 2) / float64(n)
	}
	return mean, math.Sqrt(square)
}
