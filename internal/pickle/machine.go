package pickle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// The limits of what is read. Everything else is bounded by the input's length.
const (
	MaxInput = 1 << 28 // bytes
	MaxDepth = 1000    // open marks: nested lists, tuples and dictionaries
)

// Error reports where a pickle cannot be read.
type Error struct {
	Offset int // of the opcode, in bytes
	Why    string
}

func (e *Error) Error() string { return fmt.Sprintf("pickle: byte %d: %s", e.Offset, e.Why) }

// machine runs a pickle. Its methods stop by panicking with an *Error, which
// does not leave the package.
type machine struct {
	in      []byte
	at, op  int // the next byte, and the opcode being run
	stack   []any
	marks   []int // lengths of the stack
	memo    memo
	budget  budget
	encoded int  // bytes made by encode
	torch   bool // the pickle is one of PyTorch's

	small []any  // numbers that have been pushed, by their value
	lists []List // not used yet
	room  []any  // not used yet, for the elements of lists
}

// Decode returns the one value of a pickle: nil, bool, int64, float64, string,
// [Bytes], [Tuple], [*List] (of a set, too), [*Dict], [*Array] or [*CSR]. What follows the
// value is an error. Strings and arrays are views of b, which must not change.
func Decode(b []byte) (v any, err error) { return decodeAs(b, false) }

// decodeAs is Decode, with the names and the storages of PyTorch if torch says so.
func decodeAs(b []byte, torch bool) (v any, err error) {
	m := &machine{in: b, budget: newBudget(len(b)), torch: torch}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			v, err = nil, r
		default:
			panic(r)
		}
	}()
	if len(b) > MaxInput {
		m.fail("%d bytes are over the limit of %d", len(b), MaxInput)
	}
	return m.run(), nil
}

func (m *machine) fail(format string, args ...any) {
	panic(&Error{Offset: m.op, Why: fmt.Sprintf(format, args...)})
}

// run executes opcodes up to STOP.
func (m *machine) run() any {
	for {
		m.op = m.at
		op := m.take(1)[0]
		if op == '.' {
			break
		}
		switch op { // what graphs are made of, first
		case 'K':
			m.pushSmall(m.take(1))
			continue
		case 'M':
			m.pushSmall(m.take(2))
			continue
		}
		if !m.number(op) && !m.str(op) && !m.container(op) && !m.name(op) {
			m.foreign(op)
		}
	}
	v := m.pop()
	if len(m.stack) > 0 || len(m.marks) > 0 {
		m.fail("the pickle ends inside a value")
	}
	if m.at != len(m.in) {
		m.fail("%d bytes follow the end of the pickle", len(m.in)-m.at)
	}
	switch x := v.(type) {
	case global, *dtype:
		m.fail("the pickle holds a name and no data")
	case *Array:
		m.whole(x.built)
	case *CSR:
		m.whole(x.built)
	}
	return v
}

// foreign stops at an opcode that is not known.
func (m *machine) foreign(op byte) {
	switch op {
	case 'F', 'L', 'S', 'V', 'd', 'g', 'l', 'p':
		m.fail("opcode %q is of protocol 0, which is text: save it again with protocol=2 to 5", op)
	case 0x97, 0x98:
		m.fail("opcode %q asks for a buffer outside of the pickle: save it again without buffer_callback", op)
	}
	m.fail("opcode %q is not one of plain data", op)
}

func (m *machine) whole(built bool) {
	if !built {
		m.fail("an array has no content")
	}
}

// take returns the next n bytes.
func (m *machine) take(n uint64) []byte {
	if n > uint64(len(m.in)-m.at) {
		m.fail("%d bytes are wanted at byte %d, %d are left: it is cut or damaged", n, m.at, len(m.in)-m.at)
	}
	b := m.in[m.at : m.at+int(n) : m.at+int(n)]
	m.at += int(n)
	return b
}

// uint returns the next n bytes as a little-endian number.
func (m *machine) uint(n uint64) uint64 {
	var b [8]byte
	copy(b[:], m.take(n))
	return binary.LittleEndian.Uint64(b[:])
}

// line returns the bytes up to a newline.
func (m *machine) line() string {
	n := bytes.IndexByte(m.in[m.at:], '\n')
	if n < 0 {
		m.fail("a name has no end")
	}
	return string(m.take(uint64(n) + 1)[:n])
}

// pop takes a value that was pushed since the last mark.
func (m *machine) pop() any {
	v := m.top()
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

func (m *machine) top() any {
	n := len(m.stack)
	if n == 0 || len(m.marks) > 0 && m.marks[len(m.marks)-1] == n {
		m.fail("there is no value on the stack")
	}
	return m.stack[n-1]
}

// popMark takes the values pushed since the last mark, and the mark.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail("there is no mark on the stack")
	}
	n := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	items := m.stack[n:]
	m.stack = m.stack[:n]
	return items
}

