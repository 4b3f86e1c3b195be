package streamtest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

// errBroken is what a stream ends with that breaks.
var errBroken = errors.New("the stream broke")

// Reads reads b whole, a byte at a time, in halves and with its end beside the last byte, and returns what was read. A stream that breaks
// half way, or before its first byte, must give the error that it broke with.
func Reads[T any](t *testing.T, b []byte, read func(r io.Reader) (T, error)) T {
	t.Helper()
	want, err := read(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("a stream that is whole: %v", err)
	}
	for name, as := range map[string]func(io.Reader) io.Reader{"one byte at a time": iotest.OneByteReader, "halves": iotest.HalfReader, "the end beside data": iotest.DataErrReader} {
		if got, err := read(as(bytes.NewReader(b))); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, error %v, want %v", name, got, err, want)
		}
	}
	for _, n := range []int{0, len(b) / 2} {
		if _, err := read(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(errBroken))); !errors.Is(err, errBroken) {
			t.Errorf("a stream that breaks after %d bytes: error %v", n, err)
		}
	}
	return want
}

// ReadsAt reads b, and returns what was read. An error of reading at a place must come through, and a file that is cut short is an error.
func ReadsAt[T any](t *testing.T, b []byte, read func(r io.ReaderAt, size int64) (T, error)) T {
	t.Helper()
	want, err := read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("a file that is whole: %v", err)
	}
	for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
		if _, err := read(bytes.NewReader(b[:n]), int64(n)); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", n, len(b))
		}
		if _, err := read(&broken{b, n}, int64(len(b))); !errors.Is(err, errBroken) {
			t.Errorf("broken at byte %d of %d: error %v", n, len(b), err)
		}
	}
	return want
}

// broken is a file that cannot be read from byte n on.
type broken struct {
	b []byte
	n int
}

// ReadAt reads what is before byte n.
func (r *broken) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > int64(r.n) {
		return 0, errBroken
	}
	return bytes.NewReader(r.b).ReadAt(p, off)
}

// Writes writes to memory and returns the bytes, which must be the same each time. A writer that fails, at once or later, must give its
// error.
func Writes(t *testing.T, write func(w io.Writer) error) []byte {
	t.Helper()
	var b, again bytes.Buffer
	if err := errors.Join(write(&b), write(&again)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("written twice, the bytes differ")
	}
	for _, n := range []int{0, 1, b.Len() / 2, b.Len() - 1} {
		if err := write(&full{n}); !errors.Is(err, errBroken) {
			t.Errorf("a writer with room for %d of %d bytes: error %v", n, b.Len(), err)
		}
	}
	return b.Bytes()
}

// full is a writer with room for so many bytes.
type full struct{ room int }

// Write takes what there is room for.
func (w *full) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	if w.room -= n; n < len(p) {
		return n, errBroken
	}
	return n, nil
}
