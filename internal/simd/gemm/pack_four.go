//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package gemm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// packGroupsFast is PackGroups of whole groups, and returns how many.
func packGroupsFast(to, from []Float, ld int, shape [2]int) (groups int) {
	return copied(to, from, ld, GroupPitch(shape[1]), ProductGroup, [2]int{shape[1], shape[0]})
}

// packPanelsFast is PackPanels of whole panels, and returns how many.
func packPanelsFast(to, from []Float, ld, pitch int, shape [2]int) (panels int) {
	return copied(to, from, ld, pitch, ProductPanel, shape)
}

// copied copies rows in strips of a width, which it lays one after the other, pitch apart, and returns how many.
func copied(to, from []Float, ld, pitch, width int, shape [2]int) (strips int) {
	rows := cpu.AtOnce / width
	for ; (strips+1)*width <= shape[1]; strips++ {
		for k := 0; k < shape[0]; k += rows {
			four.CopyRows(unsafe.Pointer(&to[strips*pitch+k*width]), unsafe.Pointer(&from[strips*width+k*ld]), min(rows, shape[0]-k), width, width*size, ld*size)
		}
	}
	return strips
}

// packTransposedFast is PackTransposed of whole fours of rows, and returns how many rows these are.
func packTransposedFast(to, from []Float, ldt, ldf int, shape [2]int) (done int) {
	whole := shape[1] &^ 3
	for ; done+4 <= shape[0]; done += 4 {
		for k := 0; k < whole; k += cpu.AtOnce {
			four.Turn4(unsafe.Pointer(&to[k*ldt+done]), unsafe.Pointer(&from[done*ldf+k]), min(cpu.AtOnce, whole-k), ldt*size, ldf*size)
		}
		if whole < shape[1] {
			packTransposedGo(to[whole*ldt+done:], from[done*ldf+whole:], ldt, ldf, [2]int{4, shape[1] - whole})
		}
	}
	return done
}
