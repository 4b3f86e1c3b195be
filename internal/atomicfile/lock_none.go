//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import (
	"errors"
	"os"
)

// tryLock says that there are no locks here.
func tryLock(*os.File) error { return errors.ErrUnsupported }

// running says that it is not known.
func running(string) bool { return true }
