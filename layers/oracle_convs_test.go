package layers_test

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

// own returns the features of the destinations.
func (m *model) own() matrix {
	if m.Dst != nil {
		return values(m.Dst)
	}
	return values(m.Src)
}

// weights returns the weight of each edge.
func (m *model) weights(g *graph.Graph) []float64 {
	w := make([]float64, g.NumEdges())
	for e := range w {
		w[e] = 1
		if m.Wght != nil {
			w[e] = float64(m.Wght.Value.Data[e])
		}
	}
	return w
}

// activated is act(y + b), element by element.
func activated(y matrix, b *grad.Param, act grad.Activation) matrix {
	for _, row := range y {
		for j := range row {
			if b != nil {
				row[j] += float64(b.Value.Data[j])
			}
			row[j] = activate(act, row[j])
		}
	}
	return y
}

// into returns the edges into v, in their order.
func into(g *graph.Graph, v int) (edges []int) {
	for e, d := range g.Destinations() {
		if int(d) == v {
			edges = append(edges, e)
		}
	}
	return edges
}

// normOracle returns c_uv.
func normOracle(n layers.Norm, g *graph.Graph, w []float64) func(u, v int) float64 {
	in, out := make([]float64, g.NumDst()), make([]float64, g.NumSrc())
	win, wout := make([]float64, g.NumDst()), make([]float64, g.NumSrc())
	for e, v := range g.Destinations() {
		u := g.In().Cols[e]
		in[v], out[u], win[v], wout[u] = in[v]+1, out[u]+1, win[v]+w[e], wout[u]+w[e]
	}
	one := func(x float64) float64 { return max(x, 1) }
	over := func(x float64) float64 { // 0 for 1/0
		if x == 0 {
			return 0
		}
		return 1 / x
	}
	return map[layers.Norm]func(u, v int) float64{
		layers.NormSymmetric:     func(u, v int) float64 { return over(math.Sqrt(win[u] * win[v])) },
		layers.NormWeighted:      func(u, v int) float64 { return over(math.Sqrt(wout[u] * win[v])) },
		layers.NormOut:           func(u, v int) float64 { return over(math.Sqrt(wout[u] * wout[v])) },
		layers.NormWeightedLeft:  func(u, v int) float64 { return over(wout[u]) },
		layers.NormWeightedRight: func(u, v int) float64 { return over(win[v]) },
		layers.NormBoth:          func(u, v int) float64 { return 1 / math.Sqrt(one(out[u])*one(in[v])) },
		layers.NormIn:            func(u, v int) float64 { return 1 / math.Sqrt(one(in[u])*one(in[v])) },
		layers.NormLeft:          func(u, v int) float64 { return 1 / one(out[u]) },
		layers.NormRight:         func(u, v int) float64 { return 1 / one(in[v]) },
		layers.NormNone:          func(u, v int) float64 { return 1 },
	}[n]
}

// propagated is S·x.
func propagated(n layers.Norm, g *graph.Graph, w []float64, x matrix) matrix {
	c, y := normOracle(n, g, w), make(matrix, g.NumDst())
	for v := range y {
		y[v] = make([]float64, len(x[0]))
		for _, e := range into(g, v) {
			u := int(g.In().Cols[e])
			for j := range y[v] {
				y[v][j] += w[e] * c(u, v) * x[u][j]
			}
		}
	}
	return y
}

func gcnOracle(l *layers.GCNConv, g *graph.Graph, m *model) matrix {
	x := propagated(l.Norm, g, m.weights(g), values(m.Src))
	return activated(affine(x, l.W, nil), l.B, l.Activation)
}

func sgOracle(l *layers.SGConv, g *graph.Graph, m *model) matrix {
	x, k := values(m.Src), l.K
	if k == 0 {
		k = 2
	}
	for range k {
		x = propagated(l.Norm, g, m.weights(g), x)
	}
	return activated(affine(x, l.W, nil), l.B, l.Activation)
}

