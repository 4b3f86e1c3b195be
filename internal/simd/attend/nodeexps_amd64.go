//go:build !noasm && !f64

package attend

import "unsafe"

func (p *NodeExps) rowsFast() { powersOfRows((*byte)(unsafe.Pointer(p))) }

func (p *NodeExps) columnFast() { powersOfColumn((*byte)(unsafe.Pointer(p))) }
