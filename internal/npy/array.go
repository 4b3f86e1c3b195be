package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Array is an array as it stands in a file.
type Array struct {
	Type    string // of an element, NumPy's name for it: <f4, |b1, |O, …
	Shape   []int
	Pickled bool   // an array of objects; Raw is the pickle
	Raw     []byte // the elements; nil of numbers of a large array in an archive

	n int // elements

	// again opens the member of an archive once more, whose elements have not been read; nil: Raw holds them.
	again func() (io.ReadCloser, error)
}

// Read reads an array of at most limit bytes from r.
func Read(r io.Reader, limit int64) (*Array, error) {
	a, err := read(r, limit, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	return a, nil
}

// blockBytes is how much of the elements is read at once where they are not kept as they stand.
const blockBytes = 1 << 20

// read reads an array. With again the numbers of a large one are left for those who ask for them.
func read(r io.Reader, limit int64, room *room, again func() (io.ReadCloser, error)) (*Array, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a := &Array{Type: h.descr, Shape: h.shape}
	if a.n, err = h.size(); err != nil {
		return nil, err
	}
	turned := h.fortran && len(h.shape) > 1
	if strings.HasSuffix(h.descr, "O") {
		if turned {
			return nil, fmt.Errorf("the objects of shape %v are stored with the first axis fastest: save them in C order (numpy.ascontiguousarray)", h.shape)
		}
		a.Pickled = true
		if err = room.take(int(limit), pickleTakes); err != nil {
			return nil, err
		}
		a.Raw, err = io.ReadAll(io.LimitReader(r, limit+1))
		if err == nil && int64(len(a.Raw)) > limit {
			err = fmt.Errorf("more than the %d bytes that are read", limit)
		}
		return a, err
	}
	size, err := a.itemSize()
	if err != nil {
		return nil, err
	}
	if int64(a.n) > limit/int64(max(size, 1)) {
		return nil, fmt.Errorf("shape %v of %s takes more than the %d bytes that are read", h.shape, h.descr, limit)
	}
	if err := room.take(a.n, a.takes(size)); err != nil {
		return nil, fmt.Errorf("it is of shape %v, of %s: %w", h.shape, h.descr, err)
	}
	if again != nil && !turned && a.n*size > blockBytes && a.Type[1] != 'S' && a.Type[1] != 'U' {
		a.again = again
		return a, nil
	}
	a.Raw, err = exactly(r, a.n*size)
	if turned && err == nil {
		a.Raw = lastFastest(a.Raw, h.shape, size)
	}
	return a, err
}

// lastFastest returns elements whose first axis runs fastest in the order in which
// the last one does.
func lastFastest(raw []byte, shape []int, size int) []byte {
	var axes, steps []int // without those of one
	step := size
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 {
			axes, steps = append(axes, shape[i]), append(steps, step)
		}
		step *= shape[i]
	}
	out, at, to := make([]byte, len(raw)), make([]int, len(axes)), 0
	for ; len(raw) > 0; raw = raw[size:] {
		copy(out[to:to+size], raw)
		for i := len(axes) - 1; i >= 0; i-- { // the next place: the first axis is the last of axes
			at[i]++
			to += steps[i]
			if at[i] < axes[i] {
				break
			}
			to -= at[i] * steps[i]
			at[i] = 0
		}
	}
	return out
}

// exactly reads n bytes. It believes a header only as far as there are bytes.
func exactly(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	b := make([]byte, 0, min(n, step))
	for len(b) < n {
		if cap(b) == len(b) {
			grown := make([]byte, len(b), min(n, 2*cap(b)))
			copy(grown, b)
			b = grown
		}
		m, err := io.ReadFull(r, b[len(b):cap(b)])
		b = b[:len(b)+m]
		if err != nil {
			return nil, fmt.Errorf("it ends after %d of %d bytes of elements: %w", len(b), n, cut(err))
		}
	}
	return b, nil
}

