package datasets

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// Labels that are words are classes in the words' order, in arrays and in TUDataset's files as
// in tables.
func TestWordLabels(t *testing.T) {
	index := shaped("edge_index", []int32{0, 1, 2, 3}, 2, 2)
	for _, name := range []string{"labels", "y", "node_labels"} {
		d, err := readWith(put(t, "x.npz", archiveOf(t, index, npy.Named{Name: name, Data: []string{"toxic", "", "safe", "toxic"}})))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if fmt.Sprint(d.Labels, d.Classes, d.ClassNames) != "[1 -1 0 1] 2 [safe toxic]" {
			t.Errorf("%s: labels %v of %d %q", name, d.Labels, d.Classes, d.ClassNames)
		}
	}
	parts := smallTU()
	parts["graph_labels"] = "toxic\nsafe\n"
	if d, err := readTU(t, parts); err != nil || fmt.Sprint(d.Labels, d.Classes, d.ClassNames) != "[1 0] 2 [safe toxic]" {
		t.Errorf("TUDataset: %v, error %v", d, err)
	}
}

// A text that ends within its gzip is an error that names the file and the line.
func TestCutInGzip(t *testing.T) {
	const graphs = `{"edges": [[0, 1]], "x": [1, 2], "label": "b"}` + "\n" + `{"edges": [[1, 0]], "x": [3, 4], "label": "a"}` + "\n"
	graph := func(path string) error { _, err := readWith(path); return err }
	for name, c := range map[string]struct {
		text string
		read func(path string) error
	}{
		"net.csv.gz":     {"source,target\na,b\nb,c\n", graph},
		"net.txt.gz":     {"0 1\n1 2\n2 3\n", graph},
		"net.mtx.gz":     {"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n", graph},
		"net.json.gz":    {"[[0, 1],\n [1, 2],\n [2, 0]]", graph},
		"net.dot.gz":     {"digraph g {\n a -> b;\n b -> c;\n}\n", graph},
		"net.graphml.gz": {"<graphml><graph edgedefault=\"directed\">\n<node id=\"a\"/><node id=\"b\"/>\n<edge source=\"a\" target=\"b\"/></graph></graphml>\n", graph},
		"shop.csv.gz":    {"user,item\nanna,kettle\nbert,teapot\n", func(path string) error { _, err := LoadInteractions(path); return err }},
		"facts.tsv.gz":   {"vienna\tcapital\taustria\nparis\tcapital\tfrance\n", func(path string) error { _, err := LoadKnowledge(path); return err }},
		"mols.jsonl.gz":  {graphs, func(path string) error { _, err := LoadGraphs(path); return err }},
	} {
		whole := gz(c.text)
		if err := c.read(put(t, name, whole)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, cut := range []int{len(whole) * 3 / 4, len(whole) - 8} { // the second has all of the text, but not its checksum
			if err := c.read(put(t, name, whole[:cut])); err == nil || !strings.Contains(err.Error(), name+": line ") || !strings.Contains(err.Error(), "the gzip file ends early: it was cut, so download or copy it again") {
				t.Errorf("%s, %d of %d bytes: error %v", name, cut, len(whole), err)
			}
		}
	}
}

// A file is missing in an archive, where others of its dataset are.
func TestMissingInArchive(t *testing.T) {
	parts := smallTU()
	delete(parts, "graph_labels")
	parts["graph_attributes"] = "0.5\n2\n"
	if d, err := readTU(t, parts); err != nil || d.Labels != nil || fmt.Sprint(d.Targets.Data) != "[0.5 2]" {
		t.Errorf("attributes alone: %v, error %v", d, err)
	}
	delete(parts, "graph_attributes")
	if d, err := readTU(t, parts); err != nil || d.Labels != nil || d.Targets != nil || d.Len() != 2 {
		t.Errorf("nothing to learn: %v, error %v", d, err)
	}
	for want, list := range map[string][]string{
		"x/p_edges.csv: there are no edges in it": {"x/p_edges.csv", "source,target\n", "x/p_nodes.csv", peopleNodes},
		"x.zip/x/p_edges.csv: line 1: ":           {"x/p_edges.csv", peopleNodes, "x/p_nodes.csv", peopleNodes},
	} {
		path := put(t, "x.zip", zipOf(list...))
		if _, err := readWith(path); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), string(filepath.Separator), "/"), want) {
			t.Errorf("%q: error %v, want %s", list[0], err, want)
		}
	}
}
