package datasets

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

// readTriples reads a text as a file of facts.
func readTriples(t testing.TB, text string) (*Knowledge, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "facts.tsv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadKnowledge(path)
}

func TestTriples(t *testing.T) {
	for _, text := range []string{
		"vienna\tcapital of\taustria\nparis\tcapital of\tfrance\nvienna\tin\taustria\nvienna\tcapital of\taustria\n",
		"head,relation,tail\nvienna,capital of,austria\r\nparis,capital of,france\n\nvienna,in,austria",
	} {
		k, err := readTriples(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(k.EntityNames, []string{"vienna", "austria", "paris", "france"}) || !slices.Equal(k.RelationNames, []string{"capital of", "in"}) {
			t.Errorf("%q: entities %v, relations %v", text, k.EntityNames, k.RelationNames)
		}
		if k.Train.NumEdges() != 3 || k.Val.NumEdges() != 0 || k.Entities != 4 || k.Name != "facts" {
			t.Errorf("%q: %v", text, k)
		}
		var kinds []int32
		for e, u := range k.Train.Sources(1) {
			if u != 0 {
				t.Errorf("an edge from %d to austria", u)
			}
			kinds = append(kinds, k.Train.Kinds()[e])
		}
		if slices.Sort(kinds); !slices.Equal(kinds, []int32{0, 1}) {
			t.Errorf("edges into austria have the kinds %v", kinds)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"train.txt": "a r b\nb r c\n", "valid.txt": "a r c\na r b\n", "test.txt": "c s a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	k, err := LoadKnowledge(dir)
	if err != nil || k.Train.NumEdges() != 2 || k.Val.NumEdges() != 1 || k.Test.NumEdges() != 1 || k.Relations() != 2 {
		t.Errorf("a folder: %+v, error %v", k, err)
	}
}

func TestBadTriples(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "there is no line in it",
		"a\tr\n":               "line 1: 2 fields, want 3: head, relation and tail",
		"a\tr\tb\na\tr\n":      "line 2: 2 fields, want 3",
		"a\tr\tb\na\t\tb\n":    "line 2: the relation is empty",
		"head,relation,tail\n": "there are no facts to train on",
	} {
		if _, err := readTriples(t, text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "facts.tsv") {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := LoadKnowledge(t.TempDir()); err == nil || !strings.Contains(err.Error(), "train.txt, valid.txt and test.txt") {
		t.Errorf("an empty folder: %v", err)
	}
}

// What validates and tests is of entities and relations that train too.
func TestDivided(t *testing.T) {
	k, err := PlantedRules(rand.New(rand.NewPCG(1, 1)), 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	d, err := k.Divided(rand.New(rand.NewPCG(2, 2)), 0.1, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	all := k.Train.NumEdges()
	if d.Val.NumEdges() != all/10 || d.Test.NumEdges() != all/5 || d.Train.NumEdges() != all-all/10-all/5 {
		t.Errorf("%d, %d and %d of %d facts", d.Train.NumEdges(), d.Val.NumEdges(), d.Test.NumEdges(), all)
	}
	few, err := readTriples(t, "a r b\nb r c\nc r a\nc s d\n")
	if err != nil {
		t.Fatal(err)
	}
	if d, err = few.Divided(rand.New(rand.NewPCG(1, 1)), 0.25, 0); err != nil || d.Val.NumEdges() != 1 || d.Val.Kinds()[0] != 0 {
		t.Errorf("of a ring with a tail: %v, %v", d, err)
	}
	if _, err := few.Divided(rand.New(rand.NewPCG(1, 1)), 0.1, 0); err == nil || !strings.Contains(err.Error(), "none can be kept to validate with") {
		t.Errorf("a tenth of four: %v", err)
	}
}

func FuzzTriples(f *testing.F) {
	f.Add("a\tr\tb\nb\tr\tc\n")
	f.Add("head,relation,tail\n1,2,3\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := readTriples(t, text)
		if err != nil {
			if !strings.Contains(err.Error(), "facts.tsv") {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if len(k.EntityNames) != k.Entities || k.Train.NumNodes() != k.Entities || k.Train.NumEdges() == 0 {
			t.Fatalf("%+v", k)
		}
	})
}

func FuzzFolderOfTriples(f *testing.F) {
	f.Add("a\tr\tb\nb\tr\tc\n", "a\tr\tc\n", "c,s,a\n")
	f.Add("head,relation,tail\n1,2,3\n", "", "1,2,3\n")
	f.Fuzz(func(t *testing.T, train, valid, test string) {
		dir := saved(t, t.TempDir(), "train.txt", train)
		for name, text := range map[string]string{"dev.tsv": valid, "test.csv": test} {
			if text != "" {
				saved(t, dir, name, text)
			}
		}
		k, err := LoadKnowledge(dir)
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if len(k.EntityNames) != k.Entities || k.Train.NumEdges() == 0 {
			t.Fatalf("%+v", k)
		}
		seen := map[[3]int32]bool{}
		for _, g := range []*graph.Graph{k.Train, k.Val, k.Test} {
			if g.NumNodes() != k.Entities {
				t.Fatalf("%d nodes for %d entities", g.NumNodes(), k.Entities)
			}
			for e, v := range g.Destinations() {
				fact := [3]int32{g.In().Cols[e], g.Kinds()[e], v}
				if seen[fact] || int(fact[1]) >= k.Relations() {
					t.Fatalf("the fact %v is there twice, or of %d relations", fact, k.Relations())
				}
				seen[fact] = true
			}
		}
	})
}
