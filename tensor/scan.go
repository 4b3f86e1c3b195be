package tensor

// CumSum sets dst to the sums of x up to each element of the last axis, which
// are added in float64. dst may be x itself but must not overlap it otherwise.
func CumSum(dst, x *Dense) {
	scan("CumSum", dst, x, func(to, from []Float) {
		s := 0.0
		for i, v := range from {
			s += float64(v)
			to[i] = Float(s)
		}
	})
}

// CumProd sets dst to the products of x up to each element of the last axis,
// which are multiplied in float64. dst may be x itself but must not overlap it
// otherwise.
func CumProd(dst, x *Dense) {
	scan("CumProd", dst, x, func(to, from []Float) {
		s := 1.0
		for i, v := range from {
			s *= float64(v)
			to[i] = Float(s)
		}
	})
}

// scan calls row with every row along the last axis. dst has x's shape.
func scan(op string, dst, x *Dense, row func(to, from []Float)) {
	sameShape(op, dst, x)
	inPlace(op, dst, x)
	a := alongLast(x)
	for i := range a.outer {
		row(dst.Data[i*a.n:(i+1)*a.n], x.Data[i*a.n:(i+1)*a.n])
	}
}
