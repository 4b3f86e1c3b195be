//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import "unsafe"

// Mask is what kernels are given of a vec.Dropout. Its fields are four of each, for four columns.
type Mask struct {
	Keys   [4]uint32  // K0, K1 and two that are not used
	Lanes  [4]uint32  // vec.ColumnKey times each column
	Below  [4]uint32  // a column is dropped where its hash is below
	Scale  [4]float32 // of what is kept
	factor [2][4]uint32
	Step   [4]uint32 // of the lanes, from four columns to the next
}

// NewMask returns the mask of columns from column on.
func NewMask(k0, k1, below, columnKey uint32, scale float32, column int) Mask {
	m := Mask{Keys: [4]uint32{k0, k1}}
	for i := range m.Lanes {
		m.Lanes[i], m.Below[i], m.Scale[i] = uint32(column+i)*columnKey, below, scale
		m.factor[0][i], m.factor[1][i] = 0x7feb352d, 0x846ca68b
		m.Step[i] = 4 * columnKey
	}
	return m
}

// RetraceStrides are the strides of RetraceHeads8, in bytes, and what it adds to: not 0 for yes.
type RetraceStrides struct{ Far, X, Y, Rec, Own, V, Der, AddY, AddRec int64 }

// Narrow is more that RetraceNarrow and RetraceOne are given, with room for sums.
type Narrow struct {
	RetraceStrides
	Down           int64
	Y, Rec, Own, V unsafe.Pointer
	_              [2 * 8][4]float32
}
