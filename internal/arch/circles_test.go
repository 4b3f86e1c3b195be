package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The budgets of a room: a package that has more files than can be seen at once, or in which more of them need each other
// than can be understood one after the other, is several packages.
const (
	maxFiles  = 30
	maxCircle = 15
)

// lists are packages whose files stand side by side, a layer, a kernel, a form or an operation each. They may have any number of them.
var lists = strings.Fields("layers layers/attention internal/simd/vec internal/simd/attend datasets/form message/internal/ops")

// room is the size of a package: its files that are no tests, and those of the largest circle.
type room struct{ files, circle int }

// tooLarge are the packages beyond the budgets, as they are; 0 is within one. A value may only fall: what grows is an
// error, and so is a value that is larger than what is true. go test ./internal/arch -run Circles -v prints all packages.
var tooLarge = map[string]room{}

func TestCircles(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(pkgs)) {
		is, of := room{len(pkgs[dir]), 0}, []string(nil)
		for _, other := range []string{"_amd64.go", "_four.go"} { // kernels of one processor, which are in no build with another's
			of = largest([][]string{of, largestCircle(without(pkgs[dir], other))})
		}
		is.circle = len(of)
		lines := 0
		for _, f := range pkgs[dir] {
			lines += f.lines
		}
		t.Logf("%-40s %3d files, largest circle %2d, %5d lines", dir, is.files, is.circle, lines)
		if e := beyond(dir, is, tooLarge[dir]); e != "" {
			t.Errorf("%s\nthe circle is %s", e, strings.Join(of, " "))
		}
	}
	for dir := range tooLarge {
		if pkgs[dir] == nil {
			t.Errorf("%s is in the table of rooms that are too large, and is no package: take it out", dir)
		}
	}
}

// without returns the files whose names do not end so.
func without(files []source, suffix string) []source {
	return slices.DeleteFunc(slices.Clone(files), func(f source) bool { return strings.HasSuffix(f.name, suffix) })
}

// beyond returns what is wrong with the size of a package, of which the table says known.
func beyond(dir string, is, known room) string {
	files, circle := max(maxFiles, known.files), max(maxCircle, known.circle)
	if slices.Contains(lists, dir) {
		files = max(files, is.files)
	}
	wants := func(is, most int) int {
		if is > most {
			return is
		}
		return 0
	}
	least := room{wants(is.files, maxFiles), wants(is.circle, maxCircle)}
	if slices.Contains(lists, dir) {
		least.files = 0
	}
	switch {
	case is.files > files:
		return fmt.Sprintf("%s has %d files, more than %d: make a package of some", dir, is.files, files)
	case is.circle > circle:
		return fmt.Sprintf("in %s %d files need each other, more than %d: let some of them not know the others", dir, is.circle, circle)
	case known != least:
		return fmt.Sprintf("%s is smaller than the table of rooms says: write room{%d, %d}, or take it out if both are 0", dir, least.files, least.circle)
	}
	return ""
}

// largestCircle returns the files of the largest set of which each needs each other one, perhaps by way of others: it uses a
// name that is declared at the top of another file. Of several equal ones it is any.
func largestCircle(files []source) []string {
	declared := map[string][]int{} // in which files; a name may have one for each build
	for i, f := range files {
		for _, name := range declaredIn(f.ast) {
			declared[name] = append(declared[name], i)
		}
	}
	uses := make([][]int, len(files))
	for i, f := range files {
		for name := range usedIn(f.ast) {
			for _, k := range declared[name] {
				if k != i && !slices.Contains(declared[name], i) && !slices.Contains(uses[i], k) {
					uses[i] = append(uses[i], k)
				}
			}
		}
	}
	var names []string
	for _, i := range largest(circles(uses)) {
		names = append(names, files[i].name)
	}
	slices.Sort(names)
	return names
}

func largest[T any](sets [][]T) (out []T) {
	for _, s := range sets {
		if len(s) > len(out) {
			out = s
		}
	}
	return out
}

// circles returns the strongly connected sets of a graph, by Tarjan's algorithm.
func circles(uses [][]int) (sets [][]int) {
	number, low := make([]int, len(uses)), make([]int, len(uses))
	var stack []int
	next := 0
	var visit func(v int)
	visit = func(v int) {
		next++
		number[v], low[v] = next, next
		stack = append(stack, v)
		for _, w := range uses[v] {
			if number[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], number[w])
			}
		}
		if low[v] == number[v] {
			at := slices.Index(stack, v)
			sets = append(sets, slices.Clone(stack[at:]))
			stack = stack[:at]
		}
	}
	for v := range uses {
		if number[v] == 0 {
			visit(v)
		}
	}
	return sets
}

