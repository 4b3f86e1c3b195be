package form

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rows is a form of a line of numbers a file, for tests.
var rows = Form{
	Name: "rows", Endings: []string{".rows"}, Says: "rows, for tests", Opens: one(".rows"),
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		r, err := f.Open(main)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return &Raw{Nodes: []Nodes{{Table: Table{Rows: 7}}}}, nil
	},
}

// TestRead reads each form by its name, in a folder, in an archive, from a file system and from a reader.
func TestRead(t *testing.T) {
	npz := string(archiveOf(t, shchur()...))
	for name, c := range map[string]struct {
		files map[string]string
		main  string
		nodes int
	}{
		"npz":               {map[string]string{"a.npz": npz, "a.csv": "", "README.txt": ""}, "a.npz", 4},
		"edges":             {map[string]string{"l.txt": friendsList, "ReadMe.txt": "hello", "LICENSE.txt": "free", "licence.csv": "", ".hidden.txt": "1 2"}, "l.txt", 3},
		"edges in gzip":     {map[string]string{"l.csv.gz": friendsList}, "l.csv.gz", 3},
		"edges of any name": {map[string]string{"friends.of.mine": friendsList}, "friends.of.mine", 3},
		"matrix":            {map[string]string{"m.mtx.gz": "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n2 1\n", "x.txt": ""}, "m.mtx.gz", 3},
		"another's":         {map[string]string{"a.rows": "1", "b.npz": npz}, "a.rows", 7},
	} {
		o := Options{Others: []Form{rows}}
		dir := folderOf(t, c.files)
		archive := filepath.Join(t.TempDir(), "z.zip")
		if err := os.WriteFile(archive, zipOf(t, c.files), 0o666); err != nil {
			t.Fatal(err)
		}
		reads := map[string]func() (*Raw, error){
			"file":       func() (*Raw, error) { return Load(filepath.Join(dir, c.main), o) },
			"in FS":      func() (*Raw, error) { return ReadFS(mapOf(c.files), c.main, o) },
			"reader":     func() (*Raw, error) { return Read(bytes.NewReader(packed(c.main, c.files[c.main])), c.main, o) },
			"zip reader": func() (*Raw, error) { return Read(bytes.NewReader(zipOf(t, c.files)), "z.zip", o) },
			"folder":     func() (*Raw, error) { return Load(dir, o) },
			"zip":        func() (*Raw, error) { return Load(archive, o) },
		}
		if name == "edges of any name" {
			delete(reads, "zip reader")
			delete(reads, "folder")
			delete(reads, "zip")
		}
		for how, read := range reads {
			r, err := read()
			if err != nil || r.Nodes[0].Rows != c.nodes || r.Name != strings.TrimSuffix(stem(c.main), ".rows") || r.Size < 1 {
				t.Errorf("%s, %s: %+v, error %v", name, how, r, err)
			}
		}
	}
}

func TestAs(t *testing.T) {
	files := map[string]string{"a.rows": friendsList, "b.rows": "", "c.txt": friendsList}
	for _, c := range []struct{ main, as, want string }{
		{"a.rows", "edges", "3 nodes"},
		{".", "edges", "3 nodes"},
		{".", "npz", ".: there is nothing in it of the form npz: the arrays of a graph as NumPy saves them: edge_index, x, y and others (.npz): name the file itself"},
		{".", "rows", ".: there are several datasets in it: name one of a.rows, b.rows"},
		{"a.rows", "nqz", `.: there is no form "nqz"; there are: rows, ` + strings.Join(Names(), ", ")},
	} {
		r, err := ReadFS(mapOf(files), c.main, Options{As: c.as, Others: []Form{rows}})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(r.Nodes[0].Rows, " nodes")
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.main, c.as, got, c.want)
		}
	}
}

