package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// expand stretches a message to a larger shape. Plans make it of an operand that is broadcast.
var expand = Op{
	Name: "stretch", Operands: 1,
	Forward: func(t *Tile) {
		if t.Run > 0 {
			vec.Runs(t.Run).Spread(t.Y, t.A)
			return
		}
		for x, y := t.A, t.Y; len(y) > 0; x, y = x[t.From:], y[t.Width:] {
			for k, i := range t.Index {
				y[k] = x[i]
			}
		}
	},
	Backward: func(t *Tile, _ int) {
		if t.Run > 0 {
			vec.Runs(t.Run).Sum(t.DX, t.DY)
			return
		}
		for dx, dy := t.DX, t.DY; len(dy) > 0; dx, dy = dx[t.From:], dy[t.Width:] {
			for k, i := range t.Index {
				dx[i] += dy[k]
			}
		}
	},
}
