package main

import (
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
}

// newLoop loads the parameters: the named pointers, and n.
func newLoop(unroll int, pointers ...string) *loop {
	l := &loop{unroll: unroll, ptr: map[string]reg.Register{}, i: GP64()}
	for _, p := range pointers {
		l.ptr[p] = Load(Param(p), GP64())
	}
	l.n = Load(Param("n"), GP64()).(reg.GPVirtual)
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
	return v
}

// store puts v, which is lost, at the next elements of p.
func (l *loop) store(v reg.VecVirtual, p string) {
	if l.mask != nil {
		storeFirst(v, l.n, l.at(p))
	} else {
		VMOVUPS(v, l.at(p))
	}
}

// run writes the loop around body, and goes on after the last element.
func (l *loop) run(body func()) {
	if l.unroll > 1 {
		l.steps(l.unroll, body)
	}
	l.steps(1, body)
	end := fresh("end")
	TESTQ(l.n, l.n)
	JZ(LabelRef(end))
	l.mask = maskOf(l.n)
	body()
	l.mask = nil
	Label(end)
}

// steps writes the loop for as long as there are times registers' elements.
func (l *loop) steps(times int, body func()) {
	over, again := fresh("over"), fresh("again")
	SUBQ(Imm(uint64(times*lanes)), l.n)
	JL(LabelRef(over))
	Label(again)
	for l.u = range times {
		body()
	}
	l.u = 0
	ADDQ(Imm(uint64(times*lanes)), l.i)
	SUBQ(Imm(uint64(times*lanes)), l.n)
	JGE(LabelRef(again))
	Label(over)
	ADDQ(Imm(uint64(times*lanes)), l.n)
}

// start begins a function.
func start(name, signature, comment string) {
	TEXT(name, NOSPLIT, signature)
	Doc(comment)
	Pragma("noescape")
}

// finish ends one.
func finish() {
	VZEROUPPER()
	RET()
}

// broadcast loads a float32 parameter into all lanes.
func broadcast(param string) reg.VecVirtual {
	x, v := XMM(), YMM()
	Load(Param(param), x)
	VBROADCASTSS(x, v)
	return v
}