// TestNothingToRead: errors say what is in the folder, what was looked for and what to do.
func TestNothingToRead(t *testing.T) {
	known := "there is no dataset in it that is known: no raw/num-node-list.csv, ind.NAME.allx, "
	many := map[string]string{}
	for _, name := range strings.Fields("a b c d e f g h i j k l") {
		many[name+".txt"] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":         {map[string]string{"README.md": "x"}, "DIR: " + known},
		"folders":         {map[string]string{"b/x.txt": "", "a.zip": "", ".git/x.txt": ""}, "DIR: there is no dataset in it, but there may be one inside of DIR/a.zip, DIR/b: name that"},
		"several":         {map[string]string{"b.txt": "", "a.csv.gz": "", "README.txt": ""}, "DIR: there are several datasets in it: name one of a.csv.gz, b.txt"},
		"many":            {many, "DIR: there are several datasets in it: name one of a.txt, b.txt, c.txt, d.txt, e.txt, f.txt, g.txt, h.txt, i.txt, j.txt, or 2 more"},
		"a matrix twice":  {map[string]string{"a.mtx": "", "a.mtx.zst": ""}, "DIR: there are several datasets in it: name one of a.mtx, a.mtx.zst"},
		"a spreadsheet":   {map[string]string{"x.XLSX": "PK"}, "DIR/x.XLSX: such tables are not read: save them as CSV, NAME_nodes.csv and NAME_edges.csv"},
		"one of Parquet":  {map[string]string{"x.parquet": "PAR1"}, "DIR/x.parquet: Parquet is not read by this program: "},
		"one of networkx": {map[string]string{"x.gexf.gz": "<gexf/>"}, "DIR/x.gexf.gz: its form is not read: write GraphML, as networkx.write_graphml does"},
		"one of PyTorch":  {map[string]string{"x.pt": "PK"}, "DIR/x.pt: objects of Python are not read: write the arrays, numpy.savez(path, edge_index=…, x=…, y=…)"},
	} {
		dir := folderOf(t, c.files)
		paths := []string{dir}
		if len(c.files) == 1 && name != "nothing" {
			for file := range c.files {
				paths = append(paths, filepath.Join(dir, file))
			}
		}
		for _, path := range paths {
			_, err := Load(path, Options{})
			if got := strings.ReplaceAll(filepath.ToSlash(fmt.Sprint(err)), filepath.ToSlash(dir), "DIR"); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
	for _, form := range All() { // what is looked for comes from the table
		if _, err := Load(t.TempDir(), Options{}); form.Opens != nil && len(form.Endings) > 0 && !strings.Contains(err.Error(), form.Endings[0]) {
			t.Errorf("%v does not say %s of %s", err, form.Endings[0], form.Name)
		}
	}
	archive := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(archive, zipOf(t, map[string]string{"a/p.content": "", "b/p.content.gz": ""}), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(archive, Options{}); err == nil || err.Error() != archive+": there are several datasets in it: name one of a/p.content, b/p.content.gz: unpack it, and name the file that you want" {
		t.Errorf("error %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "x.npz"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestBelonging(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"of/ind.a.x": "", "of/ind.a.allx": "", "of/ind.ab.x": "", "of/edges.txt": "", "of/out.csv": "",
		"papers/p.content.gz": "", "papers/p.cites": "", "papers/q.cites": "", "pages/" + webPages: "", "pages/" + webLinks: "", "pages/x.txt": "",
		"own/a.npz": "", "own/a.csv": "", "list/e.csv.gz": "", "list/README.txt": "", "two/a.npz": "", "two/b.npz": "", "other/a.rows": "", "z.zip": string(zipOf(t, files)),
	})
	for path, want := range map[string]string{
		"of": "of/ind.a.allx of/ind.a.x", "of/ind.a.x": "of/ind.a.allx of/ind.a.x", "of/ind.ab.x": "of/ind.ab.x", "of/edges.txt": "of/edges.txt",
		"papers": "papers/p.cites papers/p.content.gz", "papers/p.cites": "papers/p.cites papers/p.content.gz",
		"pages": "pages/" + webLinks + " pages/" + webPages, "pages/" + webPages: "pages/" + webLinks + " pages/" + webPages,
		"own": "own/a.npz", "list": "list/e.csv.gz", "none": "", "two": "two/a.npz two/b.npz", "other": "other/a.rows", "z.zip": "z.zip",
	} {
		var got []string
		for _, p := range Belonging(filepath.Join(dir, path), rows) {
			rel, err := filepath.Rel(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", path, strings.Join(got, " "), want)
		}
	}
}
