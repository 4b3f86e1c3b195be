package layers_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// alone is what the comment of a layer promises a node without in-edges, whose row is x.
// Of a layer that attends to the whole graph it is nil.
func alone(t *testing.T, l layer, x matrix) matrix {
	rest := func(residual layers.Residual, wres, b *grad.Param, act grad.Activation, heads, width int, average bool) matrix {
		a := attentive{heads: heads, out: width, average: average, residual: residual, wres: wres, b: b, act: act}
		return matrix{a.finish(make([]float64, heads*width), x[0])}
	}
	switch l := l.(type) {
	case *layers.GATConv: // act([residual +] b)
		return rest(l.Residual, l.WRes, l.B, l.Activation, max(1, l.Heads), l.Out, l.Average)
	case *layers.GATv2Conv:
		return rest(l.Residual, l.WRes, l.B, l.Activation, max(1, l.Heads), l.Out, l.Average)
	case *layers.MoNetConv:
		return rest(l.Residual, l.WRes, l.B, l.Activation, 1, l.Out, false)
	case *layers.NNConv:
		return rest(l.Residual, l.WRes, l.B, l.Activation, 1, l.Out, false)
	case *layers.SuperGATConv: // act(b)
		return rest(layers.NoResidual, nil, l.B, l.Activation, max(1, l.Heads), l.Out, l.Average)
	case *layers.GCNConv:
		return activated(zeros(1, l.Out), l.B, l.Activation)
	case *layers.SGConv:
		return activated(zeros(1, l.Out), l.B, l.Activation)
	case *layers.DotGATConv: // act(0)
		return rest(layers.NoResidual, nil, nil, l.Activation, max(1, l.Heads), l.Out, l.Average)
	case *layers.AGNNConv:
		return activated(zeros(1, len(x[0])), nil, l.Activation)
	case *layers.EdgeConv:
		return activated(zeros(1, l.Net.Widths[len(l.Net.Widths)-1]), nil, l.Activation)
	case *layers.H2GCNConv:
		return zeros(1, 2*len(x[0]))
	case *layers.APPNP: // act(α·x)
		return activated(matrix{times(grad.Preset(l.Alpha, 0.1), x[0])}, nil, l.Activation)
	case *layers.LightGCN: // x/(K+1)
		return matrix{times(1/float64(cmp.Or(l.K, 3)+1), x[0])}
	case *layers.TAGConv: // act(x·W_0 + b)
		return activated(affine(x, rowsOf(l.W, 0, l.In), nil), l.B, l.Activation)
	case *layers.ResGatedConv: // act(x·W_root + b)
		return rooted(x, l.WRoot, l.B, l.Activation, l.Out)
	case *layers.RGCNConv:
		return rooted(x, l.WRoot, l.B, l.Activation, l.Out)
	case *layers.GINConv: // act(Net((1+ε)·x))
		return activated(network(&l.Net, matrix{times(1+epsilon(l.Eps, l.Epsilon), x[0])}), nil, l.Activation)
	case *layers.GINEConv:
		return activated(network(&l.Net, matrix{times(1+epsilon(l.Eps, l.Epsilon), x[0])}), nil, l.Activation)
	case *layers.GPSConv:
		return nil
	}
	return aloneAgain(t, l, x)
}