// blocks calls f with the elements of an array of numbers as they stand, some after the others, and the number of the first of these.
func (a *Array) blocks(f func(first int, raw []byte) error) error {
	if a.again == nil {
		return f(0, a.Raw)
	}
	r, err := a.again()
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := readHeader(r); err != nil {
		return err
	}
	size, err := a.itemSize()
	if err != nil {
		return err
	}
	b := make([]byte, blockBytes)
	for first := 0; first < a.n; first += len(b) / size {
		b = b[:min(len(b), (a.n-first)*size)]
		if n, err := io.ReadFull(r, b); err != nil {
			return fmt.Errorf("npy: it ends after %d of %d bytes of elements: %w", first*size+n, a.n*size, damaged(cut(err)))
		}
		if err := f(first, b); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // the checksum is compared at the end of the member
		return fmt.Errorf("npy: %w", damaged(err))
	}
	return nil
}

// Len returns the number of elements.
func (a *Array) Len() int { return a.n }

// itemSize returns the bytes of an element.
func (a *Array) itemSize() (int, error) {
	if len(a.Type) >= 3 && strings.IndexByte("<>|=", a.Type[0]) >= 0 {
		n, err := strconv.Atoi(a.Type[2:])
		ok := err == nil
		switch a.Type[1] {
		case 'b':
			ok = ok && n == 1
		case 'i', 'u':
			ok = ok && (n == 1 || n == 2 || n == 4 || n == 8)
		case 'f':
			ok = ok && (n == 2 || n == 4 || n == 8)
		case 'S':
			ok = ok && n >= 0 && n <= headerMost
		case 'U':
			ok = ok && n >= 0 && n <= headerMost
			n *= 4
		default:
			ok = false
		}
		if ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("elements of type %q, want whole numbers, floats, bools or strings", a.Type)
}

// order returns the order of an element's bytes.
func (a *Array) order() binary.ByteOrder {
	if a.Type[0] == '>' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Int64s returns the elements of an array of whole numbers or bools.
func (a *Array) Int64s() ([]int64, error) {
	return wholes(a, func(i int, v int64, ok bool) (int64, error) {
		if !ok {
			return 0, fmt.Errorf("npy: element %d is beyond the largest int64", i)
		}
		return v, nil
	})
}

// Int32s is [Array.Int64s] of numbers that fit 32 bits. The error names the
// first that does not.
func (a *Array) Int32s() ([]int32, error) {
	return wholes(a, func(i int, v int64, ok bool) (int32, error) {
		if !ok || v != int64(int32(v)) {
			return 0, fmt.Errorf("npy: element %d is %d, which 32 bits do not hold", i, v)
		}
		return int32(v), nil
	})
}

// wholes returns the elements of an array of whole numbers as f makes them of these, which gets false where an unsigned one
// exceeds an int64.
func wholes[T any](a *Array, f func(i int, v int64, ok bool) (T, error)) ([]T, error) {
	size, at, err := a.whole()
	if err != nil {
		return nil, err
	}
	out := make([]T, a.n)
	return out, a.blocks(func(first int, raw []byte) (err error) {
		for i := range len(raw) / size {
			v, ok := at(raw, i)
			if out[first+i], err = f(first+i, v, ok); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole returns the bytes of an element, and a function that reads one, which says false where an unsigned one exceeds an int64.
func (a *Array) whole() (size int, at func(raw []byte, i int) (int64, bool), err error) {
	if a.Pickled || len(a.Type) < 3 {
		return 0, nil, a.misread("whole numbers")
	}
	b := a.order()
	switch a.Type[1:] {
	case "b1", "u1":
		return 1, func(raw []byte, i int) (int64, bool) { return int64(raw[i]), true }, nil
	case "i1":
		return 1, func(raw []byte, i int) (int64, bool) { return int64(int8(raw[i])), true }, nil
	case "i2":
		return 2, func(raw []byte, i int) (int64, bool) { return int64(int16(b.Uint16(raw[2*i:]))), true }, nil
	case "u2":
		return 2, func(raw []byte, i int) (int64, bool) { return int64(b.Uint16(raw[2*i:])), true }, nil
	case "i4":
		return 4, func(raw []byte, i int) (int64, bool) { return int64(int32(b.Uint32(raw[4*i:]))), true }, nil
	case "u4":
		return 4, func(raw []byte, i int) (int64, bool) { return int64(b.Uint32(raw[4*i:])), true }, nil
	case "i8":
		return 8, func(raw []byte, i int) (int64, bool) { return int64(b.Uint64(raw[8*i:])), true }, nil
	case "u8":
		return 8, func(raw []byte, i int) (int64, bool) {
			v := b.Uint64(raw[8*i:])
			return int64(v), v <= math.MaxInt64
		}, nil
	}
	return 0, nil, a.misread("whole numbers")
}

// Float64s returns the elements of an array of numbers.
func (a *Array) Float64s() ([]float64, error) {
	out := make([]float64, a.n)
	return out, a.Each(func(i int, v float64) error {
		out[i] = v
		return nil
	})
}

// Each calls f with the elements of an array of numbers, in order, until it returns an error. It takes no memory beside f's.
func (a *Array) Each(f func(i int, v float64) error) error {
	size, at, err := a.number()
	if err != nil {
		return err
	}
	return a.blocks(func(first int, raw []byte) error {
		for i := range len(raw) / size {
			if err := f(first+i, at(raw, i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Numbers returns a function that reads any element of an array of numbers, which it keeps as they stand.
func (a *Array) Numbers() (func(i int) float64, error) {
	size, at, err := a.number()
	if err != nil {
		return nil, err
	}
	if a.again != nil {
		raw := make([]byte, 0, a.n*size)
		if err := a.blocks(func(_ int, block []byte) error { raw = append(raw, block...); return nil }); err != nil {
			return nil, err
		}
		a.Raw, a.again = raw, nil
	}
	return func(i int) float64 { return at(a.Raw, i) }, nil
}

// number returns the bytes of an element of an array of numbers, and a function that reads one.
func (a *Array) number() (size int, at func(raw []byte, i int) float64, err error) {
	if a.Pickled || len(a.Type) < 3 {
		return 0, nil, a.misread("numbers")
	}
	b := a.order()
	switch a.Type[1:] {
	case "f2":
		return 2, func(raw []byte, i int) float64 { return Half(b.Uint16(raw[2*i:])) }, nil
	case "f4":
		return 4, func(raw []byte, i int) float64 { return float64(math.Float32frombits(b.Uint32(raw[4*i:]))) }, nil
	case "f8":
		return 8, func(raw []byte, i int) float64 { return math.Float64frombits(b.Uint64(raw[8*i:])) }, nil
	}
	size, whole, err := a.whole()
	if err != nil {
		return 0, nil, a.misread("numbers")
	}
	return size, func(raw []byte, i int) float64 {
		v, ok := whole(raw, i)
		if !ok {
			return float64(uint64(v))
		}
		return float64(v)
	}, nil
}

// Half returns the value of a float of 16 bits.
func Half(h uint16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Strings returns the elements of an array of strings.
func (a *Array) Strings() ([]string, error) {
	size, err := a.itemSize()
	if a.Pickled || err != nil || a.Type[1] != 'S' && a.Type[1] != 'U' {
		return nil, a.misread("strings")
	}
	out := make([]string, a.n)
	for i := range out {
		item := a.Raw[i*size : (i+1)*size]
		if a.Type[1] == 'U' {
			item = a.runes(item)
		}
		out[i] = strings.TrimRight(string(item), "\x00")
	}
	return out, nil
}

// runes returns UTF-32 as UTF-8.
func (a *Array) runes(item []byte) []byte {
	var out []byte
	for b := a.order(); len(item) >= 4; item = item[4:] {
		r := b.Uint32(item)
		if r > utf8.MaxRune {
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, rune(r))
	}
	return out
}

func (a *Array) misread(wanted string) error {
	return fmt.Errorf("npy: elements of type %q, want %s", a.Type, wanted)
}
