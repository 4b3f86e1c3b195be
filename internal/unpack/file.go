package unpack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The first bytes of what is opened.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	zipMagic  = []byte{'P', 'K', 3, 4}
)

// window is the most memory that a zstd frame may ask for.
const window = 1 << 27

// Plain returns the name of a file without the ending that says how it is
// compressed.
func Plain(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// File is the text of a file, or of a member of an archive.
type File struct {
	io.Reader
	Budget *Budget // of the file or the archive

	closers []func() error
}

// Close closes the file and what expands it.
func (f *File) Close() (err error) {
	for i := len(f.closers) - 1; i >= 0; i-- {
		err = f.closers[i]()
	}
	return err // of the file itself
}

// BudgetOf returns the budget of a [File], nil of any other reader.
func BudgetOf(r io.Reader) *Budget {
	if f, ok := r.(*File); ok {
		return f.Budget
	}
	return nil
}

// Open opens the file at path for reading what it holds: gzip and zstd are
// expanded. Reading fails beyond the [Limit].
func Open(path string) (*File, error) {
	under, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(under, path)
}

// OpenFile is [Open] of a file that is open, which it takes over. Errors call it path.
func OpenFile(under fs.File, path string) (*File, error) {
	info, err := under.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: it is a folder, want a file", path)
	}
	if err != nil {
		under.Close()
		return nil, err
	}
	budget := NewBudget(info.Size())
	f := &File{Budget: budget, closers: []func() error{under.Close}}
	expanded, err := f.read(under, budget)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	budget.plain = !expanded
	return f, nil
}

// Stream returns the text that r holds, of which nobody knows how long it is: its budget grows with what is read of
// it.
func Stream(r io.Reader) (*File, error) {
	budget := NewBudget(0)
	f := &File{Budget: budget}
	expanded, err := f.read(&counted{r, budget}, budget)
	if err != nil {
		return nil, err
	}
	budget.plain = !expanded
	return f, nil
}

// counted is a reader each of whose bytes adds to a budget.
type counted struct {
	r      io.Reader
	budget *Budget
}

// Read reads what is packed.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.budget.grow(int64(n))
	return n, err
}

// NewFile returns the text that r holds, expanded if that is gzip or zstd, which
// fails where the budget ends. It takes r over: closers are called when it is
// closed, the last one first.
func NewFile(r io.Reader, budget *Budget, closers ...func() error) (*File, error) {
	f := &File{Budget: budget, closers: closers}
	if _, err := f.read(r, budget); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read makes f read what r holds, and reports whether that is compressed.
func (f *File) read(r io.Reader, budget *Budget) (expanded bool, err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	start, err := b.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return false, err
	}
	f.Reader = b
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return false, Damaged("gzip", err)
		}
		f.Reader = &metered{z, "gzip", budget}
		return true, nil
	case bytes.HasPrefix(start, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return false, Damaged("zstd", err)
		}
		f.Reader = &metered{z, "zstd", budget}
		f.closers = append(f.closers, func() error { z.Close(); return nil })
		return true, nil
	}
	return false, nil
}

// metered reads text at the cost of a budget, and fails at its end.
type metered struct {
	r      io.Reader
	form   string // gzip, zstd, zip or tar
	budget *Budget
}

// Read reads from what is expanded.
func (m *metered) Read(p []byte) (int, error) {
	text := &m.budget.text
	if int64(len(p)) > text.left+1 {
		p = p[:text.left+1]
	}
	n, err := m.r.Read(p)
	if !text.take(int64(n)) {
		n, text.left = int(text.left), 0
		return n, m.budget.tooLong()
	}
	return n, Damaged(m.form, err)
}
