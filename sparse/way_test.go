package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// products computes all that runs by tiles and blocks, over a and a's transpose, into what
// held any values.
func products(a *sparse.CSR, heads int, x, xt *tensor.Dense) map[string]*tensor.Dense {
	out := map[string]*tensor.Dense{}
	rng := rand.New(rand.NewPCG(5, uint64(x.RowLen())))
	values, weights := normal(rng, a.NNZ()).Data, normal(rng, a.NNZ(), heads)
	put := func(name string, p sparse.Product) {
		rows, from := a.NumRows, x
		if p.Transpose {
			rows, from = a.NumCols, xt
		}
		y := tensor.New(rows, x.RowLen())
		y.Fill(3)
		if p.Own != nil {
			p.Own = normal(rand.New(rand.NewPCG(6, 6)), rows, x.RowLen())
		}
		p.Into(y, from)
		out[name] = y
	}
	for _, transpose := range []bool{false, true} {
		for _, add := range []bool{false, true} {
			name := fmt.Sprintf("transpose %v, add %v, ", transpose, add)
			put(name+"ones", sparse.Product{A: a, Transpose: transpose, Add: add})
			put(name+"values", sparse.Product{A: a.WithValues(values), Transpose: transpose, Add: add})
			put(name+"weights", sparse.Product{A: a, Weights: weights, Transpose: transpose, Add: add})
			put(name+"mean", sparse.Product{A: a, Mean: true, Transpose: transpose, Add: add})
			put(name+"mean of values", sparse.Product{A: a.WithValues(values), Mean: true, Transpose: transpose, Add: add})
			put(name+"own", sparse.Product{A: a, Own: x, Transpose: transpose, Add: add})
		}
	}
	for _, add := range []bool{false, true} {
		z := tensor.New(a.NNZ(), heads)
		z.Fill(3)
		sparse.Dots{A: a, Add: add}.Into(z, x, xt)
		out[fmt.Sprintf("dots, add %v", add)] = z
	}
	top, least, arg := tensor.New(a.NumRows, x.RowLen()), tensor.New(a.NumRows, x.RowLen()), make([]int32, a.NumRows*x.RowLen())
	sparse.MaxDense(top, arg, a, x)
	sparse.MinDense(least, nil, a, x)
	won := top.Like()
	for i, k := range arg {
		won.Data[i] = float(k)
	}
	out["max"], out["min"], out["which is the largest"] = top, least, won
	return out
}

// Tiles and blocks change no bit: with hubs, empty rows, repeated edges, blocks without a
// source, columns that do not ascend, and widths that are no multiple of a tile.
func TestWays(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 1))
	lonely, err := sparse.New(3, 5000, []int64{0, 0, 900, 900}, make([]int32, 900), nil)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := sparse.New(4, 9, make([]int64, 5), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	matrices := map[string]*sparse.CSR{"hubs": hubs(t, rng), "unsorted": regular(t, rng, 300, 200, 9000), "lonely": lonely, "empty": empty}
	for name, a := range matrices {
		for i, shape := range [][2]int{{1, 1}, {16, 1}, {32, 4}, {64, 1}, {64, 8}, {70, 7}, {100, 1}, {128, 2}, {130, 130}} {
			f, heads := shape[0], shape[1]
			if !sparing.Full() && (i+len(name))%2 == 0 { // the other matrix has it
				continue
			}
			x, xt := normal(rng, a.NumCols, f), normal(rng, a.NumRows, f)
			undo := sparse.Force(sparse.Way{})
			want := products(a, heads, x, xt)
			undo()
			for _, way := range []sparse.Way{{Tile: 16}, {Tile: 32, Block: 64}, {Block: 50}, {Tile: 64}} {
				undo, threads := sparse.Force(way), par.SetThreads(1+i%3)
				for what, got := range products(a, heads, x, xt) {
					compare.Equal(t, fmt.Sprintf("%s of %d columns, %d heads, by %v: %s", name, f, heads, way, what), got.Data, want[what].Data)
				}
				undo()
				threads()
			}
		}
	}
}

// What is left out where a value is zero is left out by tiles and blocks too, so that an
// infinite element there does not matter.
func TestWaysOfZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 2))
	a := hubs(t, rng)
	values := normal(rng, a.NNZ()).Data
	for k, c := range a.Cols {
		if c == 5 {
			values[k] = 0
		}
	}
	a = a.WithValues(values)
	x := normal(rng, a.NumCols, 32)
	for j := range x.Row(5) {
		x.Row(5)[j] = float(math.Inf(1))
	}
	want, got := tensor.New(a.NumRows, 32), tensor.New(a.NumRows, 32)
	sparse.Product{A: a}.Into(want, x)
	defer sparse.Force(sparse.Way{Tile: 16, Block: 100})()
	sparse.Product{A: a}.Into(got, x)
	compare.Equal(t, "product with zeros", got.Data, want.Data)
}

// Several products may want other blocks of a matrix at once.
func TestWaysAtOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 3))
	a := hubs(t, rng)
	x := normal(rng, a.NumCols, 32)
	want := tensor.New(a.NumRows, 32)
	sparse.Product{A: a}.Into(want, x)
	defer sparse.Force(sparse.Way{Tile: 16, Block: 80})()
	done := make(chan *tensor.Dense)
	for range 4 {
		go func() {
			y := tensor.New(a.NumRows, 32)
			sparse.Product{A: a}.Into(y, x)
			done <- y
		}()
	}
	for range 4 {
		compare.Equal(t, "product at once", (<-done).Data, want.Data)
	}
}