func appnpOracle(l *layers.APPNP, g *graph.Graph, m *model) matrix {
	x, k, alpha := values(m.Src), l.K, l.Alpha
	if k == 0 {
		k = 10
	}
	switch alpha {
	case 0:
		alpha = 0.1
	case grad.Zero:
		alpha = 0
	}
	z := x
	for range k {
		z = propagated(l.Norm, g, m.weights(g), z)
		for v := range z {
			for j := range z[v] {
				z[v][j] = (1-alpha)*z[v][j] + alpha*x[v][j]
			}
		}
	}
	return activated(z, nil, l.Activation)
}

// aggregated reduces the weighted rows of the in-neighbours.
func aggregated(a layers.Aggregator, g *graph.Graph, w []float64, x matrix) matrix {
	y := make(matrix, g.NumDst())
	for v := range y {
		y[v] = make([]float64, len(x[0]))
		edges := into(g, v)
		for j := range y[v] {
			sum, most := 0.0, math.Inf(-1)
			for _, e := range edges {
				z := w[e] * x[g.In().Cols[e]][j]
				sum, most = sum+z, max(most, z)
			}
			switch {
			case len(edges) == 0:
			case a == layers.AggregateMax:
				y[v][j] = most
			case a == layers.AggregateMean:
				y[v][j] = sum / float64(len(edges))
			default:
				y[v][j] = sum
			}
		}
	}
	return y
}

func sageOracle(l *layers.SAGEConv, g *graph.Graph, m *model) matrix {
	pool := func(x matrix) matrix {
		if !l.Project {
			return x
		}
		return activated(affine(x, l.WPool, nil), l.BPool, grad.ReLU)
	}
	x, w, own := pool(values(m.Src)), m.weights(g), m.own()
	var h matrix
	switch l.Aggregate {
	case layers.AggregateGCN:
		h = aggregated(layers.AggregateSum, g, w, x)
		for v, row := range pool(own) {
			for j := range row {
				h[v][j] = (h[v][j] + row[j]) / float64(g.InDegree(v)+1)
			}
		}
	case layers.AggregateLSTM:
		h = lstmOracle(l, g, w, x)
	case "":
		h = aggregated(layers.AggregateMean, g, w, x)
	default:
		h = aggregated(l.Aggregate, g, w, x)
	}
	y := affine(h, l.W, nil)
	if l.WRoot != nil {
		for v, row := range affine(own, l.WRoot, nil) {
			for j := range row {
				y[v][j] += row[j]
			}
		}
	}
	y = activated(y, l.B, l.Activation)
	for _, row := range y {
		square := 0.0
		for _, a := range row {
			square += a * a
		}
		for j := range row {
			if l.Normalise {
				row[j] /= math.Sqrt(square)
			}
		}
	}
	return y
}

// lstmOracle reads each node's in-neighbours one after the other.
func lstmOracle(l *layers.SAGEConv, g *graph.Graph, w []float64, x matrix) matrix {
	sigmoid := func(a float64) float64 { return 1 / (1 + math.Exp(-a)) }
	y := make(matrix, g.NumDst())
	for v := range y {
		h, c := make([]float64, l.In), make([]float64, l.In)
		for _, e := range into(g, v) {
			row := make([]float64, l.In)
			for j := range row {
				row[j] = w[e] * x[g.In().Cols[e]][j]
			}
			z, u := affine(matrix{row}, l.WGates, l.BGates)[0], affine(matrix{h}, l.UGates, nil)[0]
			h = make([]float64, l.In)
			for j := range h {
				at := func(k int) float64 { return z[k*l.In+j] + u[k*l.In+j] }
				c[j] = sigmoid(at(1))*c[j] + sigmoid(at(0))*math.Tanh(at(2))
				h[j] = sigmoid(at(3)) * math.Tanh(c[j])
			}
		}
		y[v] = h
	}
	return y
}

