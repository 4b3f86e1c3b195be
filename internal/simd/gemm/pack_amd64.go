//go:build !noasm && !f64

package gemm

// packBlock is how many columns are read side by side: as many streams as a
// processor fetches ahead.
const packBlock = 8

// packGroupsFast is PackGroups of whole groups, and returns how many: eight rows are read for six.
func packGroupsFast(to, from []Float, ld int, shape [2]int) (groups int) {
	rows, columns := shape[0], shape[1]
	groups = max(0, rows-2) / ProductGroup
	for k := 0; k < columns && groups > 0; k += packBlock {
		packGroupsAVX2(&to[k*ProductGroup], &from[k*ld], ld, GroupPitch(columns), groups, min(packBlock, columns-k))
	}
	return groups
}

// packPanelsFast is PackPanels of whole panels, and returns how many.
func packPanelsFast(to, from []Float, ld, pitch int, shape [2]int) (panels int) {
	rows, columns := shape[0], shape[1]
	panels = columns / ProductPanel
	for k := 0; k < rows && panels > 0; k += packBlock {
		packPanelsAVX2(&to[k*ProductPanel], &from[k*ld], ld, pitch, panels, min(packBlock, rows-k))
	}
	return panels
}

// packTransposedFast is PackTransposed of whole eights of rows, and returns how many rows these are.
func packTransposedFast(to, from []Float, ldt, ldf int, shape [2]int) (done int) {
	rows, columns := shape[0], shape[1]
	blocks := columns / 8
	for ; blocks > 0 && rows-done >= 8; done += 8 {
		packEightAVX2(&to[done], &from[done*ldf], ldt, ldf, blocks)
		if k := 8 * blocks; k < columns {
			packTransposedGo(to[k*ldt+done:], from[done*ldf+k:], ldt, ldf, [2]int{8, columns - k})
		}
	}
	return done
}
