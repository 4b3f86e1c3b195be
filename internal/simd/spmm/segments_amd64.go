//go:build !noasm && !f64

package spmm

func (s *Segments) softmaxFast() bool {
	softmaxSegments8(s)
	return true
}

func (s *Segments) gradFast() bool {
	softmaxGradSegments8(s)
	return true
}
