package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bytes is a Python 2 str or a Python 3 bytes. It is a view of the input.
type Bytes []byte

// Tuple is a Python tuple.
type Tuple []any

// List is a Python list. It may hold itself, so a walk through one needs a
// bound.
type List struct{ Items []any }

// Dict is a Python dict or defaultdict, in the order of the pickle. A key may
// stand there twice; the later one counts.
type Dict struct{ Keys, Values []any }

// Get returns the value of a string key of at most 256 bytes, nil if there is
// none.
func (d *Dict) Get(key string) any {
	for i := len(d.Keys) - 1; i >= 0; i-- {
		if s, ok := short(d.Keys[i]); ok && s == key {
			return d.Values[i]
		}
	}
	return nil
}

// Array is a NumPy array.
type Array struct {
	Shape   []int
	Dtype   string // byte order and type, such as "<f4", "|b1", "<U12" or "|O"
	Fortran bool   // column-major
	Data    []byte // a view of the input; empty for objects
	Objects []any  // the elements of an array of objects, which may hold itself

	built bool
}

// CSR is a SciPy csr_matrix. Only its shape is checked: the arrays may disagree.
type CSR struct {
	Rows, Cols               int
	Offsets, Columns, Values *Array

	built bool
}

// dtype is a numpy.dtype under construction.
type dtype struct{ order, code string }

// global is a name that a pickle may call.
type global string

// short returns the string in a Python 2 or 3 string. One that is too long for a
// name is none: the memo makes it cheap to repeat, and copies would add up.
func short(v any) (string, bool) {
	switch s := v.(type) {
	case Bytes:
		if len(s) <= 256 {
			return string(s), true
		}
	case string:
		return s, len(s) <= 256
	}
	return "", false
}

// objects is the dtype of an array of any values, without its byte order.
const objects = "O"

// maxText is the length beyond which the strings of an array are not read.
const maxText = 1 << 16

// single reports whether a dtype has elements of which no byte comes first.
func single(code string) bool {
	return code == objects || code[0] == 'S' || itemSize(code) == 1
}

// itemSize returns the size of an element of a dtype without its byte order, 0
// if it is not one of plain numbers or strings.
func itemSize(code string) int {
	switch code {
	case "b1", "i1", "u1":
		return 1
	case "i2", "u2":
		return 2
	case "i4", "u4", "f4":
		return 4
	case "i8", "u8", "f8":
		return 8
	}
	if len(code) < 2 || code[0] != 'S' && code[0] != 'U' {
		return 0
	}
	n, err := strconv.Atoi(code[1:])
	if err != nil || n < 1 || n > maxText {
		return 0
	}
	if code[0] == 'U' {
		n *= 4 // UTF-32
	}
	return n
}

// numeric reports whether the elements of a are numbers or booleans.
func (a *Array) numeric() bool {
	return a.Dtype[1] != 'O' && a.Dtype[1] != 'S' && a.Dtype[1] != 'U'
}

// Len returns the number of elements.
func (a *Array) Len() int {
	if a.Dtype[1:] == objects {
		return len(a.Objects)
	}
	return len(a.Data) / itemSize(a.Dtype[1:])
}

