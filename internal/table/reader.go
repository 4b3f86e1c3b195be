package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// lineMost is the length of the longest line that is read.
const lineMost = 1 << 22

// mark is what some editors put before a text: the byte-order mark, in UTF-8.
var mark = []byte("\ufeff")

// Reader reads a table row by row.
type Reader struct {
	// Columns are the names in the first line.
	Columns []string

	lines  *bufio.Scanner
	line   int
	split  byte
	fields [][]byte
	err    error
}

// NewReader returns a reader of the rows of a table, whose first line it reads.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{lines: bufio.NewScanner(Text(r))}
	t.lines.Buffer(make([]byte, 1<<12), lineMost)
	for {
		line, ok := t.next()
		if !ok {
			break
		}
		if line[0] == '#' || line[0] == '%' {
			continue
		}
		t.split = delimiter(line)
		if t.err = t.cut(line); t.err == nil {
			for _, f := range t.fields {
				t.Columns = append(t.Columns, string(f))
			}
			return t, nil
		}
		break
	}
	if t.err == nil {
		t.err = errors.New("there is no line in it that names columns")
	}
	return nil, t.Err()
}

// delimiter returns what stands between the fields of a line.
func delimiter(line []byte) byte {
	for _, c := range []byte("\t,;") {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return ' '
}

// Named reports whether a text begins with a line that names columns: one whose first
// field is no number. Of a longer text the beginning will do.
func Named(text []byte) bool {
	text = bytes.TrimPrefix(text, mark)
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' || line[0] == '%' {
			continue
		}
		c := line[0]
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || bytes.IndexByte([]byte(`"_,;`), c) >= 0
	}
	return false
}

// next returns the next line that is not empty, without what surrounds it.
func (t *Reader) next() ([]byte, bool) {
	for t.err == nil && t.lines.Scan() && t.lines.Err() == nil { // what comes with an error is cut off
		t.line++
		line := t.lines.Bytes()
		if t.line == 1 {
			line = bytes.TrimPrefix(line, mark)
		}
		line = bytes.TrimRight(line, "\r")
		if t.err = CheckText(line); t.err == nil && len(bytes.TrimSpace(line)) > 0 {
			return line, true
		}
	}
	if err := t.lines.Err(); err != nil && t.err == nil {
		t.line++
		t.err = err
		if errors.Is(err, bufio.ErrTooLong) {
			t.err = fmt.Errorf("it is longer than %d bytes", lineMost)
		}
	}
	return nil, false
}

// Miscounted is the error of a row of n fields, between which stands split, where there are to be want.
func Miscounted(n, want int, split byte) error {
	between := map[byte]string{'\t': "tabs", ',': "commas", ';': "semicolons", ' ': "blanks"}[split]
	if n == 1 {
		return fmt.Errorf("1 fields, want %d as the first line names, with %s between them", want, between)
	}
	return fmt.Errorf("%d fields, want %d as the first line names: complete the row, or put a field that holds %s in quotes", n, want, between)
}

// WrongText returns where the first byte is that is 0 or no UTF-8, -1 if none is.
func WrongText(b []byte) int {
	zero := bytes.IndexByte(b, 0)
	if zero >= 0 {
		b = b[:zero]
	}
	if utf8.Valid(b) {
		return zero
	}
	i := 0
	for {
		c, size := utf8.DecodeRune(b[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// CheckText returns an error unless a line is text in UTF-8.
func CheckText(line []byte) error {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return fmt.Errorf("byte %d is 0, as in UTF-16 or UTF-32 without a byte-order mark, and text is UTF-8: save it as UTF-8, or convert it, such as by iconv -f UTF-16LE -t UTF-8 OLD > NEW", i+1)
	}
	i := WrongText(line)
	if i < 0 {
		return nil
	}
	return fmt.Errorf("byte %d, 0x%x after %.40q, is not UTF-8 but Latin-1 or Windows-1252 perhaps: save it as UTF-8, or convert it, such as by iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW", i+1, line[i], line[max(0, i-20):i])
}

// Next goes on to the next row. It says false at the end and at an error.
func (t *Reader) Next() bool {
	line, ok := t.next()
	if !ok {
		return false
	}
	if t.err = t.cut(line); t.err == nil && len(t.fields) != len(t.Columns) {
		t.err = Miscounted(len(t.fields), len(t.Columns), t.split)
	}
	return t.err == nil
}

// Line returns the number of the row's line, from 1.
func (t *Reader) Line() int { return t.line }

// Fields returns the fields of the row, which stay as they are until Next.
func (t *Reader) Fields() [][]byte { return t.fields }

// Err returns the error that ended the rows, with its line, nil at the end.
func (t *Reader) Err() error {
	if t.err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", max(1, t.line), t.err)
}

// cut sets the fields to those of a line.
func (t *Reader) cut(line []byte) error {
	t.fields = t.fields[:0]
	if t.split == ' ' {
		line = bytes.TrimSpace(line)
	}
	for {
		field, rest, more, err := t.field(line)
		if err != nil {
			return err
		}
		t.fields = append(t.fields, field)
		if !more {
			return nil
		}
		line = rest
	}
}

// field returns the first field of a line and what follows it, if more does.
func (t *Reader) field(line []byte) (field, rest []byte, more bool, err error) {
	start := bytes.TrimLeft(line, " ")
	if len(start) > 0 && start[0] == '"' {
		if field, rest, err = quoted(start[1:]); err != nil {
			return nil, nil, false, err
		}
		rest = bytes.TrimLeft(rest, " ")
		switch {
		case len(rest) == 0:
			return field, nil, false, nil
		case t.split == ' ':
			return field, rest, true, nil
		case rest[0] != t.split:
			return nil, nil, false, fmt.Errorf("%.40q follows a field in quotes", rest)
		}
		return field, rest[1:], true, nil
	}
	at := bytes.IndexByte(line, t.split)
	if t.split == ' ' {
		at = bytes.IndexAny(line, " \t")
	}
	if at < 0 {
		return bytes.TrimSpace(line), nil, false, nil
	}
	field, rest = bytes.TrimSpace(line[:at]), line[at+1:]
	if t.split == ' ' {
		rest = bytes.TrimLeft(rest, " \t")
	}
	return field, rest, true, nil
}

// quoted returns the field up to the quote that ends it, and what follows. Two quotes
// become one where they stand.
func quoted(text []byte) (field, rest []byte, err error) {
	n := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if i+1 == len(text) || text[i+1] != '"' {
				return text[:n], text[i+1:], nil
			}
			i++
		}
		text[n] = text[i]
		n++
	}
	return nil, nil, errors.New("a quote is not closed in its line: a field may not go on in another")
}
