package unpack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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

// Limit returns how many bytes a file of the given size may expand to: lists of
// edges shrink to a fifth, papers' words, which mostly are zeros, to a fiftieth,
// and what shrinks to less than that is either small or made for harm.
func Limit(packed int64) int64 { return 1<<26 + 64*packed }

// Plain returns the name of a file without the ending that says how it is
// compressed.
func Plain(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// Open opens the file at path for reading what it holds: gzip and zstd are
// expanded. Reading fails beyond the [Limit].
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: it is a folder, want a file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := NewReader(f, Limit(info.Size()))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &file{r, f}, nil
}

// file closes both an expander and what it expands.
type file struct {
	io.ReadCloser
	under io.Closer
}

// Close closes the file.
func (f *file) Close() error {
	f.ReadCloser.Close()
	return f.under.Close()
}

// NewReader returns a reader of what r holds, expanded if that is gzip or zstd,
// that fails after limit bytes.
func NewReader(r io.Reader, limit int64) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	start, err := b.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("no gzip: %w", err)
		}
		return &bounded{r: z, left: limit, limit: limit}, nil
	case bytes.HasPrefix(start, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, fmt.Errorf("no zstd: %w", err)
		}
		return &bounded{r: z, left: limit, limit: limit, stop: z.Close}, nil
	}
	return io.NopCloser(b), nil
}

// bounded reads at most limit bytes, beyond which reading is an error.
type bounded struct {
	r           io.Reader
	left, limit int64
	stop        func()
}

// Read reads from what is expanded.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		return int(b.left), fmt.Errorf("it expands to more than %d bytes, which is refused", b.limit)
	}
	b.left -= int64(n)
	return n, err
}

// Close ends the expander.
func (b *bounded) Close() error {
	if b.stop != nil {
		b.stop()
	}
	return nil
}
