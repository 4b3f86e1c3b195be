package unpack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

// What may be made of a file, in bytes: a fixed amount, and so much for each byte of
// the file. Lists of edges shrink to a fifth and papers' words, which mostly are
// zeros, to a hundredth; what a reader keeps of a byte of text is two bytes to
// thirty.
const (
	textLeast = 32 << 20
	textPer   = 64
	keptLeast = 48 << 20
	keptPer   = 128
)

// Limit returns how many bytes of text a file of the given size may expand to.
func Limit(packed int64) int64 { return textLeast + textPer*min(packed, 1<<48) }

// Budget is what may be made of one file, by all of its members together and by
// all layers of compression: text, and memory that readers keep of it. That of a
// file that is not compressed, whose text is as long as it is, has no bounds, and
// neither has a nil one. A Budget is not for several goroutines.
type Budget struct {
	packed     int64 // bytes of the file
	plain      bool  // it is not compressed
	text, kept account
}

// account is an amount, and what is left of it.
type account struct{ of, left int64 }

// NewBudget returns the budget of a file of that many bytes.
func NewBudget(packed int64) *Budget {
	packed = min(packed, 1<<48)
	text, kept := Limit(packed), keptLeast+keptPer*packed
	return &Budget{packed: packed, text: account{text, text}, kept: account{kept, kept}}
}

// grow takes note of n more bytes of a file whose length is not known.
func (b *Budget) grow(n int64) {
	if b.packed >= 1<<48 {
		return
	}
	b.packed += n
	for a, per := range map[*account]int64{&b.text: textPer, &b.kept: keptPer} {
		a.of, a.left = a.of+per*n, a.left+per*n
	}
}

// Packed returns the bytes of the file.
func (b *Budget) Packed() int64 {
	if b == nil {
		return math.MaxInt64
	}
	return b.packed
}

// take takes n bytes, and reports whether there were as many.
func (a *account) take(n int64) bool {
	if n > a.left {
		return false
	}
	a.left -= n
	return true
}

// Keep takes n bytes for what a reader keeps in memory of the text.
func (b *Budget) Keep(n int) error {
	if b == nil || b.plain || b.kept.take(int64(n)) {
		return nil
	}
	return fmt.Errorf("its %d bytes hold so much that more than %d bytes of memory were needed, which is refused: unpack it first, if you trust it", b.packed, b.kept.of)
}

// tooLong is the error for more text than there may be.
func (b *Budget) tooLong() error {
	return refusal{fmt.Errorf("%d bytes expand to more than %d, which is refused: unpack it first, if you trust it", b.packed, b.text.of)}
}

// damage says what is wrong with a file that is compressed, or with an archive, and what to do.
type damage struct {
	says  string
	cause error
}

func (d *damage) Error() string { return d.says }

// Unwrap returns what its reader said.
func (d *damage) Unwrap() error { return d.cause }

// refusal is an error of a budget.
type refusal struct{ error }

// Damaged puts the error of what expands a file of that form into words; those of the file
// itself and of its budget stay.
func Damaged(form string, err error) error {
	switch {
	case err == nil, err == io.EOF, errors.As(err, new(*damage)), errors.As(err, new(refusal)), errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &damage{fmt.Sprintf("the %s file ends early: it was cut, so download or copy it again", form), err}
	case errors.Is(err, zip.ErrFormat):
		return &damage{"the zip archive is cut or damaged: download or copy it again", err}
	case errors.Is(err, zip.ErrAlgorithm):
		return &damage{"it is packed by a method that is not read: pack it again with deflate, as zip does by itself", err}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &damage{fmt.Sprintf("it wants more than %d bytes of memory to be unpacked, or is damaged: compress it again, without --long", window), err}
	}
	return &damage{fmt.Sprintf("the %s file is damaged: download or copy it again", form), err}
}
