package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table Where to look of docs/inside/messages.md names files and functions. A stranger goes by it, so each
// is there.
func TestWhereToLook(t *testing.T) {
	text, err := os.ReadFile("inside/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Where to look\n")
	table, _, _ = strings.Cut(table, "\n### ")
	declared := declarations(t, "../datasets", "../models", "../message", "../internal/fused", "../internal/simd/attend", "../internal/simd/spmm", "../grad")
	names := regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(table, -1)
	if len(names) < 30 {
		t.Errorf("the table has %d names, where it had 40", len(names))
	}
	for _, m := range names {
		name := m[1]
		if !strings.HasSuffix(name, ".go") && !strings.Contains(name, "/") {
			if at := strings.LastIndexByte(name, '.'); !declared[name[at+1:]] {
				t.Errorf("the table sends to %s, which is nowhere declared", name)
			}
			continue
		}
		_, inside := os.Stat(filepath.Join("../message/internal", name))
		if _, err := os.Stat(filepath.Join("..", name)); err != nil && inside != nil {
			t.Errorf("the table sends to %s, which is not there", name)
		}
	}
}

// declarations returns the names of functions, methods, types, variables and constants in
// the folders and those below them.
func declarations(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	add := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
		return nil
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, add); err != nil {
			t.Fatal(err)
		}
	}
	return names
}
