package memories

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Of each question the weights from the least on are left, over their sum; what is counted as dropped
// is what the loops find.
func TestDropping(t *testing.T) {
	n := newLookupNet(&stage.Stage{})
	for _, scale := range []float64{0.3, 1, 3} { // spread, and almost hard
		n.Keys.Value.Normal(rand.New(rand.NewPCG(1, 1)), 0, scale)
		n.Queries.Value.Normal(rand.New(rand.NewPCG(2, 1)), 0, scale/2)
		l := newLookups(rand.New(rand.NewPCG(3, 1)), 50)
		_, all := n.softly(grad.NewEval(), l)
		before := message.ApplyEdges(l.g, all).Value()
		d := n.drop(l, 0)
		weights, mass, none := 0, 0.0, 0
		for v := range l.wants {
			sum := 0.0
			for e := range l.g.Sources(v) {
				if a := before.Data[e]; a >= tensor.Float(lookupLeast) {
					sum += float64(a)
				} else {
					weights, mass = weights+1, mass+float64(a)
				}
			}
			if sum == 0 {
				none++
			}
			if v >= len(d.after.Values) {
				continue
			}
			for e, u := range l.g.Sources(v) {
				want := 0.0
				if a := float64(before.Data[e]); before.Data[e] >= tensor.Float(lookupLeast) {
					want = a / sum
				}
				if got := d.after.Values[v][l.keys[u]]; math.Abs(got-want) > 1e-5 {
					t.Errorf("scale %v, question %d: a weight of %v becomes %v, want %v", scale, v, before.Data[e], got, want)
				}
			}
		}
		for name, c := range map[string][2]float64{
			"weights": {d.weights, float64(weights) / 300}, "mass": {d.mass, mass / 50}, "none": {d.none, float64(none) / 50},
		} {
			if math.Abs(c[0]-c[1]) > 1e-5 {
				t.Errorf("scale %v: the share of %s is %v, want %v", scale, name, c[0], c[1])
			}
		}
	}
}
