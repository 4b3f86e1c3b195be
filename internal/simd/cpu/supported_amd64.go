//go:build !noasm && !f64

package cpu

import "golang.org/x/sys/cpu"

func supported() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// supported512 reports whether there are the parts of AVX-512 that every processor with
// it but the first had.
func supported512() bool {
	x := &cpu.X86
	return supported() && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL
}
