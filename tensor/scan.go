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

// rowScan is a function of rows.
type rowScan struct {
	dst, x []Float
	n      int
	row    func(to, from []Float)
}

var rowScanJobs jobs[rowScan]

// scan calls row, which is no closure, with every row along the last axis. dst
// has x's shape.
func scan(op string, dst, x *Dense, row func(to, from []Float)) {
	sameShape(op, dst, x)
	inPlace(op, dst, x)
	a := alongLast(x)
	s := rowScan{dst.Data, x.Data, a.n, row}
	if alone(a.outer, costFunction*a.n) {
		s.rows(0, a.outer)
		return
	}
	rowScanJobs.run(s, a.outer, costFunction*a.n, (*rowScan).rows)
}

func (s *rowScan) rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.row(s.dst[i*s.n:(i+1)*s.n], s.x[i*s.n:(i+1)*s.n])
	}
}
