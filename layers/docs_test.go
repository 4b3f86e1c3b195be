package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/docs"
)

// layerTypes returns the types of this package that Init makes the Params of.
func layerTypes(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Init" && f.Recv != nil {
				types[f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name] = true
			}
		}
	}
	return types
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
		name := reflect.TypeOf(v.layer).Elem().Name()
		if !strings.Contains(rows[name], "`"+v.sums()+"`") {
			t.Errorf("docs/models/layers.md does not say that %s (%s) runs %s", name, v.name, v.sums())
		}
	}
}
