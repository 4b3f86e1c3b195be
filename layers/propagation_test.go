package layers

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What GCNConv, SGConv, APPNP, SAGEConv and GINConv send runs by a rule.
func TestPropagationRule(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 2}))
	x, w := grad.Const(tensor.New(3, 4)), grad.Const(tensor.New(3, 1))
	for _, tt := range []struct {
		weight *grad.Var
		by     message.Reducer
	}{{nil, message.Sum}, {w, message.Sum}, {nil, message.Mean}, {nil, message.Max}} {
		if how := message.Explain(g, weighted(x, tt.weight), tt.by); !strings.HasPrefix(how, "rule:") {
			t.Errorf("%v runs as %s", tt.by, how)
		}
	}
}

// Degrees and their weights are worked out once a graph.
func TestDegreesAreKept(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 2}))
	for name, of := range map[string]func() *grad.Var{
		"degrees":   func() *grad.Var { return degrees(g, inward, -0.5) },
		"strengths": func() *grad.Var { return strengths(g, outward, nil, -0.5) },
		"closed":    func() *grad.Var { return closedDegrees(g) },
		"weights":   func() *grad.Var { return SymmetricWeights(g, nil) },
	} {
		if first := of(); of() != first {
			t.Errorf("%s are worked out again", name)
		}
	}
	if degrees(g, inward, -0.5) == degrees(g, outward, -0.5) || degrees(g, inward, -1) == degrees(g, inward, -0.5) ||
		degrees(g, inward, -1) == strengths(g, inward, nil, -1) || NormBoth.Weights(g, nil) == NormRight.Weights(g, nil) {
		t.Error("different things are kept as one")
	}
}
