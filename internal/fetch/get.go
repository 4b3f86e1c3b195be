package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/regular"
)

// File is what is to be there afterwards.
type File struct {
	URL    string
	Path   string
	Size   int64  // bytes
	SHA256 string // in hexadecimal
}

// Getter downloads files. The zero value is ready for use.
type Getter struct {
	Transport http.RoundTripper                          // nil: http.DefaultTransport
	Tries     int                                        // 0: 4
	Pause     time.Duration                              // before the second try, then doubled; 0: 1 s
	Stall     time.Duration                              // without a byte, after which a try is given up; 0: 30 s
	Progress  func(f File, done int64)                   // if not nil, called now and then
	sleep     func(context.Context, time.Duration) error // nil: real time
}

// finalError is one that another try would not mend.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(format string, args ...any) error { return finalError{fmt.Errorf(format, args...)} }

// Get makes the file be there. If it is there already, with the right content,
// nothing is downloaded. The error names the URL or the path.
func (g *Getter) Get(ctx context.Context, f File) error {
	if sum, err := sumOf(f.Path); err == nil && sum == f.SHA256 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	if err := regular.File(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pause := g.Pause
	if pause == 0 {
		pause = time.Second
	}
	tries := g.Tries
	if tries == 0 {
		tries = 4
	}
	for try := 1; ; try++ {
		err := g.try(ctx, f)
		switch {
		case err == nil:
			return keep(f)
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", f.URL, context.Cause(ctx))
		case errors.As(err, new(finalError)):
			return fmt.Errorf("%s: %w", f.URL, err)
		case try == tries:
			return fmt.Errorf("%s: %w, at the last of %d tries", f.URL, err, tries)
		}
		if err := g.rest(ctx, pause); err != nil {
			return fmt.Errorf("%s: %w", f.URL, err)
		}
		pause *= 2
	}
}

// rest waits, unless the context ends.
func (g *Getter) rest(ctx context.Context, d time.Duration) error {
	if g.sleep != nil {
		return g.sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// partOf is the path of what has been downloaded so far.
func partOf(f File) string { return f.Path + ".part" }

// try downloads what is missing and compares the checksum.
func (g *Getter) try(ctx context.Context, f File) error {
	part, err := os.OpenFile(partOf(f), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return finalError{err}
	}
	defer part.Close()
	have, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return finalError{err}
	}
	if have > f.Size {
		if have, err = 0, restart(part); err != nil {
			return err
		}
	}
	if have < f.Size {
		if err := g.download(ctx, f, part, have); err != nil {
			return err
		}
	}
	if err := part.Close(); err != nil {
		return finalError{err}
	}
	sum, err := sumOf(partOf(f))
	if err != nil || sum == f.SHA256 {
		return err
	}
	if err := os.Remove(partOf(f)); err != nil {
		return finalError{err}
	}
	if have > 0 { // perhaps what was there before was wrong
		return fmt.Errorf("sha256 is %s, want %s", sum, f.SHA256)
	}
	return final("sha256 is %s, want %s: the server sends another file", sum, f.SHA256)
}

// restart forgets what has been downloaded.
func restart(part *os.File) error {
	if err := part.Truncate(0); err != nil {
		return finalError{err}
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return finalError{err}
	}
	return nil
}

// keep gives a complete download its name.
func keep(f File) error {
	part, err := os.Open(partOf(f))
	if err != nil {
		return err
	}
	defer part.Close()
	if err := atomicfile.Write(f.Path, func(w io.Writer) error {
		_, err := io.Copy(w, part)
		return err
	}); err != nil {
		return err
	}
	return os.Remove(partOf(f))
}

// sumOf returns the SHA-256 of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	if err := regular.File(path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
