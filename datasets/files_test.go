package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"of/ind.a.x", "of/ind.a.allx", "of/ind.ab.x", "of/edges.txt", "of/out.csv",
		"papers/p.content.gz", "papers/p.cites", "papers/q.cites", "pages/" + webPages, "pages/" + webLinks, "pages/x.txt",
		"own/a.npz", "own/a.csv", "list/e.csv.gz", "list/README.txt",
		"tables/a_edges.csv.gz", "tables/a_target.csv", "tables/b.csv",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"of": "of/ind.a.allx of/ind.a.x", "of/ind.a.x": "of/ind.a.allx of/ind.a.x", "of/ind.ab.x": "of/ind.ab.x", "of/edges.txt": "of/edges.txt",
		"papers": "papers/p.cites papers/p.content.gz", "papers/p.cites": "papers/p.cites papers/p.content.gz",
		"pages": "pages/" + webLinks + " pages/" + webPages, "own": "own/a.npz", "list": "list/e.csv.gz", "none": "",
		"tables/a_edges.csv.gz": "tables/a_edges.csv.gz tables/a_target.csv", "tables/a_target.csv": "tables/a_edges.csv.gz tables/a_target.csv",
		"tables/b.csv": "tables/b.csv",
	} {
		var got []string
		for _, p := range Files(filepath.Join(dir, path)) {
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
