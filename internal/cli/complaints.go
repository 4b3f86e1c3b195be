package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
)

// Complaints returns what to say of an error, a line each. Files that could not be
// written for one reason, such as a full disk, share a line.
func Complaints(err error) []string {
	var lines []string
	files, at := map[string][]string{}, map[string]int{} // by the reason
	for _, one := range Parts(err) {
		text := one.Error()
		// The name of the system call helps nobody.
		if e := (*fs.PathError)(nil); errors.As(one, &e) && (e.Op == "stat" || e.Op == "lstat" || e.Op == "open") {
			text = strings.Replace(text, e.Op+" "+e.Path+": ", e.Path+": ", 1)
		}
		if path, reason, ok := unwritten(one); ok {
			if files[reason] == nil {
				at[reason] = len(lines)
				lines = append(lines, text)
			}
			if !slices.Contains(files[reason], path) {
				files[reason] = append(files[reason], path)
			}
			if n := files[reason]; len(n) > 1 {
				text = fmt.Sprintf("%s and %s could not be written: %s", strings.Join(n[:len(n)-1], ", "), n[len(n)-1], reason)
				lines[at[reason]] = text
			}
			continue
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// Parts returns the errors that errors.Join put together.
func Parts(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	var texts []string
	for _, e := range several.Unwrap() {
		out = append(out, Parts(e)...)
		texts = append(texts, e.Error())
	}
	if err.Error() != strings.Join(texts, "\n") { // it says more than its parts
		return []error{err}
	}
	return out
}

// unwritten returns the file that an error says could not be written, and the
// system's reason.
func unwritten(err error) (path, reason string, ok bool) {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return "", "", false
	}
	if e := (*atomicfile.Error)(nil); errors.As(err, &e) {
		return e.Path, code.Error(), true
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) && e.Op == "write" {
		return e.Path, code.Error(), true
	}
	return "", "", false
}

// Without returns what is left of an error without those parts that are target.
func Without(err, target error) error {
	if err == nil {
		return nil
	}
	return errors.Join(slices.DeleteFunc(Parts(err), func(e error) bool { return errors.Is(e, target) })...)
}
