package layers_test

import (
	"cmp"
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// catalogueOracle is the formula of a layer of the catalogue, in loops.
func catalogueOracle(t *testing.T, l layer, g *graph.Graph, m *model) matrix {
	switch l := l.(type) {
	case *layers.ChebConv:
		return chebOracle(l, g, m)
	case *layers.TAGConv:
		x, y := values(m.Src), zeros(g.NumDst(), l.Out)
		for k := range cmp.Or(l.K, 2) + 1 {
			y = sum(y, 1, affine(x, rowsOf(l.W, k*l.In, l.In), nil))
			x = propagated(l.Norm, g, m.weights(g), x)
		}
		return activated(y, l.B, l.Activation)
	case *layers.ARMAConv:
		return armaOracle(l, g, m)
	case *layers.GCN2Conv:
		return gcn2Oracle(l, g, m)
	case *layers.LightGCN:
		k, z := cmp.Or(l.K, 3), values(m.Src)
		y := sum(zeros(g.NumDst(), len(z[0])), 1/float64(k+1), m.own())
		for range k {
			z = propagated(l.Norm, g, m.weights(g), z)
			y = sum(y, 1/float64(k+1), z)
		}
		return y
	case *layers.H2GCNConv:
		return h2Oracle(l, g, m)
	case *layers.AGNNConv:
		return agnnOracle(l, g, m)
	case *layers.GINEConv:
		return gineOracle(l, g, m)
	case *layers.SuperGATConv:
		return superOracle(l, g, m)
	case *layers.EdgeConv:
		return edgeConvOracle(l, g, m)
	case *layers.NNConv:
		return nnOracle(l, g, m)
	case *layers.ResGatedConv:
		return resGatedOracle(l, g, m)
	case *layers.MoNetConv:
		return moNetOracle(l, g, m)
	case *layers.GPSConv:
		return gpsOracle(l, g, m)
	case *layers.PNAConv:
		return pnaOracle(l, g, m)
	case *layers.RGCNConv:
		return rgcnOracle(l, g, m)
	case *layers.GatedGraphConv:
		return gatedOracle(l, g, m)
	}
	t.Fatal("there is no oracle")
	return nil
}

// h2Oracle finds who is one edge away and who is two in a matrix of neighbours.
func h2Oracle(l *layers.H2GCNConv, g *graph.Graph, m *model) matrix {
	n, x := g.NumNodes(), values(m.Src)
	near := make([][]bool, n)
	for v := range near {
		near[v] = make([]bool, n)
	}
	for e, v := range g.Destinations() {
		if u := g.In().Cols[e]; u != v {
			near[v][u] = true
			near[u][v] = near[u][v] || !l.Directed
		}
	}
	far := func(v, u int) bool {
		if v == u || near[v][u] {
			return false
		}
		for w := range n {
			if near[v][w] && near[w][u] {
				return true
			}
		}
		return false
	}
	y := zeros(n, 2*len(x[0]))
	for half, is := range []func(v, u int) bool{func(v, u int) bool { return near[v][u] }, far} {
		into, outOf := make([]float64, n), make([]float64, n)
		for v := range n {
			for u := range n {
				if is(v, u) {
					into[v]++
					outOf[u]++
				}
			}
		}
		for v := range n {
			for u := range n {
				for j, f := range x[u] {
					if is(v, u) {
						y[v][half*len(x[0])+j] += f / math.Sqrt(into[v]*outOf[u])
					}
				}
			}
		}
	}
	return y
}

func zeros(rows, cols int) matrix {
	y := make(matrix, rows)
	for i := range y {
		y[i] = make([]float64, cols)
	}
	return y
}

// sum is a + c·b, of as many rows as a has.
func sum(a matrix, c float64, b matrix) matrix {
	y := make(matrix, len(a))
	for i, row := range a {
		y[i] = make([]float64, len(row))
		for j := range row {
			y[i][j] = row[j] + c*b[i][j]
		}
	}
	return y
}

// rowsOf is n rows of p from lo on, as a Param.
func rowsOf(p *grad.Param, lo, n int) *grad.Param {
	part := grad.NewParam(n, p.Value.RowLen())
	for i := range n {
		copy(part.Value.Row(i), p.Value.Row(lo+i))
	}
	return part
}

// columnsOf is n columns of p from lo on, as a Param.
func columnsOf(p *grad.Param, lo, n int) *grad.Param {
	part := grad.NewParam(p.Value.Rows(), n)
	for i := range p.Value.Rows() {
		copy(part.Value.Row(i), p.Value.Row(i)[lo:lo+n])
	}
	return part
}

// network is an MLP without norms.
func network(l *layers.MLP, h matrix) matrix {
	for i, layer := range l.Layers {
		act := cmp.Or(l.Activation, grad.ReLU)
		if i+1 == len(l.Layers) {
			act = grad.Identity
		}
		h = activated(affine(h, layer.W, nil), layer.B, act)
	}
	return h
}

func chebOracle(l *layers.ChebConv, g *graph.Graph, m *model) matrix {
	r := 2 / cmp.Or(l.LambdaMax, 2)
	laplacian := func(x matrix) matrix { // 2/λ·(I − S) − I
		return sum(sum(zeros(len(x), len(x[0])), r-1, x), -r, propagated(l.Norm, g, m.weights(g), x))
	}
	last, x := matrix(nil), values(m.Src)
	y := affine(x, rowsOf(l.W, 0, l.In), nil)
	for k := 1; k < cmp.Or(l.K, 3); k++ {
		next := laplacian(x)
		if k > 1 {
			next = sum(sum(zeros(len(x), l.In), 2, next), -1, last)
		}
		last, x = x, next
		y = sum(y, 1, affine(x, rowsOf(l.W, k*l.In, l.In), nil))
	}
	return activated(y, l.B, l.Activation)
}

func armaOracle(l *layers.ARMAConv, g *graph.Graph, m *model) matrix {
	stacks, y := max(1, l.Stacks), zeros(g.NumDst(), l.Out)
	step := func(ps []*grad.Param, i int) *grad.Param { return ps[min(i, len(ps)-1)] }
	for k := range stacks {
		h := values(m.Src)
		for i := range max(1, l.Steps) {
			root := affine(m.own(), columnsOf(step(l.V, i), k*l.Out, l.Out), nil)
			h = propagated(l.Norm, g, m.weights(g), affine(h, columnsOf(step(l.W, i), k*l.Out, l.Out), nil))
			for v := range h {
				for j := range h[v] {
					h[v][j] += root[v][j]
					if !l.NoBias {
						h[v][j] += float64(step(l.B, i).Value.Data[k*l.Out+j])
					}
				}
			}
			if !l.NoActivation {
				h = activated(h, nil, cmp.Or(l.Activation, grad.ReLU))
			}
		}
		y = sum(y, 1/float64(stacks), h)
	}
	return y
}

func gcn2Oracle(l *layers.GCN2Conv, g *graph.Graph, m *model) matrix {
	alpha, beta := cmp.Or(l.Alpha, 0.1), math.Log(cmp.Or(l.Lambda, 0.5)/float64(max(1, l.Layer))+1)
	heard := propagated(l.Norm, g, m.weights(g), values(m.Src))
	none := zeros(len(heard), l.Width)
	heard, first := sum(none, 1-alpha, heard), sum(none, alpha, m.own())
	if !l.TwoWeights {
		heard, first = sum(heard, 1, first), none
	}
	y := sum(sum(none, 1-beta, heard), beta, affine(heard, l.W, nil))
	if l.TwoWeights {
		y = sum(sum(y, 1-beta, first), beta, affine(first, l.WFirst, nil))
	}
	return activated(y, l.B, l.Activation)
}

func agnnOracle(l *layers.AGNNConv, g *graph.Graph, m *model) matrix {
	x, own, beta := values(m.Src), m.own(), float64(l.B.Value.Data[0])
	logit := func(_, u, v, _ int) float64 {
		dot, a, b := 0.0, 0.0, 0.0
		for j := range x[u] {
			dot, a, b = dot+x[u][j]*own[v][j], a+x[u][j]*x[u][j], b+own[v][j]*own[v][j]
		}
		return beta * dot / math.Sqrt(a*b)
	}
	return attentive{1, len(x[0]), false, layers.NoResidual, nil, nil, l.Activation, logit}.run(g, m, x)
}

func gineOracle(l *layers.GINEConv, g *graph.Graph, m *model) matrix {
	eps, e, x, w := l.Eps, values(m.Edge), values(m.Src), m.weights(g)
	if l.Epsilon != nil {
		eps = float64(l.Epsilon.Value.Data[0])
	}
	if l.WEdge != nil {
		e = affine(e, l.WEdge, l.BEdge)
	}
	y := zeros(g.NumDst(), len(x[0]))
	for v, row := range y {
		for j := range row {
			row[j] = (1 + eps) * m.own()[v][j]
			for _, i := range into(g, v) {
				row[j] += w[i] * max(0, x[g.In().Cols[i]][j]+e[i][j])
			}
		}
	}
	return activated(network(&l.Net, y), nil, l.Activation)
}
