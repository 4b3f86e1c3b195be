//go:build !noasm && !f64

package spmm

func sumSegmentsFast(y, x []Float, off []int64, w int) bool {
	if n := len(off) - 1; n > 0 && len(x) > 0 {
		_ = y[n*w-1]
		sumSegmentsAVX2(&y[0], &x[0], &off[0], n, w)
	}
	return true
}

func spreadSegmentsFast(y, x []Float, off []int64, w int) bool {
	if n := len(off) - 1; n > 0 && len(y) > 0 {
		_, _ = x[n*w-1], y[int(off[n]-off[0])*w-1]
		spreadSegmentsAVX2(&y[0], &x[0], &off[0], n, w)
	}
	return true
}

func dotSegmentsFast(s, x, y []Float, off []int64, w int) bool {
	if n := len(off) - 1; n > 0 && len(y) > 0 {
		_, _, _ = s[w-1], x[n*w-1], y[int(off[n]-off[0])*w-1]
		dotSegmentsAVX2(&s[0], &x[0], &y[0], &off[0], n, w)
	}
	return true
}

// columns calls f with the first of every eight columns, and how many there are,
// unless all ranges are empty.
func (s *Ranges) columns(x []Float, f func(j, w int)) {
	if len(s.Off) < 2 || len(x) == 0 {
		return
	}
	for j := 0; j < s.W; j += 8 {
		f(j, min(8, s.W-j))
	}
}

func (s *Ranges) softmaxFast(y, x []Float) bool {
	n := len(s.Off) - 1
	s.columns(x, func(j, w int) {
		softmaxSegmentsAVX2(&y[j], &x[j], &s.Top[j], &s.Sum[j], &s.Off[0], n, s.W, w, s.Apart)
	})
	return true
}

func (s *Ranges) weightsFast(y, x []Float) bool {
	n := len(s.Off) - 1
	s.columns(x, func(j, w int) {
		weightsSegmentsAVX2(&y[j], &x[j], &s.Top[j], &s.Sum[j], &s.Off[0], n, s.W, w, s.Apart)
	})
	return true
}

func (s *Ranges) gradFast(dx, y, dy []Float) bool {
	n := len(s.Off) - 1
	s.columns(y, func(j, w int) {
		softmaxGradSegmentsAVX2(&dx[j], &y[j], &dy[j], &s.Off[0], n, s.W, w)
	})
	return true
}
