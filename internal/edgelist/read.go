package edgelist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// lineMost is the length of the longest line that is read.
const lineMost = 1 << 16

// mark is what some editors put before a text: the byte-order mark, in UTF-8.
var mark = []byte("\ufeff")

// Read calls visit with the ends of each edge of r, in its order. It ends at the
// first error, of r or of visit, and says the line. A line of anything but two
// numbers is one.
func Read(r io.Reader, visit func(u, v int64) error) error {
	b := bufio.NewReaderSize(r, lineMost)
	for line := 1; ; line++ {
		text, err := b.ReadSlice('\n')
		if line == 1 {
			text = bytes.TrimPrefix(text, mark)
		}
		if err == nil || err == io.EOF {
			if bad := one(text, visit); bad != nil {
				return fmt.Errorf("line %d: %w", line, bad)
			}
		}
		switch {
		case err == nil:
		case err == io.EOF:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d: it is longer than %d bytes", line, lineMost)
		default:
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// one calls visit with the ends of the edge of a line, if there is one.
func one(text []byte, visit func(u, v int64) error) error {
	u, v, ok, err := parse(text)
	if err != nil || !ok {
		return err
	}
	return visit(u, v)
}

// parse returns the edge of a line, and whether there is one.
func parse(text []byte) (u, v int64, ok bool, err error) {
	text = bytes.TrimSpace(text)
	s := scanner{text}
	if len(s.rest) == 0 || s.rest[0] == '#' || s.rest[0] == '%' {
		return 0, 0, false, nil
	}
	u, ok1 := s.number()
	v, ok2 := s.number()
	if !ok1 || !ok2 || len(s.rest) > 0 {
		return 0, 0, false, fmt.Errorf("%.40q is not an edge: want the numbers of two nodes%s", text, advice(text, ok1 && ok2))
	}
	return u, v, true, nil
}

// advice says what to do about a line that is no edge, or more than one.
func advice(line []byte, edge bool) string {
	switch c := line[0]; {
	case bytes.IndexByte(line, 0) >= 0:
		return "; it has bytes of 0, as in UTF-16 without a byte-order mark: save it as UTF-8"
	case edge:
		return "; for weights name the columns in a first line, such as source,target,weight; times are not read: cut them off"
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '"':
		return "; a line that names columns, such as source,target, is the first one, or begins with #"
	}
	return ""
}

// scanner reads numbers off a line.
type scanner struct{ rest []byte }

// number reads a number and the blanks, or one comma, after it.
func (s *scanner) number() (n int64, ok bool) {
	i := 0
	for ; i < len(s.rest) && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		if n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = 10*n + int64(s.rest[i]-'0')
	}
	digits, commas := i, 0
	for ; i < len(s.rest) && bytes.IndexByte([]byte(" \t,"), s.rest[i]) >= 0; i++ {
		if s.rest[i] == ',' {
			commas++
		}
	}
	ok = digits > 0 && commas <= 1 && (i > digits || i == len(s.rest))
	s.rest = s.rest[i:]
	return n, ok
}
