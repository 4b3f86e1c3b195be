package ops

// dropout is zero, or more than the element was.
var dropout = Op{
	Name: "Dropout", Operands: 1, Extra: Mask,
	Forward: func(t *Tile) {
		clear(t.Y)
		t.Drop.Add(t.Y, t.A, t.Lo, t.Width)
	},
	Backward: func(t *Tile, _ int) { t.Drop.Add(t.DX, t.DY, t.Lo, t.Width) },
}
