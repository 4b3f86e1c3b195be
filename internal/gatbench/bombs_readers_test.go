package gatbench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exportedReaders are what packages datasets and datasets/text read files with, and the reader
// of bombs that calls each; one that another reads by is called through that.
var exportedReaders = map[string]string{
	"datasets.Load": "dataset", "datasets.LoadAs": "dataset", "datasets.Open": "dataset",
	"datasets.LoadGraphs": "graphs", "datasets.LoadGraphsAs": "graphs", "datasets.OpenGraphs": "graphs",
	"datasets.LoadGraph": "graph", "datasets.LoadMatrix": "matrix", "datasets.LoadSplit": "split", "datasets.LoadSplits": "split",
	"datasets.LoadInteractions": "shop", "datasets.HoldsInteractions": "is a shop", "datasets.LoadKnowledge": "triples",
	"text.LoadLines": "lines", "text.LoadParallel": "lines", "text.LoadCSV": "texts", "text.LoadTagged": "tagged", "text.LoadTrees": "trees",
	"text.LoadCoNLL2000": "conll", "text.LoadSST": "sst", "text.LoadTREC": "trec", "text.LoadBAbI": "babi", "text.LoadQuestions": "questions", "text.LoadLabelled": "labelled", "text.LoadSorted": "sorted",
	"text.LoadMulti30k": "multi30k", "text.LoadNames": "names", "text.Load": "stored",
	// These look at names alone, or write.
	"datasets.Find": "none", "datasets.FindGraphs": "none", "datasets.Files": "none", "text.Find": "none", "text.Save": "none",
}

// Every reader that packages datasets and datasets/text export is one that bombs know, each of
// which has a line in the table; and every line has a reader.
func TestBombOfEachReader(t *testing.T) {
	met := map[string]bool{"none": true}
	for _, b := range allBombs() {
		met[b.reader] = true
		if bombReaders[b.reader] == nil {
			t.Errorf("%s: there is no reader %s", b.name, b.reader)
		}
	}
	for name := range bombReaders {
		if !met[name] {
			t.Errorf("nothing is read as %s", name)
		}
	}
	found := map[string]bool{}
	for _, dir := range []string{"datasets", "datasets/text"} {
		for _, name := range functionsOfPaths(t, filepath.Join("..", "..", filepath.FromSlash(dir))) {
			name = path.Base(dir) + "." + name
			found[name] = true
			if by, ok := exportedReaders[name]; !ok || bombReaders[by] == nil {
				t.Errorf("%s takes a path, and no bomb is read by it: let a line of bombReaders call it, and say in exportedReaders which", name)
			}
		}
	}
	for name := range exportedReaders {
		if !found[name] {
			t.Errorf("%s takes no path, or is gone", name)
		}
	}
}

// pathNames are what parameters are called that say where a file is.
var pathNames = []string{"path", "dir", "dataDir", "file", "folder", "source"}

// functionsOfPaths returns the exported functions of a folder's Go files that have a parameter
// with the name of a path.
func functionsOfPaths(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			for _, p := range f.Type.Params.List {
				if slices.ContainsFunc(p.Names, func(n *ast.Ident) bool { return slices.Contains(pathNames, n.Name) }) {
					names = append(names, f.Name.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
