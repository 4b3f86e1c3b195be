package main

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
)

// mixed is a·x + b·y.
func mixed(a float64, x [][]float64, b float64, y [][]float64) [][]float64 {
	z := make([][]float64, len(x))
	for i := range x {
		for j := range x[i] {
			z[i] = append(z[i], a*x[i][j]+b*y[i][j])
		}
	}
	return z
}

// block is n rows of p from lo on.
func block(p *grad.Param, lo, n int) *grad.Param {
	part := grad.NewParam(n, p.Value.RowLen())
	for i := range n {
		copy(part.Value.Row(i), p.Value.Row(lo+i))
	}
	return part
}

// catalogueFormulas is how TAG, ChebNet and GCNII count weights, as loops.
func catalogueFormulas() map[string]func(k *task, n *network) [][]float64 {
	tag := func(k *task, x [][]float64, l *tagLayer) [][]float64 {
		y := product(x, block(l.W, 0, l.In), l.B)
		for i := 1; i <= 2; i++ {
			x = spread(k, x)
			y = mixed(1, y, 1, product(x, block(l.W, i*l.In, l.In), nil))
		}
		return y
	}
	cheb := func(k *task, x [][]float64, l *chebLayer) [][]float64 { // λ is 2, so L̂ = −S
		one := spread(k, x)
		two := mixed(2, spread(k, one), -1, x)
		y := mixed(1, product(x, block(l.W, 0, l.In), l.B), -1, product(one, block(l.W, l.In, l.In), nil))
		return mixed(1, y, 1, product(two, block(l.W, 2*l.In, l.In), nil))
	}
	return map[string]func(k *task, n *network) [][]float64{
		"tag": func(k *task, n *network) [][]float64 {
			return tag(k, rectified(tag(k, rowsOf(k), n.Layers[0].(*tagLayer))), n.Layers[1].(*tagLayer))
		},
		"cheb": func(k *task, n *network) [][]float64 {
			return cheb(k, rectified(cheb(k, rowsOf(k), n.Layers[0].(*chebLayer))), n.Layers[1].(*chebLayer))
		},
		"arma": func(k *task, n *network) [][]float64 {
			step := func(x [][]float64, l *armaLayer) [][]float64 {
				return mixed(1, spread(k, product(x, l.W[0], nil)), 1, product(x, l.V[0], l.B[0]))
			}
			return step(rectified(step(rowsOf(k), n.Layers[0].(*armaLayer))), n.Layers[1].(*armaLayer))
		},
		"gcn2": func(k *task, n *network) [][]float64 {
			l, end := n.Layers[0].(*gcn2Layer), n.Layers[1].(*gcn2Layer).Dense
			first := rectified(product(rowsOf(k), l.Dense.W, l.Dense.B))
			h := mixed(1, first, 0, first)
			for i, conv := range l.Deep {
				beta := math.Log(0.5/float64(i+1) + 1)
				z := mixed(0.9, spread(k, h), 0.1, first)
				h = rectified(mixed(1-beta, z, beta, product(z, conv.W, nil)))
			}
			return product(h, end.W, end.B)
		},
	}
}
