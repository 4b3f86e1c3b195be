package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// magic begins every file.
const magic = "\x93NUMPY"

// headerMost is the length of a header beyond which a file is not believed:
// NumPy's own take some 128 bytes, those of records a few thousand.
const headerMost = 1 << 16

// axesMost is the number of axes that NumPy's own arrays may have.
const axesMost = 64

// header is what stands before the elements.
type header struct {
	descr   string // the element type, such as <f4
	fortran bool   // the first axis runs fastest
	shape   []int
}

// readHeader reads up to the first element.
func readHeader(r io.Reader) (*header, error) {
	var lead [8]byte
	if _, err := io.ReadFull(r, lead[:]); err != nil {
		return nil, fmt.Errorf("it ends inside the first 8 bytes: %w", cut(err))
	}
	if string(lead[:6]) != magic {
		return nil, fmt.Errorf("it begins with %q, not with %q: no array of NumPy's", lead[:6], magic)
	}
	n, err := headerLength(r, lead[6])
	if err != nil {
		return nil, err
	}
	if n > headerMost {
		return nil, fmt.Errorf("a header of %d bytes, at most %d are read", n, headerMost)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("it ends inside the header: %w", cut(err))
	}
	return parseHeader(string(bytes.TrimRight(text, " \n\x00")))
}

// headerLength reads the length, which version 1 has in two bytes.
func headerLength(r io.Reader, version byte) (uint32, error) {
	var b [4]byte
	size := 4
	switch version {
	case 1:
		size = 2
	case 2, 3:
	default:
		return 0, fmt.Errorf("format version %d, want 1, 2 or 3", version)
	}
	if _, err := io.ReadFull(r, b[:size]); err != nil {
		return 0, fmt.Errorf("it ends before the header: %w", cut(err))
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// parseHeader reads the dictionary that is the header.
func parseHeader(text string) (*header, error) {
	h := &header{}
	s := scanner{text: text}
	seen := map[string]bool{}
	s.want("{")
	for s.err == nil && !s.take("}") {
		key := s.quoted()
		s.want(":")
		if s.err == nil && seen[key] {
			return nil, fmt.Errorf("the header has %q twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = s.quoted()
		case "fortran_order":
			h.fortran = s.boolean()
		case "shape":
			h.shape = s.tuple()
		default:
			s.fail("a key descr, fortran_order or shape")
		}
		if !s.take(",") {
			s.want("}")
			break
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if !seen["descr"] || !seen["fortran_order"] || !seen["shape"] {
		return nil, fmt.Errorf("the header %q has not all of descr, fortran_order and shape", text)
	}
	return h, nil
}

// size returns the number of elements.
func (h *header) size() (int, error) {
	n := 1
	for _, d := range h.shape {
		if d != 0 && n > math.MaxInt/d {
			return 0, fmt.Errorf("the shape %v has more elements than an int counts", h.shape)
		}
		n *= d
	}
	return n, nil
}

// scanner reads the few Python literals that a header is made of.
type scanner struct {
	text string
	at   int
	err  error
}

func (s *scanner) fail(wanted string) {
	if s.err == nil {
		rest := s.text[min(s.at, len(s.text)):]
		s.err = fmt.Errorf("the header at byte %d: %.20q, want %s", s.at, rest, wanted)
	}
}

// take skips blanks and then token, if it is there.
func (s *scanner) take(token string) bool {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n') {
		s.at++
	}
	if !strings.HasPrefix(s.text[s.at:], token) {
		return false
	}
	s.at += len(token)
	return true
}

func (s *scanner) want(token string) {
	if !s.take(token) {
		s.fail(strconv.Quote(token))
	}
}

// quoted reads a string; none that matters has an escape in it.
func (s *scanner) quoted() string {
	quote := byte('\'')
	if s.take(`"`) {
		quote = '"'
	} else if !s.take("'") {
		s.fail("a string: arrays of records are not read")
		return ""
	}
	n := strings.IndexByte(s.text[s.at:], quote)
	if n < 0 {
		s.fail("the end of a string")
		return ""
	}
	text := s.text[s.at : s.at+n]
	s.at += n + 1
	return text
}

func (s *scanner) boolean() bool {
	switch {
	case s.take("True"):
		return true
	case s.take("False"):
	default:
		s.fail("True or False")
	}
	return false
}

// tuple reads the lengths of the axes.
func (s *scanner) tuple() []int {
	shape := []int{}
	s.want("(")
	for s.err == nil && !s.take(")") {
		s.take("")
		end := s.at
		for end < len(s.text) && s.text[end] >= '0' && s.text[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(s.text[s.at:end])
		if err != nil {
			s.fail("the length of an axis")
			return nil
		}
		s.at = end
		s.take("L") // of Python 2
		if shape = append(shape, n); len(shape) > axesMost {
			s.fail(fmt.Sprintf("at most %d axes", axesMost))
		}
		if !s.take(",") {
			s.want(")")
			break
		}
	}
	return shape
}

// cut returns err, with the end of a file in words.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it was cut, so download or copy it again")
	}
	return err
}
