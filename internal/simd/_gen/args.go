package main

import (
	"go/types"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// args is the struct that a kernel is given a pointer to. A field is found by its name,
// where the Go compiler puts it: one that is not there, or has another size than is asked
// for, stops the generator.
type args struct {
	p  reg.GPVirtual // where it is
	of string        // its type
}

// startOn begins a function whose first parameter p is a pointer to a struct of the
// package; others, if any, follow it.
func startOn(of, name, others, comment string) args {
	if others != "" {
		others = ", " + others
	}
	start(name, "func(p *"+of+others+")", comment)
	return argsIn(param("p"), of)
}

// structAt says which registers point to a struct, and of what type.
var structAt = map[reg.Register]string{}

// argsIn is the struct of a type that a register points to.
func argsIn(p reg.GPVirtual, of string) args {
	structAt[p] = of
	return args{p, of}
}

// field is where a field is in memory: of a slice its pointer, or its length where the
// name ends in .len.
func (a args) field(name string) Mem {
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
func (a args) sized(name string, bytes int64) Mem {
	f, _ := fieldOf(a.of, strings.TrimSuffix(name, ".len"))
	t := f.Type().Underlying()
	if s, ok := t.(*types.Slice); ok {
		t = types.NewPointer(s.Elem())
	}
	if n := gotypes.Sizes.Sizeof(t); n != bytes {
		fail("%s.%s has %d bytes and is read as %d", a.of, name, n, bytes)
	}
	return a.field(name)
}

// word loads a field of 64 bits.
func (a args) word(name string) reg.GPVirtual {
	r := GP64()
	MOVQ(a.sized(name, 8), r)
	return r
}

// everywhere loads a field of 32 bits into all lanes.
func (a args) everywhere(name string) vec {
	v := YMM()
	VBROADCASTSS(a.sized(name, 4), v)
	return v
}
