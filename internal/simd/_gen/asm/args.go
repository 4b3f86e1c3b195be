package asm

import (
	"go/types"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Args is the struct that a kernel is given a pointer to. A field is found by its name,
// where the Go compiler puts it: one that is not there, or has another size than is asked
// for, stops the generator.
type Args struct {
	p  reg.GPVirtual // where it is
	of string        // its type
}

// StartOn begins a function whose first parameter p is a pointer to a struct of the
// package; others, if any, follow it.
func StartOn(of, name, others, comment string) Args {
	if others != "" {
		others = ", " + others
	}
	Start(name, "func(p *"+of+others+")", comment)
	return ArgsIn(Arg("p"), of)
}

// structAt says which registers point to a struct, and of what type.
var structAt = map[reg.Register]string{}

// ArgsIn is the struct of a type that a register points to.
func ArgsIn(p reg.GPVirtual, of string) Args {
	structAt[p] = of
	return Args{p, of}
}

// Field is where a field is in memory: of a slice its pointer, or its length where the
// name ends in .len.
func (a Args) Field(name string) Mem {
	name, isLen := strings.CutSuffix(name, ".len")
	f, at := fieldOf(a.of, name)
	if isLen {
		if _, ok := f.Type().Underlying().(*types.Slice); !ok {
			fail("%s.%s is no slice", a.of, name)
		}
		at += int(gotypes.PointerSize)
	}
	return Mem{Base: a.p, Disp: at}
}

// sized is field of one that has so many bytes, or is a slice whose pointer has.
func (a Args) sized(name string, bytes int64) Mem {
	f, _ := fieldOf(a.of, strings.TrimSuffix(name, ".len"))
	t := f.Type().Underlying()
	if s, ok := t.(*types.Slice); ok {
		t = types.NewPointer(s.Elem())
	}
	if n := gotypes.Sizes.Sizeof(t); n != bytes {
		fail("%s.%s has %d bytes and is read as %d", a.of, name, n, bytes)
	}
	return a.Field(name)
}

// Word loads a field of 64 bits.
func (a Args) Word(name string) reg.GPVirtual {
	r := GP64()
	MOVQ(a.sized(name, 8), r)
	return r
}

// Everywhere loads a field of 32 bits into all lanes.
func (a Args) Everywhere(name string) Vec {
	v := YMM()
	VBROADCASTSS(a.sized(name, 4), v)
	return v
}

// Rows writes a loop over the rows that Offsets bound; body is given the first edge and the end,
// which it may change.
func (a Args) Rows(body func(k, end reg.GPVirtual)) {
	row, done := Fresh("row"), Fresh("done")
	offs, n := a.Word("Offsets"), a.Word("Offsets.len")
	DECQ(n)
	JLE(LabelRef(done))
	Label(row)
	k, end := GP64(), GP64()
	MOVQ(Mem{Base: offs}, k)
	MOVQ(Mem{Base: offs, Disp: 8}, end)
	body(k, end)
	ADDQ(Imm(8), offs)
	DECQ(n)
	JNZ(LabelRef(row))
	Label(done)
}
