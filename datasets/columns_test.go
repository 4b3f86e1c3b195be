package datasets

import (
	"fmt"
	"strings"
	"testing"
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
		_, err := Read(saved(t, dir, "e_edges.csv", edges, "e_nodes.csv", text) + "/e_edges.csv")
		empty(t, dir)
		return err
	}
	for _, bad := range []string{"50%", "1,041", "1,041.5", "-12,000,000", "3,5", "$20", "€ 7.25", "12 %", "7 €", "1'041", "1 041"} {
		want := fmt.Sprintf(`e_nodes.csv: line 3, column "share": %q is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out with #-share after the file's name`, bad)
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
		want := fmt.Sprintf(`e_nodes.csv: line 2, column "share": %q is a date written for people: write it as 2024-05-19, or leave the column out with #-share after the file's name`, bad)
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
	_, err := Read(saved(t, t.TempDir(), "e_edges.csv", edges, "e_nodes.csv", nodes.String()) + "/e_edges.csv")
	if want := `line 104, column "share": "100%" is a number written for people`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