// declaredIn returns the names that a file declares at its top, methods not among them.
func declaredIn(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// usedIn returns the names that a file uses and does not declare where they stand: neither what follows a dot, nor fields
// and methods, nor what a function calls its own.
func usedIn(f *ast.File) map[string]bool {
	used := map[string]bool{}
	for _, d := range f.Decls {
		own, here := map[string]bool{}, map[string]bool{}
		list := func(fields *ast.FieldList) {
			if fields != nil {
				for _, field := range fields.List {
					for _, id := range field.Names {
						own[id.Name] = true
					}
				}
			}
		}
		var walk func(ast.Node)
		walk = func(n ast.Node) {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					walk(n.X)
					return false
				case *ast.StructType:
					for _, field := range n.Fields.List {
						walk(field.Type)
					}
					return false
				case *ast.InterfaceType:
					for _, field := range n.Methods.List {
						walk(field.Type)
					}
					return false
				case *ast.CompositeLit:
					if n.Type != nil {
						walk(n.Type)
					}
					_, keyed := n.Type.(*ast.MapType)
					if _, array := n.Type.(*ast.ArrayType); array {
						keyed = true
					}
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							if _, field := kv.Key.(*ast.Ident); !field || keyed {
								walk(kv.Key)
							}
							walk(kv.Value)
						} else {
							walk(e)
						}
					}
					return false
				case *ast.FuncType:
					list(n.TypeParams)
					list(n.Params)
					list(n.Results)
				case *ast.AssignStmt:
					if n.Tok == token.DEFINE {
						for _, e := range n.Lhs {
							if id, ok := e.(*ast.Ident); ok {
								own[id.Name] = true
							}
						}
					}
				case *ast.RangeStmt:
					for _, e := range []ast.Expr{n.Key, n.Value} {
						if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
							own[id.Name] = true
						}
					}
				case *ast.DeclStmt:
					for _, s := range n.Decl.(*ast.GenDecl).Specs {
						switch s := s.(type) {
						case *ast.ValueSpec:
							for _, id := range s.Names {
								own[id.Name] = true
							}
						case *ast.TypeSpec:
							own[s.Name.Name] = true
						}
					}
				case *ast.Ident:
					here[n.Name] = true
				}
				return true
			})
		}
		if fn, ok := d.(*ast.FuncDecl); ok {
			if fn.Recv != nil {
				list(fn.Recv)
				walk(fn.Recv)
			}
			walk(fn.Type)
			if fn.Body != nil {
				walk(fn.Body)
			}
		} else {
			walk(d)
		}
		for name := range here {
			if !own[name] {
				used[name] = true
			}
		}
	}
	return used
}

// The test must be able to fail: a circle is found whatever leads round it, and shadowed names, fields and methods lead nowhere.
func TestLargestCircle(t *testing.T) {
	for want, files := range map[string][]string{
		"a b c": {"func A() { B() }", "func B() C { return C{} }", "type C struct{ f func() }; var _ = A", "func D() { A() }"},
		"a b":   {"const A = B", "var B = func() int { return A }()"},
		"b":     {"func A() { B() }", "func B(A int) { A++ }"},
		"b c":   {"type T struct{ B int }; func (T) C() {}", "func B(t T) { C(t) }", "func C(t T) { B(t); t.C() }"},
		"a ":    {"type A struct{ B int }; var x = A{B: 1}", "func B() A { return A{} }"},
	} {
		var sources []source
		for i, src := range files {
			f, err := parse(token.NewFileSet(), string(rune('a'+i)), []byte("package p\n"+src))
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, f)
		}
		if got := strings.Join(largestCircle(sources), " "); got != strings.TrimSpace(want) {
			t.Errorf("%q: the circle is %s, want %s", files, got, want)
		}
	}
	for want, c := range map[string]struct{ is, known room }{
		"":                       {room{30, 15}, room{}},
		"p has 31 files, more":   {room{31, 1}, room{}},
		"p has 41 files, more":   {room{41, 1}, room{40, 0}},
		"in p 16 files need":     {room{20, 16}, room{}},
		"in p 22 files need":     {room{40, 22}, room{40, 21}},
		"p is smaller than the":  {room{39, 1}, room{40, 0}},
		"p is smaller than the ": {room{10, 1}, room{0, 16}},
	} {
		if got := beyond("p", c.is, c.known); !strings.HasPrefix(got, strings.TrimSpace(want)) || want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
