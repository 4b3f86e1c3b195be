//go:build !noasm && !f64

package spmm

import "unsafe"

func (s *Segments) softmaxFast() { softmaxSegments8((*byte)(unsafe.Pointer(s))) }

func (s *Segments) gradFast() { softmaxGradSegments8((*byte)(unsafe.Pointer(s))) }
