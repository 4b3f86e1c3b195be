package layers_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
)

// matrix is a plain matrix: the oracles use nothing but loops over it.
type matrix [][]float64

func values(p *grad.Param) matrix {
	if p == nil {
		return nil
	}
	d := p.Value
	w := d.Dim(-1)
	m := make(matrix, len(d.Data)/max(1, w))
	for i := range m {
		for _, v := range d.Data[i*w : i*w+w] {
			m[i] = append(m[i], float64(v))
		}
	}
	return m
}

// affine is x·w + b; nil for a nil w or b stands for none.
func affine(x matrix, w, b *grad.Param) matrix {
	y, m := make(matrix, len(x)), values(w)
	for i, row := range x {
		y[i] = make([]float64, len(m[0]))
		for j := range y[i] {
			for k, v := range row {
				y[i][j] += v * m[k][j]
			}
			if b != nil {
				y[i][j] += float64(b.Value.Data[j])
			}
		}
	}
	return y
}

// attentive is what the oracles of the attention layers share.
type attentive struct {
	heads, out int
	average    bool
	residual   layers.Residual
	wres, b    *grad.Param
	act        grad.Activation
	logit      func(e, u, v, head int) float64
}

func (a attentive) run(g *graph.Graph, m *model, s matrix) matrix {
	width := a.heads * a.out
	weight, own := values(m.Wght), values(m.Src)
	if m.Dst != nil {
		own = values(m.Dst)
	}
	y := make(matrix, g.NumDst())
	for v := range y {
		row := make([]float64, width)
		for h := range a.heads {
			total := 0.0
			for e, d := range g.Destinations() {
				if int(d) == v {
					total += math.Exp(a.logit(e, int(g.In().Cols[e]), v, h))
				}
			}
			for e, d := range g.Destinations() {
				if int(d) != v {
					continue
				}
				u := int(g.In().Cols[e])
				alpha := math.Exp(a.logit(e, u, v, h)) / total
				if weight != nil {
					alpha *= weight[e][0]
				}
				for k := range a.out {
					row[h*a.out+k] += alpha * s[u][h*a.out+k]
				}
			}
		}
		y[v] = a.finish(row, own[v])
	}
	return y
}

// finish takes the mean of the heads, adds residual and bias, and activates.
func (a attentive) finish(row, own []float64) []float64 {
	if a.average {
		mean := make([]float64, a.out)
		for j, v := range row {
			mean[j%a.out] += v / float64(a.heads)
		}
		row = mean
	}
	switch {
	case a.residual == layers.NoResidual:
	case a.residual == layers.ResidualIdentity && len(own) == len(row):
		for j := range row {
			row[j] += own[j]
		}
	default:
		for j, v := range affine(matrix{own}, a.wres, nil)[0] {
			row[j] += v
		}
	}
	for j := range row {
		if a.b != nil {
			row[j] += float64(a.b.Value.Data[j])
		}
		row[j] = activate(a.act, row[j])
	}
	return row
}

func activate(a grad.Activation, v float64) float64 {
	switch {
	case a == grad.Tanh:
		return math.Tanh(v)
	case a == grad.ELU && v < 0:
		return math.Exp(v) - 1
	case a == grad.ReLU:
		return max(v, 0)
	}
	return v
}

func leaky(v, s float64) float64 {
	switch s {
	case 0:
		s = 0.2
	case grad.Zero:
		s = 0
	}
	if v < 0 {
		return s * v
	}
	return v
}

func gatOracle(l *layers.GATConv, g *graph.Graph, m *model) matrix {
	heads := max(1, l.Heads)
	wd, xd := l.WDst, m.Src
	if wd == nil {
		wd = l.W
	}
	if m.Dst != nil {
		xd = m.Dst
	}
	s, d := affine(values(m.Src), l.W, nil), affine(values(xd), wd, nil)
	al, ar := values(l.AttnL), values(l.AttnR)
	var xe, ae matrix
	if m.Edge != nil {
		xe, ae = affine(values(m.Edge), l.WEdge, nil), values(l.AttnEdge)
	}
	logit := func(e, u, v, h int) float64 {
		sum := 0.0
		for k := range l.Out {
			sum += al[h][k]*s[u][h*l.Out+k] + ar[h][k]*d[v][h*l.Out+k]
			if xe != nil {
				sum += ae[h][k] * xe[e][h*l.Out+k]
			}
		}
		return leaky(sum, l.Slope)
	}
	return attentive{heads, l.Out, l.Average, l.Residual, l.WRes, l.B, l.Activation, logit}.run(g, m, s)
}

func gatv2Oracle(l *layers.GATv2Conv, g *graph.Graph, m *model) matrix {
	heads := max(1, l.Heads)
	wd, bd, xd := l.WDst, l.BDst, m.Src
	if l.Shared {
		wd, bd = l.W, l.BSrc
	}
	if m.Dst != nil {
		xd = m.Dst
	}
	s, d, a := affine(values(m.Src), l.W, l.BSrc), affine(values(xd), wd, bd), values(l.Attn)
	var xe matrix
	if m.Edge != nil {
		xe = affine(values(m.Edge), l.WEdge, nil)
	}
	logit := func(e, u, v, h int) float64 {
		sum := 0.0
		for k := h * l.Out; k < (h+1)*l.Out; k++ {
			z := s[u][k] + d[v][k]
			if xe != nil {
				z += xe[e][k]
			}
			sum += a[h][k-h*l.Out] * leaky(z, l.Slope)
		}
		return sum
	}
	return attentive{heads, l.Out, l.Average, l.Residual, l.WRes, l.B, l.Activation, logit}.run(g, m, s)
}

// TestOracle compares every layer with its formula in loops.
func TestOracle(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		g := v.graph()
		m := v.model(g)
		var want matrix
		switch l := v.layer.(type) {
		case *layers.GATConv:
			want = gatOracle(l, g, m)
		case *layers.GATv2Conv:
			want = gatv2Oracle(l, g, m)
		case *layers.DotGATConv:
			want = dotOracle(l, g, m)
		case *layers.TransformerConv:
			want = transformerOracle(l, g, m)
		case *layers.GCNConv:
			want = gcnOracle(l, g, m)
		case *layers.SGConv:
			want = sgOracle(l, g, m)
		case *layers.APPNP:
			want = appnpOracle(l, g, m)
		case *layers.SAGEConv:
			want = sageOracle(l, g, m)
		case *layers.GINConv:
			want = ginOracle(l, g, m)
		default:
			want = catalogueOracle(t, l, g, m)
		}
		y := m.apply(nil, g).Value() // no tape: no dropout
		if y.Rows() != len(want) || y.RowLen() != len(want[0]) {
			t.Fatalf("shape is %v, want %d rows of %d", y.Shape(), len(want), len(want[0]))
		}
		for i, row := range want {
			compare.Near(t, fmt.Sprint("row ", i), y.Row(i), row, compare.Part(2e-5))
		}
	})
}
