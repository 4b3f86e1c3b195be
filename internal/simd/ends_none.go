//go:build !amd64 || noasm || f64

package simd

func (*Ends) pairsFast(int)          { panic(none) }
func (*Ends) gradFast(EndGrads, int) { panic(none) }