func ginOracle(l *layers.GINConv, g *graph.Graph, m *model) matrix {
	a, eps := l.Aggregate, l.Eps
	if l.Epsilon != nil {
		eps = float64(l.Epsilon.Value.Data[0])
	}
	h := aggregated(a, g, m.weights(g), values(m.Src))
	for v, row := range m.own()[:len(h)] {
		for j := range row {
			h[v][j] += (1 + eps) * row[j]
		}
	}
	for i, layer := range l.Net.Layers {
		act := l.Net.Activation
		if i+1 == len(l.Net.Layers) {
			act = grad.Identity
		}
		h = activated(affine(h, layer.W, nil), layer.B, act)
	}
	return activated(h, nil, l.Activation)
}

func dotOracle(l *layers.DotGATConv, g *graph.Graph, m *model) matrix {
	wd := l.WDst
	if wd == nil {
		wd = l.W
	}
	s, d := affine(values(m.Src), l.W, nil), affine(m.own(), wd, nil)
	logit := func(_, u, v, h int) float64 {
		sum := 0.0
		for k := h * l.Out; k < (h+1)*l.Out; k++ {
			sum += s[u][k] * d[v][k]
		}
		return sum / math.Sqrt(float64(l.Out))
	}
	return attentive{max(1, l.Heads), l.Out, l.Average, layers.NoResidual, nil, nil, l.Activation, logit}.run(g, m, s)
}

// transformerOracle gives the value of each edge a row of its own, so that the
// edges' features can be part of it.
func transformerOracle(l *layers.TransformerConv, g *graph.Graph, m *model) matrix {
	heads := max(1, l.Heads)
	key, value := affine(values(m.Src), l.WKey, l.BKey), affine(values(m.Src), l.WValue, l.BValue)
	query, weight := affine(m.own(), l.WQuery, l.BQuery), m.weights(g)
	xe := make(matrix, g.NumEdges())
	for e := range xe {
		xe[e] = make([]float64, heads*l.Out)
	}
	if m.Edge != nil {
		xe = affine(values(m.Edge), l.WEdge, nil)
	}
	y := make(matrix, g.NumDst())
	for v := range y {
		y[v] = make([]float64, heads*l.Out)
		for h := range heads {
			total, edges := 0.0, into(g, v)
			alpha := make([]float64, len(edges))
			for i, e := range edges {
				dot := 0.0
				for k := h * l.Out; k < (h+1)*l.Out; k++ {
					dot += query[v][k] * (key[g.In().Cols[e]][k] + xe[e][k])
				}
				alpha[i] = math.Exp(dot / math.Sqrt(float64(l.Out)))
				total += alpha[i]
			}
			for i, e := range edges {
				for k := h * l.Out; k < (h+1)*l.Out; k++ {
					y[v][k] += alpha[i] / total * weight[e] * (value[g.In().Cols[e]][k] + xe[e][k])
				}
			}
		}
		y[v] = attentive{out: l.Out, heads: heads, average: l.Average, residual: layers.NoResidual}.finish(y[v], nil)
	}
	return activated(rootOracle(l, m, y), nil, l.Activation)
}

// rootOracle joins the root to the message y.
func rootOracle(l *layers.TransformerConv, m *model, y matrix) matrix {
	if l.NoRoot {
		return y
	}
	for v, r := range affine(m.own(), l.WRoot, l.B) {
		beta, sum := 0.5, 0.0
		for j := range r {
			if l.Gate {
				w := values(l.WGate)
				sum += w[0][j]*y[v][j] + w[1][j]*r[j] + w[2][j]*(y[v][j]-r[j])
			}
		}
		if l.Gate {
			beta = 1 / (1 + math.Exp(-sum))
		}
		for j := range r {
			if l.Gate {
				y[v][j] = beta*r[j] + (1-beta)*y[v][j]
			} else {
				y[v][j] += r[j]
			}
		}
	}
	return y
}
