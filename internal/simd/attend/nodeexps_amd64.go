//go:build !noasm && !f64

package attend

func (p *NodeExps) rowsFast() { nodeExpsOfRows(p) }

func (p *NodeExps) columnFast() { nodeExpsOfColumn(p) }
