package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// HighwayMaxout scores words by what is known so far: the pointer of a [Coattention]. max_p is the largest of
// Pieces numbers.
//
//	r = tanh([h ‖ u_s ‖ u_e]·W_d)       m₁ = max_p([u_t ‖ r]·W₁ + b₁)       m₂ = max_p(m₁·W₂ + b₂)
//	y_t = max_p([m₁ ‖ m₂]·W₃ + b₃)
//
// of Xiong, Zhong and Socher, 2017. u_t are words of Word numbers, h is a state of Hidden, and u_s and u_e are the
// words where the answer is believed to begin and to end.
type HighwayMaxout struct {
	Word, Hidden int
	Pieces       int `json:",omitempty"` // 0: 16

	D          *grad.Param `json:"-"` // Hidden+2·Word×Hidden
	W1, W2, W3 *grad.Param `json:"-"` // to Hidden·Pieces, and of W3 to Pieces
	B1, B2, B3 *grad.Param `json:"-"`
}

func (l *HighwayMaxout) pieces() int { return int(grad.Preset(float64(l.Pieces), 16)) }

// Init makes the Params, the matrices uniform up to the root of one over the rows that they read, the biases zero.
func (l *HighwayMaxout) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Word", "Hidden")
	matrix := func(rows, cols int) *grad.Param { return compose.Uniform(rng, rows, cols, rows) }
	n, p := l.Hidden, l.pieces()
	l.D, l.W1 = matrix(n+2*l.Word, n), matrix(l.Word+n, n*p)
	l.W2, l.W3 = matrix(n, n*p), matrix(2*n, p)
	l.B1, l.B2, l.B3 = grad.NewParam(n*p), grad.NewParam(n*p), grad.NewParam(p)
}

// Forward returns a score for each row of u. known has a row [h ‖ u_s ‖ u_e] for each text, and of says which of
// them goes with each row of u.
func (l *HighwayMaxout) Forward(t *grad.Tape, u, known *grad.Var, of []int32) *grad.Var {
	const op = "attention.HighwayMaxout"
	compose.WantParam(op, l.D, true)
	compose.WantRows(op, u, l.Word, "Word")
	p, w1 := l.pieces(), t.Use(l.W1)
	r := known.MatMul(t.Use(l.D)).Tanh()
	first := u.MatMul(w1.RowRange(0, l.Word)) // [u ‖ r]·W₁ is a sum of two products, of which this one has many rows
	m1 := first.Add(r.Linear(w1.RowRange(l.Word, l.Word+l.Hidden), t.Use(l.B1), grad.Identity).Rows(of)).Maxout(p)
	m2 := compose.Affine(t, m1, l.W2, l.B2).Maxout(p)
	return compose.Affine(t, grad.Concat(m1, m2), l.W3, l.B3).Maxout(p)
}
