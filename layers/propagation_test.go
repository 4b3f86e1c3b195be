package layers

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What GCNConv, SGConv, APPNP, SAGEConv and GINConv send runs as a kernel.
func TestPropagationKernel(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 2}))
	x, w := grad.Const(tensor.New(3, 4)), grad.Const(tensor.New(3, 1))
	for _, tt := range []struct {
		weight *grad.Var
		by     message.Reducer
	}{{nil, message.Sum}, {w, message.Sum}, {nil, message.Mean}, {nil, message.Max}} {
		if how := message.Explain(g, weighted(x, tt.weight), tt.by); !strings.HasPrefix(how, "kernel:") {
			t.Errorf("%v runs as %s", tt.by, how)
		}
	}
}

// Degrees and their weights are worked out once a graph.
func TestDegreesAreKept(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 2}))
	if degrees(g, inward, -0.5) != degrees(g, inward, -0.5) || degrees(g, inward, -0.5) == degrees(g, outward, -0.5) ||
		degrees(g, inward, -1) == degrees(g, inward, -0.5) || closedDegrees(g) != closedDegrees(g) {
		t.Error("degrees are not kept as they should be")
	}
	if SymmetricWeights(g, nil) != SymmetricWeights(g, nil) || NormBoth.Weights(g, nil) == NormRight.Weights(g, nil) {
		t.Error("weights are not kept as they should be")
	}
}
