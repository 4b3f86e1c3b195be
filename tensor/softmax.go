package tensor

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// SoftmaxRows sets dst to eˣ/Σeˣ along the last axis. A row of −Inf alone
// becomes zeros; of several +Inf, each gets an equal share. dst may be x itself
// but must not overlap it otherwise.
func SoftmaxRows(dst, x *Dense) {
	scan("SoftmaxRows", dst, x, func(to, from []Float) { vec.Softmax(to, from) })
}

// LogSoftmaxRows sets dst to x − log Σeˣ along the last axis: the logarithm of
// what [SoftmaxRows] gives, also where that is zero. dst may be x itself but
// must not overlap it otherwise.
func LogSoftmaxRows(dst, x *Dense) { scan("LogSoftmaxRows", dst, x, vec.LogSoftmax) }

// SoftmaxGrad adds to dx the gradient of y = SoftmaxRows(x) whose result has the
// gradient dy. All have one shape. dx must not overlap the others.
func SoftmaxGrad(dx, dy, y *Dense) { rowGrad("SoftmaxGrad", dx, dy, y, vec.SoftmaxBackward) }

// LogSoftmaxGrad is [SoftmaxGrad] of y = LogSoftmaxRows(x).
func LogSoftmaxGrad(dx, dy, y *Dense) {
	rowGrad("LogSoftmaxGrad", dx, dy, y, vec.LogSoftmaxBackward)
}

// rowPull is a gradient that is taken row by row.
type rowPull struct {
	dx, dy, y []Float
	n         int
	row       func(dx, dy, y []Float)
}

var rowPullJobs jobs[rowPull]

func rowGrad(op string, dx, dy, y *Dense, row func(dx, dy, y []Float)) {
	for _, o := range [...]*Dense{dy, y} {
		sameShape(op, dx, o)
		apart(op, dx, o)
	}
	a := alongLast(dx)
	p := rowPull{dx.Data, dy.Data, y.Data, a.n, row}
	if alone(a.outer, costFunction*a.n) {
		p.rows(0, a.outer)
		return
	}
	rowPullJobs.run(p, a.outer, costFunction*a.n, (*rowPull).rows)
}

func (p *rowPull) rows(lo, hi int) {
	for i := lo * p.n; i < hi*p.n; i += p.n {
		p.row(p.dx[i:i+p.n], p.dy[i:i+p.n], p.y[i:i+p.n])
	}
}
