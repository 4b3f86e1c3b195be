//go:build (arm64 || (goexperiment.simd && amd64)) && !noasm && !f64

package four

import (
	"os"
	"syscall"
	"unsafe"
)

// paged returns n numbers of which the last is the last of a page. The next page cannot be read.
func paged(n int) []float32 {
	page := os.Getpagesize()
	size := (4*n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		err = syscall.Mprotect(b[size:], syscall.PROT_NONE)
	}
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[size-4*n])), n)
}
