package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func interactions(t testing.TB, text string) (*Interactions, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadInteractions(path)
}

// User 1 is another than item 1, columns may stand anywhere, and a line counts once.
func TestInteractions(t *testing.T) {
	for _, text := range []string{"user,item\n1,1\n1,2\n7,1\n1,1\n", "rating\tmovieId\tuserId\n5\t1\t1\n3\t2\t1\n1\t1\t7\n"} {
		d, err := interactions(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Users, []string{"1", "7"}) || !slices.Equal(d.Items, []string{"1", "2"}) || d.Graph.NumEdges() != 3 || d.Name != "shop" {
			t.Errorf("%q: %+v", text, d)
		}
		if one := d.Dataset(); one.Graph.NumNodes() != 4 || one.Graph.NumEdges() != 6 || !one.Graph.Symmetric() || !slices.Equal(one.NodeIDs, []string{"1", "7", "1", "2"}) || !slices.Equal(one.NodeKinds.Of, []int32{0, 0, 1, 1}) {
			t.Errorf("%q: the dataset is %+v", text, one)
		}
	}
	for text, want := range map[string]string{
		"":                     "no line",
		"user,item\n":          "no line follows",
		"user,item\na\n":       "line 2: 1 fields",
		"user,item\na,b\n,b\n": "line 3: the user or the item is empty",
		"source,target\n1,2\n": "call them user and item",
	} {
		if _, err := interactions(t, text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "shop.csv") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if HoldsInteractions(t.TempDir()) {
		t.Error("a folder is a table of users and items")
	}
}

func FuzzInteractions(f *testing.F) {
	f.Add("user,item\n1,1\n1,2\n")
	f.Add("\"user_id\";\"product\"\n\"a\";b\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := interactions(t, text)
		if err != nil && !strings.Contains(err.Error(), "shop.csv: ") {
			t.Errorf("no file is named: %v", err)
		}
		if err == nil && (len(d.Users) == 0 || len(d.Items) == 0 || d.Dataset().Graph.NumEdges() != 2*d.Graph.NumEdges()) {
			t.Errorf("%q: %+v", text, d)
		}
	})
}
