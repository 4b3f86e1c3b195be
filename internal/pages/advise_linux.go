package pages

import "syscall"

// advise asks for huge pages. It does not matter if there are none.
func advise(b []byte) {
	if len(b) > 0 {
		_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	}
}