// order returns the order of an element's bytes.
func (a *Array) order() binary.ByteOrder {
	if a.Dtype[0] == '>' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Ints returns the elements of an array of integers or booleans, in the order of
// the data.
func (a *Array) Ints() ([]int64, error) { return whole[int64](a) }

// Int32s is [Array.Ints] of integers that fit 32 bits. The error names the first
// that does not.
func (a *Array) Int32s() ([]int32, error) { return whole[int32](a) }

// whole returns the elements of an array of integers as a narrower type.
func whole[T int32 | int64](a *Array) ([]T, error) {
	out := make([]T, a.Len())
	if a.Dtype == "<i4" { // what matrices mostly have
		for i := range out {
			out[i] = T(int32(binary.LittleEndian.Uint32(a.Data[4*i:])))
		}
		return out, nil
	}
	at, err := a.integer()
	if err != nil {
		return nil, err
	}
	for i := range out {
		v, ok := at(i)
		if out[i] = T(v); !ok || int64(out[i]) != v {
			return nil, fmt.Errorf("element %d is %d, which is too large", i, uint64(v))
		}
	}
	return out, nil
}

// integer returns a function that reads an element, and false where an unsigned
// one exceeds an int64.
func (a *Array) integer() (func(i int) (int64, bool), error) {
	b, order := a.Data, a.order()
	switch a.Dtype[1:] {
	case "b1", "u1":
		return func(i int) (int64, bool) { return int64(b[i]), true }, nil
	case "i1":
		return func(i int) (int64, bool) { return int64(int8(b[i])), true }, nil
	case "u2":
		return func(i int) (int64, bool) { return int64(order.Uint16(b[2*i:])), true }, nil
	case "i2":
		return func(i int) (int64, bool) { return int64(int16(order.Uint16(b[2*i:]))), true }, nil
	case "u4":
		return func(i int) (int64, bool) { return int64(order.Uint32(b[4*i:])), true }, nil
	case "i4":
		return func(i int) (int64, bool) { return int64(int32(order.Uint32(b[4*i:]))), true }, nil
	case "u8":
		return func(i int) (int64, bool) {
			v := order.Uint64(b[8*i:])
			return int64(v), v <= math.MaxInt64
		}, nil
	case "i8":
		return func(i int) (int64, bool) { return int64(order.Uint64(b[8*i:])), true }, nil
	}
	return nil, fmt.Errorf("an array of type %s does not hold integers", a.Dtype)
}

// Floats returns the elements of an array of any numbers, in the order of the
// data.
func (a *Array) Floats() ([]float64, error) { return real[float64](a) }

// Float32s is [Array.Floats], rounded.
func (a *Array) Float32s() ([]float32, error) { return real[float32](a) }

// real returns the elements of an array of numbers as floats.
func real[T float32 | float64](a *Array) ([]T, error) {
	if !a.numeric() {
		return nil, fmt.Errorf("an array of type %s does not hold numbers", a.Dtype)
	}
	out := make([]T, a.Len())
	switch order := a.order(); {
	case a.Dtype == "<f4":
		for i := range out {
			out[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])))
		}
	case a.Dtype[1:] == "f4":
		for i := range out {
			out[i] = T(math.Float32frombits(order.Uint32(a.Data[4*i:])))
		}
	case a.Dtype[1:] == "f8":
		for i := range out {
			out[i] = T(math.Float64frombits(order.Uint64(a.Data[8*i:])))
		}
	default:
		ints, err := a.Ints()
		for i, v := range ints {
			out[i] = T(v)
		}
		return out, err
	}
	return out, nil
}

// Strings returns the elements of an array of strings, or of objects that are
// strings of at most 256 bytes.
func (a *Array) Strings() ([]string, error) {
	if a.Dtype[1:] != objects && a.numeric() {
		return nil, fmt.Errorf("an array of type %s does not hold strings", a.Dtype)
	}
	out := make([]string, a.Len())
	known := map[*byte]string{} // those that the memo may repeat, which would be copied again and again
	for i := range out {
		if a.Dtype[1:] != objects {
			out[i] = a.text(i)
			continue
		}
		b, long := a.Objects[i].(Bytes)
		if long = long && len(b) > repeatLeast; long {
			if s, ok := known[&b[0]]; ok && len(s) == len(b) {
				out[i] = s
				continue
			}
		}
		s, ok := short(a.Objects[i])
		if !ok {
			return nil, fmt.Errorf("element %d is a %T, or too long; want a short string", i, a.Objects[i])
		}
		if out[i] = s; long {
			known[&b[0]] = s
		}
	}
	return out, nil
}

// repeatLeast is the length beyond which a copy of a string takes more than its
// place in a list.
const repeatLeast = 32

// text returns element i of an array of strings, whose ends are filled with
// zeros.
func (a *Array) text(i int) string {
	size := itemSize(a.Dtype[1:])
	item := a.Data[i*size : (i+1)*size]
	if a.Dtype[1] == 'S' {
		return strings.TrimRight(string(item), "\x00")
	}
	var b []byte
	for order := a.order(); len(item) > 0; item = item[4:] {
		b = utf8.AppendRune(b, rune(min(order.Uint32(item), utf8.MaxRune+1)))
	}
	return strings.TrimRight(string(b), "\x00")
}
