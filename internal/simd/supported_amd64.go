//go:build !noasm && !f64

package simd

import "golang.org/x/sys/cpu"

func supported() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
