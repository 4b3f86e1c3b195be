package report

import (
	"errors"
	"runtime"
	"syscall"
)

// unread reports whether an error of printing says that nobody reads it any more.
func unread(err error) bool {
	if errors.Is(err, syscall.EPIPE) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}
