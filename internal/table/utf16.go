package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a text as UTF-8: as it is, or one in UTF-16 that begins with a byte-order mark, as
// spreadsheets save "Unicode text".
func Text(r io.Reader) io.Reader {
	b, ok := r.(*bufio.Reader)
	if !ok {
		b = bufio.NewReader(r)
	}
	start, _ := b.Peek(4) // an error comes again as it is read
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe\x00\x00")): // UTF-32, which CheckText refuses
	case bytes.HasPrefix(start, []byte("\xff\xfe")):
		return &wide{r: b, order: binary.LittleEndian}
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		return &wide{r: b, order: binary.BigEndian}
	}
	return b
}

// wide reads UTF-16 as UTF-8.
type wide struct {
	r     *bufio.Reader
	order binary.ByteOrder
	left  []byte // of the last character, what did not find room
	err   error
}

// Read implements [io.Reader].
func (w *wide) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(w.left) == 0 {
			if w.err != nil || n > 0 && w.r.Buffered() < 4 {
				break // what comes next may have to be waited for
			}
			var c rune
			if c, w.err = w.next(); w.err != nil {
				break
			}
			w.left = utf8.AppendRune(w.left[:0], c)
		}
		k := copy(p[n:], w.left)
		n, w.left = n+k, w.left[k:]
	}
	if n == 0 && len(p) > 0 {
		return 0, w.err
	}
	return n, nil
}

// next reads a character.
func (w *wide) next() (rune, error) {
	c, err := w.unit()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	low, err := w.unit()
	if err == nil {
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			err = errNotUTF16
		}
	} else if errors.Is(err, io.EOF) {
		err = errNotUTF16
	}
	return c, err
}

// errNotUTF16 is the error of half a character.
var errNotUTF16 = errors.New("its byte-order mark says that it is UTF-16, and half a character stands in it: save it again, as UTF-8")

// unit reads half a character, or a whole one.
func (w *wide) unit() (rune, error) {
	var two [2]byte
	_, err := io.ReadFull(w.r, two[:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errNotUTF16
	}
	return rune(w.order.Uint16(two[:])), err
}