// aloneAgain is the rest of alone: what is more than a line.
func aloneAgain(t *testing.T, l layer, x matrix) matrix {
	switch l := l.(type) {
	case *layers.ChebConv: // L̂ is 2/λ − 1, so T_k is a number
		r := 2/cmp.Or(l.LambdaMax, 2) - 1
		y, last, now := zeros(1, l.Out), 0.0, 1.0
		for k := range cmp.Or(l.K, 3) {
			y = sum(y, now, affine(x, rowsOf(l.W, k*l.In, l.In), nil))
			if last, now = now, 2*r*now-last; k == 0 {
				now = r
			}
		}
		return activated(y, l.B, l.Activation)
	case *layers.ARMAConv: // no sum: what the last step returns to
		stacks, y := max(1, l.Stacks), zeros(1, l.Out)
		act := cmp.Or(l.Activation, grad.ReLU)
		if l.NoActivation {
			act = grad.Identity
		}
		all := affine(x, l.V[len(l.V)-1], nil)
		if !l.NoBias {
			all = affine(x, l.V[len(l.V)-1], l.B[len(l.B)-1])
		}
		for i, z := range activated(all, nil, act)[0] {
			y[0][i%l.Out] += z / float64(stacks)
		}
		return y
	case *layers.GCN2Conv: // S·h is zero
		alpha, beta := cmp.Or(l.Alpha, 0.1), math.Log(cmp.Or(l.Lambda, 0.5)/float64(max(1, l.Layer))+1)
		w, z := l.W, matrix{times(alpha, x[0])}
		if l.TwoWeights {
			w = l.WFirst
		}
		return activated(sum(sum(zeros(1, l.Width), 1-beta, z), beta, affine(z, w, nil)), l.B, l.Activation)
	case *layers.SAGEConv: // the aggregate is zero; AggregateGCN's has the node itself
		y := rooted(x, l.WRoot, l.B, l.Activation, l.Out)
		if l.Aggregate == layers.AggregateGCN {
			if l.Project {
				x = activated(affine(x, l.WPool, nil), l.BPool, grad.ReLU)
			}
			y = activated(affine(x, l.W, nil), l.B, l.Activation)
		}
		if l.Normalise {
			y[0] = times(1/math.Sqrt(dot(y[0], y[0])), y[0])
		}
		return y
	case *layers.TransformerConv: // m is zero
		m := &model{Src: grad.NewParam(1, len(x[0]))}
		for j, v := range x[0] {
			m.Src.Value.Data[j] = tensor.Float(v)
		}
		width := l.Out
		if !l.Average {
			width *= max(1, l.Heads)
		}
		return activated(rootOracle(l, m, zeros(1, width)), nil, l.Activation)
	case *layers.GatedGraphConv: // it hears zero
		h := zeros(1, l.Out)
		copy(h[0], x[0])
		for range max(1, l.Steps) {
			z, s := affine(zeros(1, l.Out), l.WGates, l.BGates)[0], affine(h, l.UGates, l.BState)[0]
			for j, old := range h[0] {
				reset, keep := sigmoid(z[j]+s[j]), sigmoid(z[l.Out+j]+s[l.Out+j])
				h[0][j] = (1-keep)*math.Tanh(z[2*l.Out+j]+reset*s[2*l.Out+j]) + keep*old
			}
		}
		return h
	case *layers.PNAConv: // all aggregates are zero
		var h []float64
		for i, post := range l.Post {
			own := x[0]
			if l.Divide {
				f := len(own) / l.Towers
				own = own[i*f : (i+1)*f]
			}
			row := make([]float64, post.Widths[0])
			copy(row, own)
			h = append(h, network(post, matrix{row})[0]...)
		}
		y := affine(matrix{h}, l.Mix.W, l.Mix.B)
		for j, z := range y[0] {
			if l.Slope != 0 && z < 0 {
				y[0][j] *= l.Slope
			}
			if l.Residual {
				y[0][j] += x[0][j]
			}
		}
		return activated(y, nil, l.Activation)
	}
	t.Fatalf("nobody says what an isolated node of a %T gets", l)
	return nil
}

// rooted is act(x·W + b), of a missing W act(b).
func rooted(x matrix, w, b *grad.Param, act grad.Activation, width int) matrix {
	if w == nil {
		return activated(zeros(1, width), b, act)
	}
	return activated(affine(x, w, nil), b, act)
}

// epsilon is ε, learnt or given.
func epsilon(given float64, learnt *grad.Param) float64 {
	if learnt != nil {
		return float64(learnt.Value.Data[0])
	}
	return given
}

// An isolated node gets what each layer's comment says, under every option that is not of
// two sides; and the same bits as by itself, in a graph of one node.
func TestIsolated(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		if v.inDst > 0 {
			return
		}
		g := v.graph()
		m := v.model(g)
		one := &model{L: m.L, Src: grad.NewParam(1, v.in)}
		copy(one.Src.Value.Data, m.Src.Value.Row(7))
		if v.edge > 0 {
			one.Edge = grad.NewParam(0, v.edge)
		}
		want := alone(t, m.L, values(one.Src))
		if want == nil { // it attends to all of its graph, so it has to be one by itself
			g = graph.Must(graph.WithMembers(g, []int{0, 7, 8}))
		} else {
			y := m.apply(nil, g).Value()
			compare.Near(t, "the isolated node", y.Row(7), want[0], compare.Part(2e-5))
		}
		got, itself := m.apply(nil, g).Value().Row(7), one.apply(nil, v.kinded(graph.Must(graph.New(1, nil, nil)))).Value().Row(0)
		if !slices.Equal(got, itself) {
			t.Errorf("the isolated node gets %v, and by itself %v", got, itself)
		}
	})
}
