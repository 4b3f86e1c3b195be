//go:build !amd64 || noasm || f64

package simd

func (*Dropout) eluFast(_, _, _ []Float, _ int) { panic(none) }
func (*Dropout) eluGradFast(_, _, _ []Float)    { panic(none) }
