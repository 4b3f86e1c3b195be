package form

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// triplesForm is a knowledge graph as text with a fact a line, head, relation and tail, all of them words or numbers;
// a first line may name the columns. It is the form of FB15k-237 and WN18RR:
//
//	vienna	capital_of	austria
//
// A file's facts all train. In a folder are train, valid (or val, dev) and test, with .txt, .tsv or .csv after it.
var triplesForm = Form{
	Name:    "triples",
	Endings: tableEndings,
	Says:    "facts, a head, a relation and a tail a line: a file, or train.txt, valid.txt and test.txt",
	Opens: func(names []string) (string, error) {
		for _, ext := range tripleEndings {
			for _, name := range names {
				if path.Base(unpack.Plain(name)) == "train"+ext && len(tripleFiles(names, name)) > 0 {
					return name, nil
				}
			}
		}
		return "", nil
	},
	Read:    readTriples,
	Belongs: tripleFiles,
}

// tripleEndings are those of the files of facts, the first that is there.
var tripleEndings = []string{".txt", ".tsv", ".csv"}

// tripleParts are what the files of facts are called that train, validate and test.
var tripleParts = [3][]string{{"train"}, {"valid", "val", "dev"}, {"test"}}

// partFiles returns the files of facts that train, validate and test beside one that trains; "" where there is none.
func partFiles(names []string, main string) (files [3]string) {
	dir, plain := path.Dir(main), path.Base(unpack.Plain(main))
	files[0] = main
	if !strings.HasPrefix(plain, "train.") {
		return files
	}
	for part, called := range tripleParts {
		for _, word := range called {
			for _, ext := range tripleEndings {
				for _, name := range names {
					if files[part] == "" && path.Dir(name) == dir && path.Base(unpack.Plain(name)) == word+ext {
						files[part] = name
					}
				}
			}
		}
	}
	return files
}

// tripleFiles returns the files of facts that are read with main.
func tripleFiles(names []string, main string) []string {
	files := partFiles(names, main)
	return slices.DeleteFunc(files[:], func(name string) bool { return name == "" })
}

// tripleColumns are names that a first line may give the columns.
var tripleColumns = [3][]string{{"head", "h", "source", "subject"}, {"relation", "r", "rel", "predicate", "type"}, {"tail", "t", "target", "object"}}

// readTriples reads a knowledge graph, whose nodes are entities in the order in which they turn up. A fact that
// stands there twice is there twice.
func readTriples(f *Files, main string, _ Options) (*Raw, error) {
	set, relations := new(nodeSet), new(cells.Dict)
	kind, part := new(Words), &Words{Texts: []string{"train", "val", "test"}, Ordered: true}
	var all Edges
	for k, name := range partFiles(f.Names(), main) {
		if name == "" {
			continue
		}
		t, err := readFacts(f, name)
		if err != nil {
			return nil, err
		}
		e := Edges{Table: *t}
		heads, tails := t.Columns[0].Words, t.Columns[2].Words
		_ = numberEnds(&e.Origin, [2]*Words{heads, tails}, [2]*nodeSet{set, set}) // no file lists entities
		w := t.Columns[1].Words
		of := make([]int32, len(w.Texts))
		for i, text := range w.Texts {
			of[i] = relations.CodeText(text)
		}
		for _, c := range w.Codes {
			kind.Codes = append(kind.Codes, of[c])
			part.Codes = append(part.Codes, int32(k))
		}
		all.Source, all.Target, all.Rows = append(all.Source, heads.Codes...), append(all.Target, tails.Codes...), all.Rows+e.Rows
		if k == 0 && e.Rows == 0 {
			return nil, fmt.Errorf("%s: there are no facts to train on", f.At(name))
		}
		if all.Origin = e.Origin; all.Rows > e.Rows {
			all.Origin = Origin{File: f.At(path.Dir(main)), Unit: "fact", First: 1}
		}
	}
	kind.Texts = relations.Strings()
	all.Columns = []Column{
		{Name: "relation", Type: Word, Words: kind, Role: AsKind},
		{Name: "part", Type: Word, Words: part, Role: AsPart},
	}
	ids := set.ids.Strings()
	name, _, _ := strings.Cut(path.Base(main), ".")
	if dir := path.Base(path.Dir(filepath.ToSlash(f.At(main)))); name == "train" && dir != "." {
		name, _, _ = strings.Cut(dir, ".")
	}
	nodes := Nodes{Table: Table{Rows: len(ids), IDs: &Words{Texts: ids}}}
	return &Raw{Name: name, Nodes: []Nodes{nodes}, Edges: []Edges{all}, Size: f.Size()}, nil
}

// readFacts reads a file of facts.
func readFacts(f *Files, name string) (*Table, error) {
	r, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := readCSV(r, unpack.BudgetOf(r), f.At(name), func(names []string) (cells.Plan, error) {
		p := cells.Plan{As: []cells.As{cells.AsNames, cells.AsNames, cells.AsNames}}
		if len(names) != 3 {
			return p, fmt.Errorf("%d fields, want 3: head, relation and tail", len(names))
		}
		for i, known := range tripleColumns {
			if !slices.Contains(known, strings.ToLower(names[i])) {
				p.Names = []string{"head", "relation", "tail"} // the first line is a fact
			}
		}
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	for row := range t.Rows {
		for i, c := range t.Columns {
			if c.Words.Codes[row] < 0 {
				return nil, fmt.Errorf("%s: the %s is empty", t.Origin.At(row), tripleColumns[i][0])
			}
		}
	}
	return t, nil
}
