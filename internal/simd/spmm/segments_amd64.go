//go:build !noasm && !f64

package spmm

func (s *Segments) softmaxFast() { softmaxSegments8(s) }

func (s *Segments) gradFast() { softmaxGradSegments8(s) }