// number runs the opcodes of constants and numbers.
func (m *machine) number(op byte) bool {
	switch op {
	case 'N':
		m.push(nil)
	case 0x88, 0x89:
		m.push(op == 0x88)
	case 'J':
		m.pushNew(int64(int32(m.uint(4))), sizeNumber)
	case 'I': // a bool or an int, in protocol 1
		switch l := m.line(); l {
		case "00", "01":
			m.push(l == "01")
		default:
			v, err := strconv.ParseInt(l, 10, 64)
			if err != nil {
				m.fail("%.40q is no integer of 64 bits", l)
			}
			m.pushNew(v, sizeNumber)
		}
	case 0x8a:
		m.long(m.uint(1))
	case 0x8b:
		m.long(m.uint(4))
	case 'G':
		m.pushNew(math.Float64frombits(binary.BigEndian.Uint64(m.take(8))), sizeNumber)
	default:
		return false
	}
	return true
}

// smallMost is the number of values that are kept for being pushed again.
const smallMost = 1 << 16

// pushSmall pushes an integer of one or two bytes. An integer in an interface
// is an allocation, and edges repeat those of their nodes.
func (m *machine) pushSmall(b []byte) {
	v := int(b[0])
	if len(b) == 2 {
		v |= int(b[1]) << 8
	}
	if m.small == nil {
		m.small = make([]any, min(smallMost, len(m.in)))
	}
	if v >= len(m.small) {
		m.pushNew(int64(v), sizeNumber)
		return
	}
	if m.small[v] == nil {
		m.small[v] = int64(v)
	}
	m.push(m.small[v])
}

// long pushes an integer of n bytes in two's complement.
func (m *machine) long(n uint64) {
	if n > 8 {
		m.fail("an integer of %d bytes is over 64 bits", n)
	}
	if n == 0 {
		m.push(int64(0))
		return
	}
	shift := 64 - 8*n
	m.pushNew(int64(m.uint(n)<<shift)>>shift, sizeNumber)
}

// str runs the opcodes of strings.
func (m *machine) str(op byte) bool {
	switch op {
	case 'U', 'C': // short str, short bytes
		m.pushNew(Bytes(m.take(m.uint(1))), sizeView)
	case 'T', 'B':
		m.pushNew(Bytes(m.take(m.uint(4))), sizeView)
	case 0x8e, 0x96: // bytes, bytearray
		m.pushNew(Bytes(m.take(m.uint(8))), sizeView)
	case 0x8c:
		m.text(m.uint(1))
	case 'X':
		m.text(m.uint(4))
	case 0x8d:
		m.text(m.uint(8))
	default:
		return false
	}
	return true
}

func (m *machine) text(n uint64) {
	b := m.take(n)
	if !utf8.Valid(b) {
		m.fail("text is not UTF-8")
	}
	m.pushNew(string(b), sizeText+len(b))
}

// container runs the opcodes of lists, tuples and dictionaries.
func (m *machine) container(op byte) bool {
	switch op {
	case '(':
		if len(m.marks) == MaxDepth {
			m.fail("values are nested deeper than %d", MaxDepth)
		}
		m.marks = append(m.marks, len(m.stack))
	case ']', 0x8f: // a list, a set
		m.pushNew(m.newList(), sizeList)
	case '}':
		m.pushNew(new(Dict), sizeDict)
	case ')':
		m.push(Tuple(nil))
	case 't':
		t := append(Tuple(nil), m.popMark()...)
		m.pushNew(t, sizeList+sizeValue*len(t))
	case 0x85, 0x86, 0x87:
		t := make(Tuple, int(op)-0x84)
		for i := len(t) - 1; i >= 0; i-- {
			t[i] = m.pop()
		}
		m.pushNew(t, sizeList+sizeValue*len(t))
	case 'a':
		m.extend(m.pop())
	case 'e', 0x90:
		m.extend(m.popMark()...)
	case 's':
		v := m.pop()
		m.set(m.pop(), v)
	case 'u':
		m.set(m.popMark()...)
	default:
		return false
	}
	return true
}

// name runs the opcodes of the memo, of names and of objects.
func (m *machine) name(op byte) bool {
	switch op {
	case 0x80:
		if v := m.take(1)[0]; v > 5 {
			m.fail("protocol %d is not supported, only 1 to 5", v)
		}
	case 0x95: // a frame: it only says how many bytes to read ahead
		if n := m.uint(8); n > uint64(len(m.in)-m.at) {
			m.fail("a frame of %d bytes where %d are left", n, len(m.in)-m.at)
		}
	case 'q':
		m.remember(uint32(m.uint(1)))
	case 'r':
		m.remember(uint32(m.uint(4)))
	case 0x94:
		m.remember(uint32(m.memo.n))
	case 'h':
		m.recall(m.uint(1))
	case 'j':
		m.recall(m.uint(4))
	case 'c':
		module := m.line()
		m.lookup(module, m.line())
	case 0x93:
		name, ok1 := short(m.pop())
		module, ok2 := short(m.pop())
		if !ok1 || !ok2 {
			m.fail("a name is not short text")
		}
		m.lookup(module, name)
	case 'R', 0x81:
		args, ok := m.pop().(Tuple)
		if !ok {
			m.fail("arguments are not a tuple")
		}
		v := m.call(m.pop(), args)
		m.pushNew(v, sizeOf(v))
	case 'Q':
		if !m.torch {
			return false
		}
		m.persistent()
	case 'b':
		state := m.pop()
		m.build(m.top(), state)
	default:
		return false
	}
	return true
}

