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

// bits returns element i as an unsigned number.
func (a *Array) bits(i, size int) uint64 {
	var order binary.ByteOrder = binary.LittleEndian
	if a.Dtype[0] == '>' {
		order = binary.BigEndian
	}
	b := a.Data[i*size:]
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// Ints returns the elements of an array of integers or booleans, in the order of
// the data.
func (a *Array) Ints() ([]int64, error) {
	if a.Dtype[1] == 'f' || !a.numeric() {
		return nil, fmt.Errorf("an array of type %s does not hold integers", a.Dtype)
	}
	size := itemSize(a.Dtype[1:])
	out := make([]int64, a.Len())
	for i := range out {
		u := a.bits(i, size)
		if a.Dtype[1] == 'i' {
			shift := 64 - 8*size
			u = uint64(int64(u<<shift) >> shift)
		} else if u > math.MaxInt64 {
			return nil, fmt.Errorf("element %d is %d, which is too large", i, u)
		}
		out[i] = int64(u)
	}
	return out, nil
}

// Floats returns the elements of an array of any numbers, in the order of the
// data.
func (a *Array) Floats() ([]float64, error) {
	if !a.numeric() {
		return nil, fmt.Errorf("an array of type %s does not hold numbers", a.Dtype)
	}
	if a.Dtype[1] != 'f' {
		ints, err := a.Ints()
		out := make([]float64, len(ints))
		for i, v := range ints {
			out[i] = float64(v)
		}
		return out, err
	}
	size := itemSize(a.Dtype[1:])
	out := make([]float64, a.Len())
	for i := range out {
		if u := a.bits(i, size); size == 4 {
			out[i] = float64(math.Float32frombits(uint32(u)))
		} else {
			out[i] = math.Float64frombits(u)
		}
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
	for i := range out {
		if a.Dtype[1:] != objects {
			out[i] = a.text(i)
			continue
		}
		s, ok := short(a.Objects[i])
		if !ok {
			return nil, fmt.Errorf("element %d is a %T, or too long; want a short string", i, a.Objects[i])
		}
		out[i] = s
	}
	return out, nil
}

// text returns element i of an array of strings, whose ends are filled with
// zeros.
func (a *Array) text(i int) string {
	size := itemSize(a.Dtype[1:])
	item := a.Data[i*size : (i+1)*size]
	if a.Dtype[1] == 'S' {
		return strings.TrimRight(string(item), "\x00")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if a.Dtype[0] == '>' {
		order = binary.BigEndian
	}
	var b []byte
	for ; len(item) > 0; item = item[4:] {
		b = utf8.AppendRune(b, rune(min(order.Uint32(item), utf8.MaxRune+1)))
	}
	return strings.TrimRight(string(b), "\x00")
}
