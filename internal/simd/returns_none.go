//go:build !amd64 || noasm || f64

package simd

func (*Returns) addFast([]int32) { panic(none) }
