package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// tryLock locks an open file until it is closed. The error is errHeld if another
// has locked it, errors.ErrUnsupported if that cannot be done here. What is
// locked is a byte far behind the content, which others may go on reading.
func tryLock(f *os.File) error {
	at := &windows.Overlapped{Offset: 1, OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return errHeld
	}
	return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
}

// running reports whether the process of a temporary file may be alive: its lock
// ends when it is closed, just before it gets its name.
func running(pid string) bool {
	n, err := strconv.ParseUint(pid, 10, 32)
	if err != nil {
		return true
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(n))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // there is no such process
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err != nil || event != windows.WAIT_OBJECT_0
}
