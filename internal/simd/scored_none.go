//go:build !amd64 || noasm || f64

package simd

func (*Scored) attendFast()  { panic(none) }
func (*Scored) retraceFast() { panic(none) }