// What the values of a pickle may take: a fixed amount, and so much for each byte of
// input. A neighbour in a list takes 16 bytes, of 2 to 5 bytes of input, and an
// integer that is kept by itself 8 more; a node with a list of its own takes some 80,
// of 7 at least. Strings and arrays are views.
const valuesPer = 12

var valuesLeast = 16 << 20 // tests set it

// What values take, in bytes.
const (
	sizeValue  = 16 // in a list, on the stack, or in the memo
	sizeNumber = 8  // beside the value, as all that follow
	sizeView   = 24 // of the input
	sizeText   = 16 // and its bytes
	sizeList   = 24 // and its elements; of a tuple the same
	sizeDict   = 48 // and its keys and values
	sizeOther  = 48 // of the memo's values, of one that is out of turn
	sizeObject = 160
)

// budget is how many bytes are left for values.
type budget struct{ of, left int }

func newBudget(input int) budget {
	n := valuesLeast + valuesPer*input
	return budget{n, n}
}

// spend takes bytes for a value that is made.
func (m *machine) spend(bytes int) {
	if m.budget.left -= bytes; m.budget.left < 0 {
		m.fail("its values take more than the %d bytes that those of a pickle of %d bytes may: no data does", m.budget.of, len(m.in))
	}
}

// push puts a value on the stack, whose memory is used again and again.
func (m *machine) push(v any) {
	if n := len(m.stack); n == cap(m.stack) {
		grown := max(64, n+n/2)
		m.spend(sizeValue * (grown - n))
		m.stack = append(make([]any, 0, grown), m.stack...)
	}
	m.stack = append(m.stack, v)
}

// sizeOf returns what an object takes.
func sizeOf(v any) int {
	switch v.(type) {
	case *Array, *CSR, *Tensor:
		return sizeObject
	case int64, float64:
		return sizeNumber
	}
	return sizeDict // the largest of what is left
}

// pushNew pushes a value that takes memory of its own.
func (m *machine) pushNew(v any, bytes int) {
	m.spend(bytes)
	m.push(v)
}

// memo is the values that have a number. Pickles number them from 0 up, so most
// are in a slice.
type memo struct {
	dense []any
	other map[uint32]any
	n     int // values that there are
}

// remember gives the value on the stack a number.
func (m *machine) remember(i uint32) {
	v, memo := m.top(), &m.memo
	if _, ok := memo.get(i); !ok {
		memo.n++
	}
	switch n := uint32(len(memo.dense)); {
	case i < n:
		memo.dense[i] = v
	case i == n:
		m.spend(sizeValue)
		memo.dense = append(memo.dense, v)
	default:
		m.spend(sizeOther)
		if memo.other == nil {
			memo.other = map[uint32]any{}
		}
		memo.other[i] = v
	}
}

// get returns the value of a number. One that is in both was put into other first.
func (m *memo) get(i uint32) (any, bool) {
	if i < uint32(len(m.dense)) {
		return m.dense[i], true
	}
	v, ok := m.other[i]
	return v, ok
}

// recall pushes the value of a number.
func (m *machine) recall(i uint64) {
	v, ok := m.memo.get(uint32(i))
	if !ok {
		m.fail("there is nothing in the memo at %d", i)
	}
	m.push(v)
}

// slab is how many elements, and lists, are allocated at once.
const slab = 256

// extend adds values to the list on the stack.
func (m *machine) extend(items ...any) {
	l, ok := m.top().(*List)
	if !ok {
		m.fail("%T is not a list", m.top())
	}
	m.spend(sizeValue * len(items))
	if l.Items == nil && len(items) < slab {
		if len(m.room) < len(items) {
			m.room = make([]any, slab)
		}
		l.Items, m.room = m.room[:0:len(items)], m.room[len(items):]
	}
	l.Items = append(l.Items, items...)
}

func (m *machine) newList() *List {
	if len(m.lists) == 0 {
		m.lists = make([]List, min(slab, 1+len(m.in)/16))
	}
	l := &m.lists[0]
	m.lists = m.lists[1:]
	return l
}

// set adds keys and values, alternating, to the dictionary on the stack.
func (m *machine) set(items ...any) {
	d, ok := m.top().(*Dict)
	if !ok || len(items)%2 != 0 {
		m.fail("%T does not take %d keys and values", m.top(), len(items))
	}
	m.spend(sizeValue * len(items))
	for i := 0; i < len(items); i += 2 {
		d.Keys, d.Values = append(d.Keys, items[i]), append(d.Values, items[i+1])
	}
}
