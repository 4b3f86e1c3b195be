package asm

import (
	"regexp"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Loop is a kernel over n elements of several arrays, eight at a time, with
// narrower moves for the last few.
type Loop struct {
	unroll int
	Ptr    map[string]reg.Register
	I, N   reg.GPVirtual
	Mask   reg.VecVirtual // in the tail only
	U      int            // which of the unrolled steps
	odd    reg.VecVirtual // set where an element of the block is odd
	later  []func()       // what is written behind the function's end
}

// NewLoop loads the parameters: the named pointers, and n.
func NewLoop(unroll int, pointers ...string) *Loop {
	l := &Loop{unroll: unroll, Ptr: map[string]reg.Register{}, I: GP64()}
	for _, p := range pointers {
		l.Ptr[p] = Load(Param(p), GP64())
	}
	l.N = Arg("n")
	XORQ(l.I, l.I)
	return l
}

func (l *Loop) At(p string) Mem {
	return Mem{Base: l.Ptr[p], Index: l.I, Scale: 4, Disp: 4 * Lanes * l.U}
}

// Load returns the next elements of p.
func (l *Loop) Load(p string) reg.VecVirtual {
	v := YMM()
	if l.Mask != nil {
		VMASKMOVPS(l.At(p), l.Mask, v)
	} else {
		VMOVUPS(l.At(p), v)
	}
	return Made(v)
}

// Operand is the next elements of p, for the last operand of one instruction.
func (l *Loop) Operand(p string) Op {
	if l.Mask != nil {
		return l.Load(p)
	}
	return l.At(p)
}

// Store puts v, which is lost, at the next elements of p.
func (l *Loop) Store(v reg.VecVirtual, p string) {
	if l.Mask != nil {
		StoreFirst(v, l.N, l.At(p))
	} else {
		VMOVUPS(v, l.At(p))
	}
}

// Stream is store past the caches, at an aligned place.
func (l *Loop) Stream(v reg.VecVirtual, p string) {
	if l.Mask != nil {
		l.Store(v, p)
	} else {
		VMOVNTPS(v, l.At(p))
	}
}

// Run writes the loop around body, and goes on after the last element. The
// instructions of unrolled steps take turns, so that none waits for the one
// before it.
func (l *Loop) Run(body func()) {
	l.Each(func(times int) { Interleave(times, func(u int) { l.U = u }, body) })
}

// Each writes the loop around what block writes for some steps at once.
func (l *Loop) Each(block func(times int)) {
	if l.unroll > 1 {
		l.steps(l.unroll, block)
	}
	l.steps(1, block)
	end := Fresh("end")
	TESTQ(l.N, l.N)
	JZ(LabelRef(end))
	l.Mask = MaskOf(l.N)
	block(1)
	l.Mask = nil
	Label(end)
}

// steps writes the loop for as long as there are times registers' elements.
func (l *Loop) steps(times int, block func(times int)) {
	over, again := Fresh("over"), Fresh("again")
	SUBQ(Imm(uint64(times*Lanes)), l.N)
	JL(LabelRef(over))
	Label(again)
	block(times)
	l.U = 0
	ADDQ(Imm(uint64(times*Lanes)), l.I)
	SUBQ(Imm(uint64(times*Lanes)), l.N)
	JGE(LabelRef(again))
	Label(over)
	ADDQ(Imm(uint64(times*Lanes)), l.N)
}

// Finish writes what was put off, and the function's end.
func (l *Loop) Finish() {
	Finish()
	for _, write := range l.later {
		write()
	}
}

// Value is what a step stores: v or, of the elements that are odd, what rare
// writes. A nil rare is for nothing.
type Value struct {
	V    Vec
	Rare func() (v, odd Vec)
}

// Mark notes that an element of the block may be odd.
func (l *Loop) Mark(odd Vec) {
	if l.odd == nil {
		l.odd = odd
		return
	}
	VORPS(odd, l.odd, l.odd)
	turn()
}

// Put writes the loop that stores a value at the next elements of p. Where any
// element of some steps is odd, which is seldom, a detour replaces it.
func (l *Loop) Put(p string, step func() Value) {
	l.Each(func(times int) {
		vs := make([]Value, times)
		l.odd = nil
		Interleave(times, func(u int) { l.U = u }, func() { u := l.U; vs[u] = step() })
		if l.odd != nil {
			l.detour(vs)
		}
		for u, v := range vs {
			l.U = u
			l.Store(v.V, p)
		}
	})
}

// detour jumps out of the loop if an element is odd, and back.
func (l *Loop) detour(vs []Value) {
	rare, back, bits := Fresh("rare"), Fresh("back"), GP32()
	VMOVMSKPS(l.odd, bits)
	TESTL(bits, bits)
	JNZ(LabelRef(rare))
	Label(back)
	mask := l.Mask
	l.later = append(l.later, func() {
		Label(rare)
		was := l.Mask
		l.Mask = mask
		for u, v := range vs {
			l.U = u
			other, odd := v.Rare()
			VBLENDVPS(odd, other, v.V, v.V)
		}
		l.Mask, l.U = was, 0
		JMP(LabelRef(back))
	})
}

var pointers = regexp.MustCompile(`\*\w+`)

// Start begins a function. Its parameters may be pointers to structs of the package,
// which avo does not know: it is told of bytes, and the signature is put right by point.
func Start(name, signature, comment string) {
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

// Finish ends one.
func Finish() {
	VZEROUPPER()
	RET()
}

// Arg loads an integer or a pointer.
func Arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// Broadcast loads a float32 parameter into all lanes, by one instruction: a MOVSS between
// two of AVX waits for the upper halves that the first has written, some hundred cycles.
func Broadcast(name string) reg.VecVirtual {
	at, err := Param(name).Resolve()
	if err != nil {
		fail("%v", err)
	}
	v := YMM()
	VBROADCASTSS(at.Addr, v)
	return v
}
