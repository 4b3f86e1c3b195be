//go:build !noasm && !f64

package simd

import "unsafe"

func (p *Powers) rowsFast() { powersOfRows((*byte)(unsafe.Pointer(p))) }

func (p *Powers) columnFast() { powersOfColumn((*byte)(unsafe.Pointer(p))) }
