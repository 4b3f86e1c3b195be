package gatbench

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/train"
)

// complaints returns what to say of an error, a line each. Files that could not be
// written for one reason, such as a full disk, share a line.
func complaints(err error) []string {
	var lines []string
	files, at := map[string][]string{}, map[string]int{} // by the reason
	for _, one := range parts(err) {
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

// diverged returns what to say of a training that diverged at a rate, and what to try: the rate that is
// usual, or a tenth of it. Any other error it returns as it is.
func diverged(err error, rate, usual float64) error {
	d := (*train.DivergedError)(nil)
	if !errors.As(err, &d) {
		return err
	}
	text := fmt.Sprintf("the training diverged: in epoch %d %s is %.4g", d.Epoch, d.What, d.Value)
	if d.Limit > 0 {
		text += fmt.Sprintf(", above %g", d.Limit)
	}
	if d.Op != "" {
		text += fmt.Sprintf(" (first: %s)", d.Op)
	}
	if d.Saved != "" {
		text += "; the last checkpoint is " + d.Saved
	}
	if rate > usual {
		return fmt.Errorf("%s; --lr %g is too high: try --lr %g", text, rate, usual)
	}
	return fmt.Errorf("%s; try a lower rate, such as --lr %g, or look for very large numbers in the data", text, rate/10)
}

// parts returns the errors that errors.Join put together.
func parts(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	var texts []string
	for _, e := range several.Unwrap() {
		out = append(out, parts(e)...)
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

// without returns what is left of an error without those parts that are target.
func without(err, target error) error {
	if err == nil {
		return nil
	}
	return errors.Join(slices.DeleteFunc(parts(err), func(e error) bool { return errors.Is(e, target) })...)
}
