package sparing

// Uniform sets x to numbers from −1 to 1 that follow from seed and do not add up exactly: a
// multiplication each, where to draw them would take longer than most kernels.
func Uniform[F ~float32 | ~float64](seed uint32, x []F) {
	for i := range x {
		seed = seed*1664525 + 1013904223
		x[i] = F(int32(seed)) / (1 << 31)
	}
}
