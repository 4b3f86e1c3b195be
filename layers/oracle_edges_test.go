package layers_test

import (
	"cmp"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
)

func sigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }

// dot is the scalar product of a head's columns.
func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// reduced reduces the rows that of returns for the edges into each node.
func reduced(a layers.Aggregator, g *graph.Graph, width int, of func(e, u, v int) []float64) matrix {
	y := zeros(g.NumDst(), width)
	for v, row := range y {
		edges := into(g, v)
		for i, e := range edges {
			for j, z := range of(e, int(g.In().Cols[e]), v) {
				switch {
				case a == layers.AggregateMax && i > 0:
					row[j] = max(row[j], z)
				case a == layers.AggregateMean:
					row[j] += z / float64(len(edges))
				default:
					row[j] += z
				}
			}
		}
	}
	return y
}

// times is c·row.
func times(c float64, row []float64) []float64 { return sum(zeros(1, len(row)), c, matrix{row})[0] }

// finished adds residual and bias, and activates.
func finished(m *model, y matrix, r layers.Residual, wres, b *grad.Param, act grad.Activation) matrix {
	for v := range y {
		y[v] = attentive{heads: 1, out: len(y[v]), residual: r, wres: wres, b: b, act: act}.finish(y[v], m.own()[v])
	}
	return y
}

func superOracle(l *layers.SuperGATConv, g *graph.Graph, m *model) matrix {
	s, d, al, ar := affine(values(m.Src), l.W, nil), affine(m.own(), l.W, nil), values(l.AttnL), values(l.AttnR)
	logit := func(_, u, v, h int) float64 {
		a, b := s[u][h*l.Out:(h+1)*l.Out], d[v][h*l.Out:(h+1)*l.Out]
		if l.ScaledDot {
			return leaky(dot(a, b)/math.Sqrt(float64(l.Out)), l.Slope)
		}
		return leaky((dot(al[h], a)+dot(ar[h], b))*sigmoid(dot(a, b)), l.Slope)
	}
	return attentive{max(1, l.Heads), l.Out, l.Average, layers.NoResidual, nil, l.B, l.Activation, logit}.run(g, m, s)
}

func edgeConvOracle(l *layers.EdgeConv, g *graph.Graph, m *model) matrix {
	x, own, w := values(m.Src), m.own(), m.weights(g)
	y := reduced(cmp.Or(l.Aggregate, layers.AggregateMax), g, l.Net.Widths[len(l.Net.Widths)-1], func(e, u, v int) []float64 {
		pair := append(append([]float64{}, own[v]...), sum(matrix{x[u]}, -1, matrix{own[v]})[0]...)
		return times(w[e], network(&l.Net, matrix{pair})[0])
	})
	return activated(y, nil, l.Activation)
}

func nnOracle(l *layers.NNConv, g *graph.Graph, m *model) matrix {
	x, w, h := values(m.Src), m.weights(g), values(m.Edge)
	if l.Net != nil {
		h = activated(network(l.Net, h), nil, grad.ReLU)
	}
	theta := affine(h, l.W, l.BTheta) // In·Out an edge
	product := func(e, u, i, o int) float64 { return w[e] * x[u][i] * theta[e][i*l.Out+o] }
	var y matrix
	if l.MaxEach {
		each := reduced(layers.AggregateMax, g, l.In*l.Out, func(e, u, _ int) []float64 {
			row := make([]float64, l.In*l.Out)
			for k := range row {
				row[k] = product(e, u, k/l.Out, k%l.Out)
			}
			return row
		})
		y = zeros(g.NumDst(), l.Out)
		for v, row := range each {
			for k, z := range row {
				y[v][k%l.Out] += z
			}
		}
	} else {
		y = reduced(l.Aggregate, g, l.Out, func(e, u, _ int) []float64 {
			row := make([]float64, l.Out)
			for k := range l.In * l.Out {
				row[k%l.Out] += product(e, u, k/l.Out, k%l.Out)
			}
			return row
		})
	}
	return finished(m, y, l.Residual, l.WRes, l.B, l.Activation)
}

func resGatedOracle(l *layers.ResGatedConv, g *graph.Graph, m *model) matrix {
	x, own, w := values(m.Src), m.own(), m.weights(g)
	key, query, value := affine(own, l.WKey, l.BKey), affine(x, l.WQuery, nil), affine(x, l.WValue, l.BValue)
	y := reduced(layers.AggregateSum, g, l.Out, func(e, u, v int) []float64 {
		gate, carried := sum(matrix{key[v]}, 1, matrix{query[u]}), matrix{value[u]}
		if m.Edge != nil {
			row := matrix{values(m.Edge)[e]}
			gate, carried = sum(gate, 1, affine(row, l.WEdge, nil)), sum(carried, 1, affine(row, l.WEdgeValue, nil))
		}
		z := make([]float64, l.Out)
		for j := range z {
			z[j] = w[e] * sigmoid(gate[0][j]) * carried[0][j]
		}
		return z
	})
	if !l.NoRoot {
		y = sum(y, 1, affine(own, l.WRoot, nil))
	}
	return activated(y, l.B, l.Activation)
}

func moNetOracle(l *layers.MoNetConv, g *graph.Graph, m *model) matrix {
	x, e, mu, r, w := affine(values(m.Src), l.W, nil), values(m.Edge), values(l.Mu), values(l.R), m.weights(g)
	y := reduced(l.Aggregate, g, l.Out, func(i, u, _ int) []float64 {
		z := make([]float64, l.Out)
		for k := range mu {
			square := 0.0
			for j := range mu[k] {
				square += math.Pow((e[i][j]-mu[k][j])*r[k][j], 2)
			}
			for j := range z {
				z[j] += w[i] * math.Exp(-square/2) * x[u][k*l.Out+j]
			}
		}
		return z
	})
	return finished(m, y, l.Residual, l.WRes, l.B, l.Activation)
}

