package main

import (
	"regexp"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop is a kernel over n elements of several arrays, eight at a time, with
// narrower moves for the last few.
type loop struct {
	unroll int
	ptr    map[string]reg.Register
	i, n   reg.GPVirtual
	mask   reg.VecVirtual // in the tail only
	u      int            // which of the unrolled steps
	odd    reg.VecVirtual // set where an element of the block is odd
	later  []func()       // what is written behind the function's end
}

// newLoop loads the parameters: the named pointers, and n.
func newLoop(unroll int, pointers ...string) *loop {
	l := &loop{unroll: unroll, ptr: map[string]reg.Register{}, i: GP64()}
	for _, p := range pointers {
		l.ptr[p] = Load(Param(p), GP64())
	}
	l.n = param("n")
	XORQ(l.i, l.i)
	return l
}

func (l *loop) at(p string) Mem {
	return Mem{Base: l.ptr[p], Index: l.i, Scale: 4, Disp: 4 * lanes * l.u}
}

// load returns the next elements of p.
func (l *loop) load(p string) reg.VecVirtual {
	v := YMM()
	if l.mask != nil {
		VMASKMOVPS(l.at(p), l.mask, v)
	} else {
		VMOVUPS(l.at(p), v)
	}
	return made(v)
}

// operand is the next elements of p, for the last operand of one instruction.
func (l *loop) operand(p string) Op {
	if l.mask != nil {
		return l.load(p)
	}
	return l.at(p)
}

// store puts v, which is lost, at the next elements of p.
func (l *loop) store(v reg.VecVirtual, p string) {
	if l.mask != nil {
		storeFirst(v, l.n, l.at(p))
	} else {
		VMOVUPS(v, l.at(p))
	}
}

// stream is store past the caches, at an aligned place.
func (l *loop) stream(v reg.VecVirtual, p string) {
	if l.mask != nil {
		l.store(v, p)
	} else {
		VMOVNTPS(v, l.at(p))
	}
}

// run writes the loop around body, and goes on after the last element. The
// instructions of unrolled steps take turns, so that none waits for the one
// before it.
func (l *loop) run(body func()) {
	l.each(func(times int) { weave(times, func(u int) { l.u = u }, body) })
}

// each writes the loop around what block writes for some steps at once.
func (l *loop) each(block func(times int)) {
	if l.unroll > 1 {
		l.steps(l.unroll, block)
	}
	l.steps(1, block)
	end := fresh("end")
	TESTQ(l.n, l.n)
	JZ(LabelRef(end))
	l.mask = maskOf(l.n)
	block(1)
	l.mask = nil
	Label(end)
}

// steps writes the loop for as long as there are times registers' elements.
func (l *loop) steps(times int, block func(times int)) {
	over, again := fresh("over"), fresh("again")
	SUBQ(Imm(uint64(times*lanes)), l.n)
	JL(LabelRef(over))
	Label(again)
	block(times)
	l.u = 0
	ADDQ(Imm(uint64(times*lanes)), l.i)
	SUBQ(Imm(uint64(times*lanes)), l.n)
	JGE(LabelRef(again))
	Label(over)
	ADDQ(Imm(uint64(times*lanes)), l.n)
}

// finish writes what was put off, and the function's end.
func (l *loop) finish() {
	finish()
	for _, write := range l.later {
		write()
	}
}

// value is what a step stores: v or, of the elements that are odd, what rare
// writes. A nil rare is for nothing.
type value struct {
	v    vec
	rare func() (v, odd vec)
}

// mark notes that an element of the block may be odd.
func (l *loop) mark(odd vec) {
	if l.odd == nil {
		l.odd = odd
		return
	}
	VORPS(odd, l.odd, l.odd)
	pass()
}

// put writes the loop that stores a value at the next elements of p. Where any
// element of some steps is odd, which is seldom, a detour replaces it.
func (l *loop) put(p string, step func() value) {
	l.each(func(times int) {
		vs := make([]value, times)
		l.odd = nil
		weave(times, func(u int) { l.u = u }, func() { u := l.u; vs[u] = step() })
		if l.odd != nil {
			l.detour(vs)
		}
		for u, v := range vs {
			l.u = u
			l.store(v.v, p)
		}
	})
}

// detour jumps out of the loop if an element is odd, and back.
func (l *loop) detour(vs []value) {
	rare, back, bits := fresh("rare"), fresh("back"), GP32()
	VMOVMSKPS(l.odd, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(rare))
	Label(back)
	mask := l.mask
	l.later = append(l.later, func() {
		Label(rare)
		was := l.mask
		l.mask = mask
		for u, v := range vs {
			l.u = u
			other, odd := v.rare()
			VBLENDVPS(odd, other, v.v, v.v)
		}
		l.mask, l.u = was, 0
		JMP(LabelRef(back))
	})
}

var pointers = regexp.MustCompile(`\*\w+`)

// start begins a function. Its parameters may be pointers to structs of the package,
// which avo does not know: it is told of bytes, and the signature is put right by point.
func start(name, signature, comment string) {
	pointed[name] = signature
	TEXT(name, NOSPLIT, pointers.ReplaceAllStringFunc(signature, func(p string) string {
		if room.Scope().Lookup(p[1:]) != nil {
			return "*byte"
		}
		return p
	}))
	Doc(comment)
	Pragma("noescape")
}

// finish ends one.
func finish() {
	VZEROUPPER()
	RET()
}

// param loads an integer or a pointer.
func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// broadcast loads a float32 parameter into all lanes.
func broadcast(name string) reg.VecVirtual {
	x, v := XMM(), YMM()
	Load(Param(name), x)
	VBROADCASTSS(x, v)
	return v
}
