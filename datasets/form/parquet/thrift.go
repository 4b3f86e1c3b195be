package parquet

import (
	"encoding/binary"
	"errors"
)

// The types of Thrift's compact protocol, in which a Parquet file's footer and the headers of its pages are written.
const (
	isTrue   = 1
	isFalse  = 2
	isByte   = 3
	isI16    = 4
	isI32    = 5
	isI64    = 6
	isDouble = 7
	isBinary = 8
	isList   = 9
	isSet    = 10
	isMap    = 11
	isStruct = 12
)

var errThrift = errors.New("its description ends too soon, or is damaged")

// thriftReader reads the compact protocol of a text that may be damaged: it makes nothing that is longer than the
// text. After an error all that it returns is zero.
type thriftReader struct {
	b      []byte
	failed bool
	depth  int
}

func (r *thriftReader) fail() { r.b, r.failed = nil, true }

func (r *thriftReader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// int reads a whole number.
func (r *thriftReader) int() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// binary reads bytes, which are those of the text.
func (r *thriftReader) binary() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// list reads how many elements a list has and of which type they are. Each takes a byte at least.
func (r *thriftReader) list() (n int, typ byte) {
	head := r.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = r.uvarint()
	}
	if size > uint64(len(r.b)) {
		r.fail()
		return 0, 0
	}
	return int(size), head & 15
}

// fields calls do for each field of a struct, which is to read or skip it.
func (r *thriftReader) fields(do func(id int64, typ byte)) {
	const deepest = 32
	if r.depth++; r.depth > deepest {
		r.fail()
	}
	for id := int64(0); !r.failed; {
		head := r.byte()
		if head == 0 {
			break
		}
		if delta := head >> 4; delta != 0 {
			id += int64(delta)
		} else {
			id = r.int()
		}
		do(id, head&15)
	}
	r.depth--
}

// skip reads what a field of that type has and leaves it.
func (r *thriftReader) skip(typ byte) {
	switch typ {
	case isTrue, isFalse:
	case isByte:
		r.byte()
	case isI16, isI32, isI64:
		r.uvarint()
	case isDouble:
		if len(r.b) < 8 {
			r.fail()
			return
		}
		r.b = r.b[8:]
	case isBinary:
		r.binary()
	case isList, isSet:
		n, of := r.list()
		for ; n > 0 && !r.failed; n-- {
			r.element(of)
		}
	case isMap:
		n := r.uvarint()
		if n == 0 {
			return
		}
		types := r.byte()
		for ; n > 0 && !r.failed; n-- {
			r.element(types >> 4)
			r.element(types & 15)
		}
	case isStruct:
		r.fields(func(_ int64, typ byte) { r.skip(typ) })
	default:
		r.fail()
	}
}

// element skips an element of a list or map, in which true and false are bytes.
func (r *thriftReader) element(typ byte) {
	if typ == isTrue || typ == isFalse {
		typ = isByte
	}
	r.skip(typ)
}

// thriftWriter writes the compact protocol.
type thriftWriter struct {
	b    []byte
	last []int64 // of each struct that is open the last field
}

// field begins a field.
func (w *thriftWriter) field(id int64, typ byte) {
	last := &w.last[len(w.last)-1]
	w.b = append(w.b, byte(id-*last)<<4|typ) // fields ascend by less than 16
	*last = id
}

func (w *thriftWriter) open()  { w.last = append(w.last, 0) }
func (w *thriftWriter) close() { w.b, w.last = append(w.b, 0), w.last[:len(w.last)-1] }

func (w *thriftWriter) varint(v int64) { w.b = binary.AppendUvarint(w.b, uint64(v<<1)^uint64(v>>63)) }

func (w *thriftWriter) int(id, v int64) {
	w.field(id, isI64)
	w.varint(v)
}

// small writes a number of 32 bits.
func (w *thriftWriter) small(id, v int64) {
	w.field(id, isI32)
	w.varint(v)
}

func (w *thriftWriter) text(s string) {
	w.b = append(binary.AppendUvarint(w.b, uint64(len(s))), s...)
}

// list begins a list.
func (w *thriftWriter) list(id int64, n int, typ byte) {
	w.field(id, isList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|typ)
		return
	}
	w.b = binary.AppendUvarint(append(w.b, 15<<4|typ), uint64(n))
}
