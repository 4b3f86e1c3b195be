package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/docs"
)

// layerTypes returns the types of this package that Init makes the Params of.
func layerTypes(t *testing.T) map[string]bool {
	return declared(t, ".go", func(f *ast.FuncDecl) string { return receiverOf(f, "Init") })
}

// receiverOf returns the exported type that a method of this name is one of, or "".
func receiverOf(f *ast.FuncDecl, method string) string {
	if f.Name.Name != method || f.Recv == nil {
		return ""
	}
	if p, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && ast.IsExported(p.X.(*ast.Ident).Name) {
		return p.X.(*ast.Ident).Name
	}
	return ""
}

// declared returns what name says of the functions of the files of this kind, tests being one of their own.
func declared(t *testing.T, kind string, name func(f *ast.FuncDecl) string) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("*" + kind)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range paths {
		if kind == ".go" && strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[name(f)] = true
			}
		}
	}
	delete(names, "")
	return names
}

// docs/models/layers.md has every layer, and no other; and what each one's sum ran as.
func TestCatalogue(t *testing.T) {
	page, err := docs.Guides.ReadFile("models/layers.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 6 {
			continue
		}
		for _, name := range regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllStringSubmatch(cells[0], -1) {
			rows[name[1]] = cells[len(cells)-1]
		}
	}
	types := layerTypes(t)
	for name := range types {
		if rows[name] == "" {
			t.Errorf("docs/models/layers.md has no row for %s", name)
		}
	}
	for name := range rows {
		if !types[name] {
			t.Errorf("docs/models/layers.md has a row for %s, which is no layer", name)
		}
	}
	for _, v := range variants() {
		name := typeName(v.layer)
		if !strings.Contains(rows[name], "`"+v.sums()+"`") {
			t.Errorf("docs/models/layers.md does not say that %s (%s) runs %s", name, v.name, v.sums())
		}
	}
}

// A convolution is compared with its loops in all its variants, shown by an example and named by the package's
// page, and every layer is tried by mistake.
func TestListed(t *testing.T) {
	listed, tried := map[string]bool{}, map[string]bool{}
	for _, v := range variants() {
		listed[typeName(v.layer)] = true
	}
	for _, m := range append(convolutions(), others()...) {
		tried[typeName(m.layer)] = true
	}
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := declared(t, "_test.go", func(f *ast.FuncDecl) string { return strings.TrimPrefix(f.Name.Name, "Example") })
	for name := range declared(t, ".go", func(f *ast.FuncDecl) string { return receiverOf(f, "Apply") }) {
		if name == "DropEdge" { // its Apply returns a graph
			continue
		}
		if !listed[name] {
			t.Errorf("%s has no variants: add one for each option to variants_test.go or variants_catalogue_test.go, and its loops to the oracle beside it", name)
		}
		if !examples[name] {
			t.Errorf("there is no Example%s", name)
		}
		if !strings.Contains(string(page), "["+name+"]") {
			t.Errorf("doc.go does not name %s", name)
		}
	}
	for name := range layerTypes(t) {
		if !tried[name] {
			t.Errorf("%s is not tried by mistake: add a line to convolutions or others in mistakes_test.go", name)
		}
	}
}

func typeName(layer any) string { return reflect.TypeOf(layer).Elem().Name() }
