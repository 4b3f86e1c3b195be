package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of numbers to be learnt NaN is one that is not known, whatever form the file has.
func TestNaNTargets(t *testing.T) {
	const graphML = `<graphml><key id="k" for="node" attr.name="y" attr.type="double"/><graph edgedefault="directed">` +
		`<node id="a"><data key="k">0.5</data></node><node id="b"><data key="k">NaN</data></node><node id="c"/><edge source="a" target="b"/></graph></graphml>`
	for name, text := range map[string]string{
		"x.graphml": graphML,
		"x.dot":     `digraph {a [y=0.5]; b [y=NaN]; c; a -> b}`,
	} {
		d, err := readWith(put(t, name, []byte(text)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d.Targets == nil || fmt.Sprint(d.Targets.Data) != "[0.5 NaN NaN]" {
			t.Errorf("%s: %s", name, shown(d))
		}
	}
	parts := smallTU()
	parts["graph_labels"] = "toxic\nNaN\n"
	if d, err := readTU(t, parts); err != nil || fmt.Sprint(d.Labels, d.ClassNames) != "[0 -1] [toxic]" {
		t.Errorf("labels of TUDataset: %v, error %v", d, err)
	}
	dir := t.TempDir()
	write := func(attributes string) {
		for name, text := range map[string]string{"A": "", "graph_indicator": "1\n2\n", "graph_attributes": attributes} {
			if err := os.WriteFile(filepath.Join(dir, "X_"+name+".txt"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("0.5, nan\nNaN,\n")
	if d, err := LoadGraphs(dir); err != nil || fmt.Sprint(d.Targets.Shape(), d.Targets.Data) != "[2 2] [0.5 NaN NaN NaN]" {
		t.Errorf("TUDataset: %v, error %v", d, err)
	}
	for text, want := range map[string]string{"nan\nnan\n": "nothing is known of what is to be learnt", "1\ninf\n": `line 2: "inf" is no finite number`} {
		write(text)
		if _, err := LoadGraphs(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "X_graph_attributes.txt") {
			t.Errorf("TUDataset of %q: error %v, want %s", text, err, want)
		}
	}
}
