//go:build !amd64 || noasm || f64

package simd

func (*Product) tallFast(int) { panic(none) }

func gemm16(*byte, int)    { panic(none) }
func gemm16cut(*byte, int) { panic(none) }
func gemm8cut(*byte, int)  { panic(none) }

func packGroupsAVX2(_, _ *Float, _, _, _, _ int) { panic(none) }
func packPanelsAVX2(_, _ *Float, _, _, _, _ int) { panic(none) }
func packEightAVX2(_, _ *Float, _, _, _ int)     { panic(none) }
