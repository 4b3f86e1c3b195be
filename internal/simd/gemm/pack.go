package gemm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// GroupPitch is how far apart the groups are that [PackGroups] writes.
func GroupPitch(columns int) int { return ProductGroup*columns + 8 }

// PackGroups lays a matrix that is stored by columns out for a [Product], in
// groups of six rows, [GroupPitch] apart, in which RS is 1 and CS is 6:
//
//	to[i/6·pitch + k·6 + i%6] = from[k·ld + i]
//
// for i below rows and k below columns. What else there is of the groups and
// between them may be overwritten. to holds all groups, from all elements.
func PackGroups(to, from []Float, ld, rows, columns int) {
	if rows <= 0 || columns <= 0 {
		return
	}
	pitch := GroupPitch(columns)
	groups := (rows + ProductGroup - 1) / ProductGroup
	_, _ = to[groups*pitch-1], from[(columns-1)*ld+rows-1]
	if ld < 0 {
		panic("gemm: negative stride in PackGroups")
	}
	done := 0
	if cpu.Fast {
		done = packGroupsFast(to, from, ld, [2]int{rows, columns})
	}
	for g := done; g < groups; g++ {
		packGroupGo(to[g*pitch:], from[g*ProductGroup:], ld, columns, min(ProductGroup, rows-g*ProductGroup))
	}
}

// packGroupGo is the truth of one group.
func packGroupGo(to, from []Float, ld, columns, rows int) {
	for k := range columns {
		copy(to[k*ProductGroup:k*ProductGroup+rows], from[k*ld:])
	}
}

// ProductPanel is how many columns of B a [Product] reads together.
const ProductPanel = 16

// PackPanels lays a matrix out in panels of 16 columns, whose elements are pitch
// apart:
//
//	to[j/16·pitch + k·16 + j%16] = from[k·ld + j]
//
// for k and j below the two numbers of the shape. What else there is of the
// last panel is set to 0.
func PackPanels(to, from []Float, ld, pitch int, shape [2]int) {
	rows, columns := shape[0], shape[1]
	if rows <= 0 || columns <= 0 {
		return
	}
	if ld < 0 || pitch < rows*ProductPanel {
		panic("gemm: panels that overlap in PackPanels")
	}
	last := (columns - 1) / ProductPanel
	_, _ = to[last*pitch+rows*ProductPanel-1], from[(rows-1)*ld+columns-1]
	done := 0
	if cpu.Fast {
		done = packPanelsFast(to, from, ld, pitch, shape)
	}
	for p := done; p <= last; p++ {
		width := min(ProductPanel, columns-p*ProductPanel)
		packPanelGo(to[p*pitch:], from[p*ProductPanel:], ld, [2]int{rows, width})
	}
}

// packPanelGo is the truth of one panel.
func packPanelGo(to, from []Float, ld int, shape [2]int) {
	for k := range shape[0] {
		run := to[k*ProductPanel : (k+1)*ProductPanel]
		clear(run[copy(run, from[k*ld:k*ld+shape[1]]):])
	}
}

// PackTransposed sets rows of to, which are ldt apart, to columns of from, of
// which rows are ldf apart:
//
//	to[k·ldt + j] = from[j·ldf + k]
//
// for j below rows, the rows of from, and k below columns. The shape is that of
// from.
func PackTransposed(to, from []Float, ldt, ldf int, shape [2]int) {
	rows, columns := shape[0], shape[1]
	if rows <= 0 || columns <= 0 {
		return
	}
	if ldt|ldf < 0 {
		panic("gemm: negative stride in PackTransposed")
	}
	_, _ = to[(columns-1)*ldt+rows-1], from[(rows-1)*ldf+columns-1]
	j := 0
	if cpu.Fast {
		j = packTransposedFast(to, from, ldt, ldf, shape)
	}
	if j < rows {
		packTransposedGo(to[j:], from[j*ldf:], ldt, ldf, [2]int{rows - j, columns})
	}
}

// packTransposedGo is the truth of PackTransposed.
func packTransposedGo(to, from []Float, ldt, ldf int, shape [2]int) {
	for j := range shape[0] {
		for k, v := range from[j*ldf : j*ldf+shape[1]] {
			to[k*ldt+j] = v
		}
	}
}
