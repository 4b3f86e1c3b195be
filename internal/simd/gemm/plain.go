//go:build (!amd64 && !arm64 && !(wasm && goexperiment.simd)) || noasm || f64

package gemm

// What a processor without a suffix of its own has of the kernels here: nothing.

func (*Product) mulAddFast() bool                             { return false }
func (*Product) panelsFast(_, _, _ int) int                   { return 0 }
func packGroupsFast(_, _ []Float, _ int, _ [2]int) int        { return 0 }
func packPanelsFast(_, _ []Float, _, _ int, _ [2]int) int     { return 0 }
func packTransposedFast(_, _ []Float, _, _ int, _ [2]int) int { return 0 }