// relationMatrix is W_r, row after row.
func relationMatrix(l *layers.RGCNConv, r int) *grad.Param {
	w, p := l.W.Value.Data, grad.NewParam(l.In, l.Out)
	for i := range l.In {
		for o := range l.Out {
			k := i*l.Out + o
			switch {
			case l.Bases > 0:
				for b := range l.Bases {
					p.Value.Data[k] += l.Mix.Value.Data[r*l.Bases+b] * w[b*l.In*l.Out+k]
				}
			case l.Blocks > 0:
				rows, cols := l.In/l.Blocks, l.Out/l.Blocks
				if b := i / rows; b == o/cols {
					p.Value.Data[k] = w[((r*l.Blocks+b)*rows+i%rows)*cols+o%cols]
				}
			default:
				p.Value.Data[k] = w[r*l.In*l.Out+k]
			}
		}
	}
	return p
}

func rgcnOracle(l *layers.RGCNConv, g *graph.Graph, m *model) matrix {
	w, kinds := m.weights(g), g.Kinds()
	var x []matrix
	for r := range l.Relations {
		x = append(x, affine(values(m.Src), relationMatrix(l, r), nil))
	}
	y := reduced(layers.AggregateSum, g, l.Out, func(e, u, v int) []float64 {
		c := w[e]
		if l.Aggregate != layers.AggregateSum {
			n := 0.0
			for _, other := range into(g, v) {
				if kinds[other] == kinds[e] {
					n++
				}
			}
			c /= n
		}
		return times(c, x[kinds[e]][u])
	})
	if l.LayerNorm {
		y = rowNorm(l.Norm, y)
	}
	if !l.NoRoot {
		y = sum(y, 1, affine(m.own(), l.WRoot, nil))
	}
	return activated(y, l.B, l.Activation)
}

func gatedOracle(l *layers.GatedGraphConv, g *graph.Graph, m *model) matrix {
	pad := func(x matrix) matrix {
		y := zeros(len(x), l.Out)
		for i, row := range x {
			copy(y[i], row)
		}
		return y
	}
	h, own, w, kinds := pad(values(m.Src)), pad(m.own()), m.weights(g), max(1, l.Kinds)
	for step := range max(1, l.Steps) {
		heard := reduced(layers.AggregateSum, g, l.Out, func(e, u, _ int) []float64 {
			k := 0
			if l.Kinds > 1 {
				k = int(g.Kinds()[e])
			}
			at := k
			if l.PerStep {
				at += step * kinds
			}
			p := grad.NewParam(l.Out, l.Out)
			copy(p.Value.Data, l.W.Value.Data[at*l.Out*l.Out:])
			z := affine(matrix{h[u]}, p, nil)[0]
			for j := range z {
				if l.B != nil {
					z[j] += float64(l.B.Value.Data[k*l.Out+j])
				}
				z[j] *= w[e]
			}
			return z
		})
		z, s := affine(heard, l.WGates, l.BGates), affine(own, l.UGates, l.BState)
		next := zeros(len(own), l.Out)
		for v, row := range next {
			for j := range row {
				reset, keep := sigmoid(z[v][j]+s[v][j]), sigmoid(z[v][l.Out+j]+s[v][l.Out+j])
				n := math.Tanh(z[v][2*l.Out+j] + reset*s[v][2*l.Out+j])
				row[j] = (1-keep)*n + keep*own[v][j]
			}
		}
		own, h = next, next
	}
	return own
}

// rowNorm is a LayerNorm.
func rowNorm(l *layers.LayerNorm, y matrix) matrix {
	z := zeros(len(y), l.Width)
	for i, row := range y {
		mean, square := 0.0, 0.0
		for _, a := range row {
			mean += a / float64(len(row))
		}
		for _, a := range row {
			square += (a - mean) * (a - mean) / float64(len(row))
		}
		for j, a := range row {
			z[i][j] = (a-mean)/math.Sqrt(square+1e-5)*float64(l.Gain.Value.Data[j]) + float64(l.B.Value.Data[j])
		}
	}
	return z
}

// gpsOracle is of a graph that is no batch: every node attends to all.
func gpsOracle(l *layers.GPSConv, g *graph.Graph, m *model) matrix {
	x, heads := values(m.Src), max(1, l.Heads)
	d := l.Width / heads
	local := matrix(nil)
	if l.GINE != nil {
		local = gineOracle(l.GINE, g, m)
	} else {
		local = activated(network(&l.GIN.Net, sum(x, 1, aggregated(layers.AggregateSum, g, m.weights(g), x))), nil, "")
	}
	q, k, v := affine(x, l.Query.W, l.Query.B), affine(x, l.Key.W, l.Key.B), affine(x, l.Value.W, l.Value.B)
	heard := zeros(len(x), l.Width)
	for i := range x {
		for lo := 0; lo < l.Width; lo += d {
			total := 0.0
			for j := range x {
				total += math.Exp(dot(q[i][lo:lo+d], k[j][lo:lo+d]) / math.Sqrt(float64(d)))
			}
			for j := range x {
				alpha := math.Exp(dot(q[i][lo:lo+d], k[j][lo:lo+d])/math.Sqrt(float64(d))) / total
				for c := lo; c < lo+d; c++ {
					heard[i][c] += alpha * v[j][c]
				}
			}
		}
	}
	a := rowNorm(l.LayerNorms[0], sum(x, 1, local))
	c := rowNorm(l.LayerNorms[1], sum(x, 1, affine(heard, l.Merge.W, l.Merge.B)))
	y := sum(a, 1, c)
	return rowNorm(l.LayerNorms[2], sum(y, 1, network(l.Net, y)))
}
