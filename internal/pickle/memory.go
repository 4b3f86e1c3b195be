package pickle

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
