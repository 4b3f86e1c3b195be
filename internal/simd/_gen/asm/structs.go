package asm

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"os"
	"strings"

	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// room is the package whose kernels are written, as far as its structs need it.
var room *types.Package

// LoadStructs reads the package in a directory. Errors of types are passed over, since
// its Go code may call kernels that are not there yet; a struct that cannot be read fails
// where a kernel asks for its fields.
func LoadStructs(dir string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil { // whose module is the one to look in
		return err
	}
	list, err := build.ImportDir(".", 0)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range list.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if f == nil {
			return err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(error) {}}
	room, _ = conf.Check(list.Name, fset, files, nil)
	return os.Chdir(here)
}

// fieldOf returns a field of a struct of the room, and where it is.
func fieldOf(structure, name string) (field *types.Var, offset int) {
	o := room.Scope().Lookup(structure)
	if o == nil {
		fail("there is no %s in package %s", structure, room.Name())
	}
	s, ok := o.Type().Underlying().(*types.Struct)
	if !ok {
		fail("%s is no struct", structure)
	}
	var fields []*types.Var
	for f := range s.Fields() {
		fields = append(fields, f)
		if f.Name() == name {
			at := gotypes.Sizes.Offsetsof(fields)
			return f, int(at[len(at)-1])
		}
	}
	fail("%s has no field %s", structure, name)
	return nil, 0
}

// ConstantOf returns a constant of the room, a whole number.
func ConstantOf(name string) int {
	n := NumberOf(name)
	if n != math.Trunc(n) {
		fail("%s.%s is no whole number", room.Name(), name)
	}
	return int(n)
}

// NumberOf returns a constant of the room.
func NumberOf(name string) float64 {
	c, ok := room.Scope().Lookup(name).(*types.Const)
	if !ok {
		fail("there is no constant %s in package %s", name, room.Name())
	}
	n, _ := constant.Float64Val(constant.ToFloat(c.Val()))
	return n
}

// pointed are the signatures of functions, with the names of structs, by their names.
var pointed = map[string]string{}

// point gives a function the signature with the structs' names. Avo itself would read them
// from the package only where that is complete.
func point(f *ir.Function) error {
	expr, ok := pointed[f.Name]
	if !ok {
		return nil
	}
	s, err := gotypes.ParseSignatureInPackage(room, expr)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	f.SetSignature(s)
	return nil
}

// checkFields refuses a kernel of which an instruction reads or writes at a place in its
// struct where there is no field of the size that the instruction has.
func checkFields(f *ir.Function) error {
	for _, i := range f.Instructions() {
		for _, op := range i.Operands {
			m, ok := op.(Mem)
			if !ok || m.Base == nil || m.Index != nil || structAt[m.Base] == "" {
				continue
			}
			if of, n := structAt[m.Base], bytesOf(i); !hasField(of, m.Disp, n) {
				return fmt.Errorf("%s: %s takes %d bytes at %d of %s, where no field has them", f.Name, i.Opcode, n, m.Disp, of)
			}
		}
	}
	return nil
}

// bytesOf returns how many bytes of memory an instruction takes; 1 of one that only makes
// an address.
func bytesOf(i *ir.Instruction) int {
	switch o := i.Opcode; {
	case o == "LEAQ" || o == "CMPB":
		return 1
	case o == "VBROADCASTSS" || o == "VPBROADCASTD":
		return 4
	case o[0] == 'V':
		for _, r := range i.Registers() {
			if r.Kind() == reg.KindVector {
				return int(r.Size())
			}
		}
		return 0
	case strings.HasPrefix(o, "CMOVQ") || o == "IMUL3Q" || o[len(o)-1] == 'Q':
		return 8
	case o[len(o)-1] == 'L':
		return 4
	}
	return 0
}

// hasField reports whether a struct has a field at an offset of which n bytes can be
// taken: all of it, the pointer or the length of a slice, elements of an array, or the low
// half of an integer.
func hasField(of string, at, n int) bool {
	s := room.Scope().Lookup(of).Type().Underlying().(*types.Struct)
	var fields []*types.Var
	for f := range s.Fields() {
		fields = append(fields, f)
	}
	for i, start := range gotypes.Sizes.Offsetsof(fields) {
		t, in := fields[i].Type().Underlying(), at-int(start)
		size := int(gotypes.Sizes.Sizeof(t))
		if in < 0 || in >= size || n == 0 {
			continue
		}
		switch t := t.(type) {
		case *types.Slice:
			return n == 8 && (in == 0 || in == 8)
		case *types.Array:
			element := int(gotypes.Sizes.Sizeof(t.Elem()))
			return in%element == 0 && (n == 1 || n%element == 0) && in+n <= size
		case *types.Basic:
			return in == 0 && (n == size || n == 1 || n == 4 && size == 8 && t.Info()&types.IsInteger != 0)
		default:
			return in == 0 && n == size
		}
	}
	return false
}

// fail ends the generator, since what it was told to write cannot be right.
func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "_gen: "+format+"\n", values...)
	os.Exit(1)
}
