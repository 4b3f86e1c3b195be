package attend

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// gatv2Exponents sets y to what Attend leaves as sums of one edge each, or with back what
// Retrace has as weights under sums of 1. U and A make scores of eight x.
func gatv2Exponents(back bool) func(y, x []Float) {
	return func(y, x []Float) {
		const nodes = 64
		for ; len(x) > 0; x, y = x[8*nodes:], y[8*nodes:] {
			s := GATv2Walk{Apart: 8, Slope: 1, V: make([]Float, nodes*gatv2Row), A: make([]Float, gatv2Row), U: make([]Float, nodes*gatv2Row)}
			for h := range 8 {
				s.A[8*h+3] = 1
			}
			for v := range nodes {
				s.Offsets, s.Cols, s.Places = append(s.Offsets, int64(v)), append(s.Cols, int32(v)), append(s.Places, int32(v))
				for h := range 8 {
					s.U[v*gatv2Row+8*h+3] = x[8*v+h]
				}
			}
			s.Offsets = append(s.Offsets, nodes)
			s.Top, s.Sum = make([]Float, 8*nodes), make([]Float, 8*nodes)
			if !back {
				s.Y = make([]Float, nodes*gatv2Row)
				s.Attend()
				copy(y, s.Sum)
				continue
			}
			for i := range s.Sum {
				s.Sum[i] = 1
			}
			s.R, s.DV, s.DA = make([]Float, nodes*gatv2Row), make([]Float, nodes*gatv2Row), make([]Float, gatv2Row)
			s.Z, s.Signs, s.Work = make([]Float, nodes*16), make([]uint8, nodes*8), make([]Float, GATv2Work)
			s.Retrace()
			for i := range 8 * nodes {
				y[i] = s.Z[2*i+1]
			}
		}
	}
}

// dotExponents sets y to what Retrace has as weights of one edge each, under a largest score of 0
// and a sum of 1: their products with gradients of 1.
func dotExponents(y, x []Float) {
	const nodes = 64
	for ; len(x) > 0; x, y = x[8*nodes:], y[8*nodes:] {
		s := DotWalk{Scale: 1, Work: make([]Float, DotWork)}
		s.Q, s.K, s.Rec = make([]Float, nodes*DotRow), make([]Float, nodes*DotRow), make([]Float, nodes*DotRecord)
		for v := range nodes {
			s.Offsets, s.Cols = append(s.Offsets, int64(v)), append(s.Cols, int32(v))
			for h := range 8 {
				s.Q[v*DotRow+8*h+3], s.K[v*DotRow+8*h+3] = 1, x[8*v+h]
				s.Rec[v*DotRecord+8+h] = 1
			}
		}
		s.Offsets = append(s.Offsets, nodes)
		s.V, s.R = s.Q, s.Q
		s.Retrace()
		for i := range 8 * nodes {
			y[i] = s.Rec[i/8*DotRecord+16+DotPlace(i%8)]
		}
	}
}

// tileExponents sets y to the weights of logits x under a largest of zero, forward or back.
func tileExponents(lanes int, back bool) func(y, x []Float) {
	return func(y, x []Float) {
		const edges = 64
		per := edges*lanes - lanes // the first edge has the largest logit
		for len(x) > 0 {
			n := min(per, len(x))
			room := func() []Float { return make([]Float, edges*lanes+16) }
			s := Tile{Offsets: []int64{0, edges}, Cols: make([]int32, edges), Z: room(), A: room(), B: room(), T: room(), Rec: room(), RecStride: Record * lanes,
				Last: edges - 1, Slots: Groups(edges, lanes), Slope: 1, Lanes: lanes}
			copy(s.Z[lanes:], x[:n])
			if back {
				for i := range s.A {
					s.A[i] = 1
				}
				s.Weigh()
				copy(y[:n], s.A[lanes:])
			} else {
				s.Soften()
				copy(y[:n], s.Z[lanes:])
			}
			x, y = x[n:], y[n:]
		}
	}
}

// softRowsExponents sets y to the weights of logits x under a largest of zero, forward or back.
func softRowsExponents(back bool) func(y, x []Float) {
	return func(y, x []Float) {
		copy(y, x)
		s := SoftRows{X: y, Top: []Float{0}, Sum: []Float{1}, Rows: len(y) / SoftPiece, Stride: SoftPiece, Width: SoftPiece, Scale: 1}
		if back {
			s.Weigh()
		} else {
			s.Add()
		}
	}
}

// nodeExpsOf sets y to powers of x, up or down.
func nodeExpsOf(slope Float, column bool) func(y, x []Float) {
	return func(y, x []Float) {
		at := func(i int) (up, down int) { return i/8*16 + i%8, i/8*16 + 8 + i%8 }
		p := NodeExps{X: x, Y: make([]Float, 4*len(x)), XStride: 8, YStride: 16}
		if column {
			at = func(i int) (up, down int) { return 4*i + 1, 4*i + 2 }
			p.Column(len(x), slope)
		} else {
			p.Rows(len(x)/8, slope)
		}
		for i := range y {
			up, down := at(i)
			if y[i] = p.Y[up]; slope == 0.5 {
				y[i] = p.Y[down]
			}
		}
	}
}

// exponentialsOfAttention are the places in attention.
func exponentialsOfAttention() []simdtest.Exponential {
	half := func(x float64) float64 { return x / 2 }
	places := []simdtest.Exponential{
		{Name: "GATv2Walk.Attend", Lo: -24, Hi: 24, Run: gatv2Exponents(false)},
		{Name: "GATv2Walk.Retrace", Lo: -24, Hi: 24, Run: gatv2Exponents(true)},
		{Name: "NodeExps.Rows up", Lo: -24, Hi: 24, Run: nodeExpsOf(0.25, false)},
		{Name: "NodeExps.Rows down", Lo: -24, Hi: 24, F: func(x float64) float64 { return math.Exp(x / 2) }, Z: half, Run: nodeExpsOf(0.5, false)},
		{Name: "NodeExps.Column up", Lo: -24, Hi: 24, Run: nodeExpsOf(0.25, true)},
		{Name: "NodeExps.Column down", Lo: -24, Hi: 24, F: func(x float64) float64 { return math.Exp(x / 2) }, Z: half, Run: nodeExpsOf(0.5, true)},
	}
	for _, back := range []bool{false, true} {
		places = append(places, simdtest.Exponential{Name: "SoftRows", Lo: -110, Hi: 0, Cut: true, Run: softRowsExponents(back)})
	}
	places = append(places, simdtest.Exponential{Name: "DotWalk", Lo: -110, Hi: 0, Cut: true, Run: dotExponents})
	for _, lanes := range []int{1, 2, 4, 8} {
		places = append(places, simdtest.Exponential{Name: "Tile.Soften", Lo: -80, Hi: 0, Run: tileExponents(lanes, false)},
			simdtest.Exponential{Name: "Tile.Weigh", Lo: -80, Hi: 0, Run: tileExponents(lanes, true)})
	}
	return places
}

func TestAttentionExponentials(t *testing.T) {
	simdtest.CheckExponentials(t, exponentialsOfAttention())
}
