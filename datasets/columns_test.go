package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Numbers as people write them would be a feature for each that occurs: they are an error that
// says where, and what to write. Words that look like them in part stay words.
func TestDressedNumbers(t *testing.T) {
	const edges = "source,target\na,b\n"
	dir := t.TempDir()
	read := func(cells ...string) error {
		text := "id;share\n"
		for i, c := range cells {
			text += fmt.Sprintf("%c;%s\n", 'a'+i, c)
		}
		_, err := readWith(saved(t, dir, "e_edges.csv", edges, "e_nodes.csv", text) + "/e_edges.csv")
		empty(t, dir)
		return err
	}
	for _, bad := range []string{"50%", "1,041", "1,041.5", "-12,000,000", "3,5", "$20", "€ 7.25", "12 %", "7 €", "1'041", "1 041"} {
		want := fmt.Sprintf(`e_nodes.csv: line 3, column "share": %q is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out (--column share=none)`, bad)
		if err := read("5", bad); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", bad, err, want)
		}
	}
	for _, good := range []string{"10.0.0.1", "1.2.3", "5 to 6", "1,04", "40-50%", "B2", "12/05/2020", "%"} {
		if err := read("red", good); err != nil {
			t.Errorf("%s among words: %v", good, err)
		}
	}
	for _, bad := range []string{"05/19/2024", "19.5.2024", "19-05-2024 12:30"} {
		want := fmt.Sprintf(`e_nodes.csv: line 2, column "share": %q is a date written for people: write it as 2024-05-19, or leave the column out (--column share=none)`, bad)
		if err := read(bad, bad); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", bad, err, want)
		}
	}
	if err := read("50%", "half"); err != nil {
		t.Errorf("a word among them: %v", err)
	}
	var nodes strings.Builder
	nodes.WriteString("id;share\na;0\nb;0\n")
	for i := range 200 {
		fmt.Fprintf(&nodes, "n%d;%d%%\n", i, i)
	}
	_, err := readWith(saved(t, t.TempDir(), "e_edges.csv", edges, "e_nodes.csv", nodes.String()) + "/e_edges.csv")
	if want := `line 4, column "share": "0%" is a number written for people`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Features are called as their columns, and those of words as the column and the word, in the order
// of the matrix; files of edgewise keep that, and features whose names are not known take it away.
func TestFeatureNames(t *testing.T) {
	const edges = "source,target\na,b\nb,c\n"
	for nodes, want := range map[string]string{
		"id,age,vip\na,3,true\nb,4,false\nc,5,true\n":                                               "age vip",
		"id,town,age,Seen at,none\na,Turku,3,2024-01-01,\nb,Oulu,4,2024-02-01,\nc,,5,2023-01-01,\n": "town=Oulu town=Turku age Seen at",
		"id,y\na,x\nb,z\nc,x\n": "",
	} {
		dir := saved(t, t.TempDir(), "e_edges.csv", edges, "e_nodes.csv", nodes)
		d, err := readWith(dir + "/e_edges.csv")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.FeatureNames, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := d.SaveNPZ(dir + "/e.npz"); err != nil {
			t.Fatal(err)
		}
		again, err := readWith(dir + "/e.npz")
		if err != nil || !slices.Equal(again.FeatureNames, d.FeatureNames) {
			t.Errorf("from a file %q, %v", again.FeatureNames, err)
		}
		more := d.LargestComponent().WithFeatures(tensor.New(3, 2))
		if err := more.Check(); err != nil || more.FeatureNames != nil {
			t.Errorf("%q, %v", more.FeatureNames, err)
		}
		if d.FeatureNames = append(d.FeatureNames, "one too many"); want != "" && d.Check() == nil {
			t.Error("a name too many is overlooked")
		}
	}
	d, err := readWith(saved(t, t.TempDir(), "g.json", `{"nodes": [{"id": "a", "feat": [1, 2], "age": 3}, {"id": "b", "feat": [4, 5], "age": 6}], "links": [{"source": "a", "target": "b"}]}`) + "/g.json")
	if err != nil || d.Features.Shape()[1] != 3 || len(d.FeatureNames) != 0 {
		t.Errorf("%v with lists beside columns, %v", d, err)
	}
}
