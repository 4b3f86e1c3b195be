package message

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// This file holds the reducer of docs/inside/adding-an-operation.md, and compares it with its formula.

// trimmedMean is the mean without the smallest and the largest message of each element, if there are
// three at least. Of equal ones that of the lowest edge is left out.
var trimmedMean = &ops.Reducer{
	Name:   "TrimmedMean",
	Floats: 2, // the smallest, and the largest
	Edges:  2, // and their edges
	Take:   takeTrimmed,
	Finish: finishTrimmed,
	Pull:   pullTrimmed,
}

// takeTrimmed sums what is neither the smallest nor the largest so far.
func takeTrimmed(d *ops.Arrivals) {
	least, most, leastEdge, mostEdge := d.Kept[0], d.Kept[1], d.Edge[0], d.Edge[1]
	for i := range d.Messages {
		e := int32(d.Lo + i)
		for j, m := range d.Message(i) {
			switch n := d.Before + i; {
			case n == 0:
				least[j], leastEdge[j] = m, e
			case n == 1 && m < least[j]:
				most[j], mostEdge[j], least[j], leastEdge[j] = least[j], leastEdge[j], m, e
			case n == 1:
				most[j], mostEdge[j] = m, e
			case m < least[j]:
				d.Out[j] += least[j]
				if least[j] == most[j] {
					mostEdge[j] = min(mostEdge[j], leastEdge[j])
				}
				least[j], leastEdge[j] = m, e
			case m > most[j]:
				d.Out[j] += most[j]
				most[j], mostEdge[j] = m, e
			default:
				d.Out[j] += m
			}
			if m != m {
				d.Out[j] = m // NaN stays, whatever is left out
			}
		}
	}
}

func finishTrimmed(d *ops.Arrivals) {
	for k := range min(d.Count, 2) {
		for j := range d.Out {
			if d.Count < 3 {
				d.Out[j] += d.Kept[k][j]
			}
		}
	}
	for j := range d.Out {
		d.Out[j] /= left(d)
	}
}

// pullTrimmed gives every message its share of the gradient, but for the two.
func pullTrimmed(d *ops.Arrivals) {
	for i := range d.Messages {
		e, dm := int32(d.Lo+i), d.Gradient(i)
		for j, g := range d.DOut {
			if d.Count < 3 || e != d.Edge[0][j] && e != d.Edge[1][j] {
				dm[j] += g / left(d)
			}
		}
	}
}

// left is how many messages are.
func left(d *ops.Arrivals) tensor.Float {
	if d.Count < 3 {
		return tensor.Float(d.Count)
	}
	return tensor.Float(d.Count - 2)
}

// trimmedFormula is the same of the messages of a destination, in float64.
func trimmedFormula(r *reference.Reference, m []rounding.Number) rounding.Number {
	if at := r.Order(m); len(m) >= 3 { // the largest first
		same := func(i int) bool { return r.Result(m[i]).Value == r.Result(m[at[len(at)-1]]).Value }
		least := 1 + slices.IndexFunc(at[1:], same)
		m = slices.Clone(m)
		m[at[0]], m[at[least]] = r.Constant(0), r.Constant(0)
		return r.Div(r.Sum(m...), r.Constant(float64(len(m)-2)))
	}
	return r.Div(r.Sum(m...), r.Constant(float64(len(m))))
}

// TestAddedReducer holds the reducer against its formula, forward and backward, alone and beside others, where
// messages are equal, and where a destination has more edges than a tile.
func TestAddedReducer(t *testing.T) {
	added := Reducer(len(reducers))
	reducers, reference.Reducers[trimmedMean] = append(reducers, trimmedMean), trimmedFormula
	t.Cleanup(func() {
		reducers = reducers[:added]
		delete(reference.Reducers, trimmedMean)
	})
	for i, bytes := range []int{48 << 10, 64} {
		SetTileBytes(t, bytes)
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		s := &sprout{Rand: rng, g: random.PowerLaw(rng, 30, 400, 0.9), tape: grad.NewTape(1)}
		x := tensor.New(s.g.NumSrc(), 2, 3)
		for k := range x.Data {
			x.Data[k] = tensor.Float(rng.IntN(5))
		}
		s.made = []*grad.Var{s.tape.Watch(x)}
		for _, m := range []Msg{U(s.made[0]), U(s.made[0]).Tanh().Mul(V(s.array(s.g.NumDst(), 3)))} {
			got, want := done(s, m, []Reducer{added}), s.truth(m, []Reducer{added})
			for k := range got {
				rounding.Near(t, Explain(s.g, m, added), got[k], want[k])
			}
			several := UpdateAll(s.g, m, Max, added).Value()
			for v := range several.Rows() {
				for k, y := range got[0][v*6 : v*6+6] {
					if other := several.Row(v)[k/3*6+3+k%3]; other != y {
						t.Fatalf("element %d of destination %d is %v beside Max, and %v alone", k, v, other, y)
					}
				}
			}
		}
	}
}

// What docs/inside/adding-an-operation.md quotes is what stands here.
func TestAddingAnOperation(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	src := read("adding_test.go")
	quoted := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read("../docs/inside/adding-an-operation.md"), -1)
	if len(quoted) < 2 {
		t.Fatalf("docs/inside/adding-an-operation.md has %d blocks of code", len(quoted))
	}
	for _, b := range quoted {
		if !strings.Contains(src, b[1]) {
			t.Errorf("docs/inside/adding-an-operation.md quotes what is not in adding_test.go:\n%s", b[1])
		}
	}
}
