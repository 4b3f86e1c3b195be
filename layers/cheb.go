package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// ChebConv filters the features of a graph by Chebyshev polynomials of its
// Laplacian, so that it looks K−1 hops far.
//
//	y = act( Σ_{k<K} T_k(L̂)·x·W_k + b ),   L̂ = 2/λ·(I − S) − I,   (S·x)_v = Σ_u weight_uv·c_uv·x_u
//	T_0 = I,   T_1 = L̂,   T_k = 2·L̂·T_{k−1} − T_{k−2}
//
// of Defferrard, Bresson and Vandergheynst, "Convolutional Neural Networks on
// Graphs with Fast Localized Spectral Filtering", NeurIPS 2016. Norm says what c
// is; DGL's is [NormIn]. PyG's are [NormOut] and, for "rw", [NormWeightedLeft], on a
// graph without loops; on a symmetric one NormOut is the preset. Src is NumSrc×In,
// dense or sparse; Weight E or E×1. The result is NumDst×Out. For a node without
// in-edges L̂ is 2/λ − 1.
//
// The products come first and are summed by Clenshaw's recurrence, so each hop
// carries Out columns; a hop runs as one product with a sparse matrix. More than
// two terms want a graph whose nodes are sources and destinations, as those of
// [SGConv] do.
type ChebConv struct {
	In, Out    int
	K          int             `json:",omitempty"` // terms; 0: 3
	LambdaMax  float64         `json:",omitempty"` // λ, the largest eigenvalue of I − S; 0: 2, which none exceeds
	Norm       Norm            `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W *grad.Param `json:"-"` // (K·In)×Out, W_0 on top
	B *grad.Param `json:"-"` // Out
}

// Init makes the Params: W by Glorot's uniform distribution, b zero.
func (l *ChebConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = grad.Glorot(rng, cmp.Or(l.K, 3)*l.In, l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *ChebConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges. In.Dst is not read, and there is
// no attention.
func (l *ChebConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	terms := cmp.Or(l.K, 3)
	compose.WantInit("layers.ChebConv", l.W, l.Out)
	In{Src: in.Src, Edge: in.Edge, Weight: in.Weight}.check(g, wants{op: "layers.ChebConv", hops: terms - 1, source: true, width: &l.In})
	z := hopProducts(in.Src, t.Use(l.W), terms)
	laplacian := l.laplacian(g, in.Weight)
	var next, after *grad.Var // b_{k+1} and b_{k+2} of b_k = z_k + 2·L̂·b_{k+1} − b_{k+2}
	for k := terms - 1; k > 0; k-- {
		next, after = add(z[k], double(laplacian, next), after), next
	}
	y := message.OnDst(g, z[0])
	if next != nil {
		y = add(y, laplacian(next), after)
	}
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}

// laplacian returns the product with L̂.
func (l *ChebConv) laplacian(g *graph.Graph, weight *grad.Var) func(x *grad.Var) *grad.Var {
	s, r := l.Norm.propagation("layers.ChebConv", g, weight), 2/cmp.Or(l.LambdaMax, 2)
	return func(x *grad.Var) *grad.Var {
		y := s.of(x).Scale(-r)
		if r == 1 {
			return y
		}
		return y.Add(message.OnDst(g, x).Scale(r - 1))
	}
}

// double returns 2·f(x), or nil if there is no x.
func double(f func(x *grad.Var) *grad.Var, x *grad.Var) *grad.Var {
	if x == nil {
		return nil
	}
	return f(x).Scale(2)
}

// add returns x + y − z, of which y and z may be missing.
func add(x, y, z *grad.Var) *grad.Var {
	if y != nil {
		x = x.Add(y)
	}
	if z != nil {
		x = x.Sub(z)
	}
	return x
}

// hopProducts returns x·W_k for the n matrices that stand in w, one below the other.
func hopProducts(x, w *grad.Var, n int) []*grad.Var {
	z, rows := make([]*grad.Var, n), w.Dim(0)/max(1, n)
	for k := range z {
		z[k] = x.MatMul(w.RowRange(k*rows, (k+1)*rows))
	}
	return z
}
