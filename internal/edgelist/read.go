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

// Read returns the ends of the edges of r, in its order. An error names the line.
// A line of anything but two numbers is one.
func Read(r io.Reader) (src, dst []int64, err error) {
	b := bufio.NewReaderSize(r, lineMost)
	for line := 1; ; line++ {
		text, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, nil, fmt.Errorf("line %d: it is longer than %d bytes", line, lineMost)
		}
		if err != nil && err != io.EOF {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
		u, v, ok, bad := parse(text)
		if bad != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, bad)
		}
		if ok {
			if len(src) == math.MaxInt32 {
				return nil, nil, fmt.Errorf("line %d: there are more than 2³¹−1 edges", line)
			}
			src, dst = append(src, u), append(dst, v)
		}
		if err == io.EOF {
			return src, dst, nil
		}
	}
}

// parse returns the edge of a line, and whether there is one.
func parse(text []byte) (u, v int64, ok bool, err error) {
	s := scanner{bytes.TrimSpace(text)}
	if len(s.rest) == 0 || s.rest[0] == '#' || s.rest[0] == '%' {
		return 0, 0, false, nil
	}
	u, ok1 := s.number()
	v, ok2 := s.number()
	if !ok1 || !ok2 || len(s.rest) > 0 {
		return 0, 0, false, fmt.Errorf("%.40q is not an edge: want the numbers of two nodes", bytes.TrimSpace(text))
	}
	return u, v, true, nil
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
