package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A user can call and fill in everything that a package exports: no exported
// signature names a type of internal/.
func TestSignatures(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dir, files := range pkgs {
		if !importable(dir) {
			continue
		}
		seen++
		for _, e := range unnameable(dir, files) {
			t.Error(e)
		}
	}
	if seen < 10 {
		t.Errorf("%d packages that a user may import were found, want at least 10", seen)
	}
}

// importable reports whether a user can import the package of a directory.
func importable(dir string) bool {
	parts := strings.Split(dir, "/")
	return !slices.Contains(parts, "internal") && parts[0] != "cmd" && path.Base(dir) != "gen"
}

// Every place where a signature can name a type must be looked at, so each has
// one here that no user can name.
func TestUnnameable(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"fine", "func F(x int) *kept.T { return nil }", ""},
		{"unexported function", "func f(x simd.T) {}", ""},
		{"body", "func F() { var x simd.T; _ = x }", ""},
		{"unexported field", "type T struct{ x simd.T }", ""},
		{"method of an unexported type", "type t int\nfunc (t) M(x simd.T) {}", ""},
		{"method of an unexported interface", "type T interface{ m(x simd.T) }", ""},
		{"parameter", "func F(x int, y *simd.T) {}", "F names simd.T"},
		{"result", "func F() (x []simd.T, err error) { return }", "F names simd.T"},
		{"type parameter", "func F[P simd.T]() {}", "F names simd.T"},
		{"function in a function", "func F(f func(map[string]chan simd.T)) {}", "F names simd.T"},
		{"method", "type T int\nfunc (t *T) M(x ...simd.T) {}", "T.M names simd.T"},
		{"generic method", "type T[P any] struct{}\nfunc (t *T[P]) M() (x [2]simd.T) { return }", "T.M names simd.T"},
		{"field", "type T struct{ X simd.T }", "T names simd.T"},
		{"embedded", "type T struct{ *simd.T }", "T names simd.T"},
		{"alias", "type T = simd.T", "T names simd.T"},
		{"definition", "type T simd.T", "T names simd.T"},
		{"interface", "type T interface{ M(x simd.T) }", "T names simd.T"},
		{"embedded interface", "type T interface{ simd.T }", "T names simd.T"},
		{"variable", "var X simd.T", "X names simd.T"},
		{"value", "var X = &simd.T{}", "X names simd.T"},
		{"constant", "const X = simd.T(1)", "X names simd.T"},
		{"renamed import", "func F(x other.T) {}", "F names other.T"},
		{"by an unexported name", "type t = simd.T\nfunc F(x *t) {}", "F names simd.T"},
		{"promoted field", "type t struct{ X simd.T }\ntype T struct{ t }", "T names simd.T"},
		{"promoted method", "type t struct{}\nfunc (t) M(x simd.T) {}\ntype T struct{ t }", "T names simd.T"},
	}
	head := "package p\n\nimport (\n\t\"" + module + "/internal/simd\"\n\tother \"" + module + "/grad/internal/deep\"\n\t\"" + module + "/kept\"\n)\n\n"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parse(token.NewFileSet(), "p.go", []byte(head+tt.src+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(unnameable("p", []source{f}), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// surface is a package's types and methods by the name of the type, which may be
// declared once for each build tag.
type surface struct {
	types   map[string][]declared[*ast.TypeSpec]
	methods map[string][]declared[*ast.FuncDecl]
}

// declared is a declaration and the file that it stands in.
type declared[T any] struct {
	at   T
	file source
}

// unnameable returns the exported declarations of a package that name a type of
// internal/, one sentence each.
func unnameable(dir string, files []source) []string {
	s := surface{map[string][]declared[*ast.TypeSpec]{}, map[string][]declared[*ast.FuncDecl]{}}
	for _, f := range files {
		for _, d := range f.ast.Decls {
			s.add(f, d)
		}
	}
	var out []string
	for _, f := range files {
		say := func(id *ast.Ident, name string, nodes ...ast.Node) {
			seen := map[string]bool{}
			for _, n := range nodes {
				if what := s.internal(f, n, seen); what != "" {
					out = append(out, fmt.Sprintf("%s/%s:%d: %s names %s, which no user can", dir, f.name, f.fset.Position(id.Pos()).Line, name, what))
					return
				}
			}
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
					say(d.Name, funcName(d), d.Type)
				}
			case *ast.GenDecl:
				exportedSpecs(d, say)
			}
		}
	}
	return out
}

// exportedSpecs calls say for each exported type, variable and constant of d with
// what its type is made of.
func exportedSpecs(d *ast.GenDecl, say func(id *ast.Ident, name string, nodes ...ast.Node)) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				say(spec.Name, spec.Name.Name, spec)
			}
		case *ast.ValueSpec:
			var nodes []ast.Node
			if spec.Type != nil {
				nodes = append(nodes, spec.Type)
			} else {
				for _, v := range spec.Values {
					nodes = append(nodes, v)
				}
			}
			if i := slices.IndexFunc(spec.Names, (*ast.Ident).IsExported); i >= 0 {
				say(spec.Names[i], spec.Names[i].Name, nodes...)
			}
		}
	}
}

// add notes the types and methods that d declares.
func (s *surface) add(f source, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			s.methods[receiver(d)] = append(s.methods[receiver(d)], declared[*ast.FuncDecl]{d, f})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok {
				s.types[spec.Name.Name] = append(s.types[spec.Name.Name], declared[*ast.TypeSpec]{spec, f})
			}
		}
	}
}

// internal returns the first type of internal/ that a user meets in n, or "".
// Unexported types of the package are entered: their exported fields and methods
// are met too. Exported ones are looked at where they stand.
func (s *surface) internal(f source, n ast.Node, seen map[string]bool) (found string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && found == "" && isInternal(f.ast, x.Name) {
				found = x.Name + "." + n.Sel.Name
			}
			return false
		case *ast.Field: // not the names of parameters
			found = first(found, s.internal(f, n.Type, seen))
			return false
		case *ast.StructType:
			found = first(found, s.met(f, n.Fields, seen))
			return false
		case *ast.InterfaceType:
			found = first(found, s.met(f, n.Methods, seen))
			return false
		case *ast.BlockStmt:
			return false
		case *ast.Ident:
			if !n.IsExported() && !seen[n.Name] {
				seen[n.Name] = true
				found = first(found, s.behind(n.Name, seen))
			}
		}
		return found == ""
	})
	return found
}

// met is internal of the fields of a struct, or the methods of an interface, that
// are exported or embedded.
func (s *surface) met(f source, fields *ast.FieldList, seen map[string]bool) (found string) {
	for _, field := range fields.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			found = first(found, s.internal(f, field.Type, seen))
		}
	}
	return found
}

// behind is internal of a type of the package and of its exported methods.
func (s *surface) behind(name string, seen map[string]bool) (found string) {
	for _, d := range s.types[name] {
		found = first(found, s.internal(d.file, d.at.Type, seen))
	}
	if len(s.types[name]) == 0 {
		return ""
	}
	for _, d := range s.methods[name] {
		if d.at.Name.IsExported() {
			found = first(found, s.internal(d.file, d.at.Type, seen))
		}
	}
	return found
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// isInternal reports whether name is what a file calls a package of internal/.
func isInternal(f *ast.File, name string) bool {
	return slices.ContainsFunc(f.Imports, func(imp *ast.ImportSpec) bool {
		at, err := strconv.Unquote(imp.Path.Value)
		called := path.Base(at)
		if imp.Name != nil {
			called = imp.Name.Name
		}
		return err == nil && called == name && slices.Contains(strings.Split(at, "/"), "internal")
	})
}
