//go:build !noasm && !f64

package attend

func (p *NodeExps) rowsFast() bool {
	nodeExpsOfRows(p)
	return true
}

func (p *NodeExps) columnFast() bool {
	nodeExpsOfColumn(p)
	return true
}
