package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// errHeld is a lock that another process has.
var errHeld = errors.New("another process has locked it")

// HeldError is a file that another process keeps to itself.
type HeldError struct {
	Path string
	By   string // who, in words; "" if that cannot be read
}

func (e *HeldError) Error() string {
	by := e.By
	if by == "" {
		by = "another process"
	}
	return fmt.Sprintf("%s is in use by %s", e.Path, by)
}

// Lock keeps the file at path to this process until unlock is called or the
// process ends. The file need not be there. Other processes may read and write
// it: they only cannot Lock it, and get a [*HeldError] at once. Where there are
// no locks the error is errors.ErrUnsupported. What is locked is a file .NAME.lock
// beside it, which unlock removes, and of which a killed process leaves no more
// than the name.
func Lock(path string) (unlock func(), err error) {
	place, err := Resolve(path)
	if err != nil {
		return nil, &Error{path, err}
	}
	dir, name := filepath.Split(place)
	side := filepath.Join(dir, beside(name)+"lock")
	for {
		if info, err := os.Lstat(side); err == nil && !info.Mode().IsRegular() {
			return nil, &Error{path, fmt.Errorf("%s, by which it is locked, is not a regular file", side)}
		}
		f, err := os.OpenFile(side, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, &Error{path, fmt.Errorf("it cannot be locked: %w", err)}
		}
		switch err := tryLock(f); {
		case errors.Is(err, errHeld):
			by, _ := io.ReadAll(io.LimitReader(f, 200))
			f.Close()
			return nil, &HeldError{path, strings.TrimSpace(strings.ToValidUTF8(string(by), ""))}
		case err != nil:
			remove(f)
			return nil, fmt.Errorf("%s: %w", path, err)
		case !stands(f): // whoever had it has just removed it
			f.Close()
			continue
		}
		if err := sign(f); err != nil {
			remove(f)
			return nil, &Error{path, reason(f, err)}
		}
		temporary.Lock()
		temporary.files[f] = true
		temporary.Unlock()
		return sync.OnceFunc(func() { discard(f) }), nil
	}
}

// sign writes into a lock who holds it.
func sign(f *os.File) error {
	text := fmt.Sprintf("process %d", os.Getpid())
	if host, err := os.Hostname(); err == nil {
		text += " on " + host
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text+"\n"), 0)
	return err
}
