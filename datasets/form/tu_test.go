package form

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// openZip are the files of an archive of parts.
func openZip(t testing.TB, name string, parts map[string]string) *Files {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		m, err := w.Create(part)
		if err != nil {
			t.Fatal(err)
		}
		m.Write([]byte(parts[part]))
	}
	w.Close()
	f, _, err := openReader(&b, name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readForm reads what is of a form among files.
func readForm(form *Form, f *Files) (*Raw, error) {
	main, err := form.Opens(f.Names())
	if err != nil || main == "" {
		return nil, fmt.Errorf("not opened as %s, %q: %w", form.Name, main, err)
	}
	return form.Read(f, main, Options{})
}

// smallTU is two graphs: a path of three nodes, and a pair.
func smallTU() map[string]string {
	return map[string]string{
		"A": "1, 2\n2, 1\n2, 3\n3, 2\n5, 4\n4,5\n4,4\n1, 2\n", "graph_indicator": "1\n1\n1\n2\n2\n", "graph_labels": "1\n-1\n",
		"node_labels": "6\n8\n6\n7\n6\n", "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n", "edge_labels": "0\n1\n0\n1\n1\n0\n2\n0\n",
	}
}

func readTU(t testing.TB, parts map[string]string) (*Raw, error) {
	files := map[string]string{}
	for name, text := range parts {
		files["X/X_"+name+".txt"] = text
	}
	return readForm(&tuForm, openZip(t, "X.zip", files))
}

const smallTUShown = `5 nodes, 5 listed; node_attributes matrix (feature) 5×2[0.5 1 1.5 2 2.5 3 3.5 4 4.5 5]; node_labels word (feature) ["6" "7" "8"][0 2 0 1 0] ordered
8 edges 0→1 1→0 1→2 2→1 4→3 3→4 3→3 0→1; edge_labels word (feature) ["0" "1" "2"][0 1 0 1 1 0 2 0] ordered
2 graphs at [0 3 5]; graph_labels word (label) ["-1" "1"][1 0] ordered
`

func TestTU(t *testing.T) {
	marked, zero := smallTU(), smallTU() // as some editors write it; numbered from 0
	for part, text := range marked {
		marked[part] = "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
	}
	for _, part := range []string{"A", "graph_indicator"} {
		zero[part] = strings.NewReplacer("1", "0", "2", "1", "3", "2", "4", "3", "5", "4").Replace(zero[part])
	}
	with := func(part, text string) map[string]string {
		parts := smallTU()
		parts[part] = text
		return parts
	}
	shown := func(old, new string) string { return strings.Replace(smallTUShown, old, new, 1) }
	for what, c := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"from 1":          {smallTU(), smallTUShown},
		"marked":          {marked, smallTUShown},
		"from 0":          {zero, smallTUShown},
		"word and gap":    {with("graph_labels", "toxic\nNaN\n"), shown(`["-1" "1"][1 0]`, `["toxic"][0 -1]`)},
		"one never there": {with("node_labels", "3\n5\n6\n6\n5\n"), shown(`["6" "7" "8"][0 2 0 1 0]`, `["3" "4" "5" "6"][0 2 3 3 2]`)},
		"far apart":       {with("node_labels", "3\n5\n900\n900\n-5\n"), shown(`["6" "7" "8"][0 2 0 1 0]`, `["-5" "3" "5" "900"][1 2 3 3 0]`)},
		"two labels": {with("node_labels", "1,0.5\n2,1\n1,1\n1,1\n1,1\n"), shown(`node_labels word (feature) ["6" "7" "8"][0 2 0 1 0] ordered`,
			`node_labels_0 word (feature) ["1" "2"][0 1 0 0 0] ordered; node_labels_1 word (feature) ["0.5" "1"][0 1 1 1 1] ordered`)},
		"targets and gaps": {map[string]string{"A": "", "graph_indicator": "1\n3\n", "graph_attributes": "0.5, nan\nNaN,\n4 5\n7 8\n"}, `2 nodes, 2 listed
0 edges
4 graphs at [0 1 1 2 2]; graph_attributes matrix (target) 4×2[0.5 NaN NaN NaN 4 5 7 8]
`},
	} {
		r, err := readTU(t, c.parts)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := shownRaw(r); got != c.want || r.Name != "X" {
			t.Errorf("%s: read as\n%s, want\n%s", what, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	names := []string{"X/README.txt", "X/X_A.txt", "X/X_graph_indicator.txt.gz", "X/Y_A.txt"}
	if got := tuForm.Belongs(names, names[2]); !slices.Equal(got, names[1:3]) {
		t.Errorf("%v belong", got)
	}
	if _, err := tuForm.Opens([]string{"X_graph_indicator.txt", "Y_graph_indicator.txt"}); err == nil || !strings.Contains(err.Error(), "there are several datasets in it") {
		t.Errorf("two: error %v", err)
	}
}

func TestBadTU(t *testing.T) {
	for _, c := range []struct{ part, text, want string }{
		{"A", "1, 2\n1, x\n", `X_A.txt: line 2: "x" is no number from 0 to`},
		{"A", "1, 2, 3\n", "X_A.txt: line 1: 3 fields, want the two nodes of an edge"},
		{"A", "1, 2\n\n6, 1\n", "X_A.txt: line 3: with this the nodes go from 1 to 6, and there are 5"},
		{"A", "5, 4\n0, 1\n", "X_A.txt: line 2: with this the nodes go from 0 to 5, and there are 5"},
		{"A", "3, 4\n", "X_A.txt: edge 1 leads from graph 1 to graph 2"},
		{"A", "1,\n", `line 1: "" is no number`},
		{"A", "99999999999, 1\n", "line 1: \"99999999999\" is no number"},
		{"graph_indicator", "1\n2\n1\n2\n2\n", "line 3: graph 1, after 2"},
		{"graph_indicator", "", "there are no nodes"},
		{"graph_indicator", "1\n1\n1\n1\n3\n", "names graph 3, and there are labels of 2"},
		{"graph_labels", "1 2\n", "line 1: 2 fields, want one label"},
		{"graph_labels", "toxic\n", "names graph 2, and there are labels of 1"},
		{"node_labels", "1\n2\n", "2 lines for 5 nodes"},
		{"edge_labels", "1\n2\n", "2 lines for 8 edges"},
		{"node_attributes", "1\n2\nnan\n4\n5\n", `line 3: "nan" is no finite number`},
		{"node_attributes", "1\n2, 3\n3\n4\n5\n", "line 2: 2 numbers, want 1 as in the first line"},
		{"node_attributes", strings.Repeat("1,", 1<<20), "line 1: it is longer than 1048576 bytes"},
		{"graph_attributes", "", "X_graph_attributes.txt: nothing is known of what is to be learnt: all numbers are missing"},
		{"graph_attributes", "1\ninf\n", `X.zip/X/X_graph_attributes.txt: line 2: "inf" is no finite number`},
	} {
		parts := smallTU()
		if c.part == "graph_attributes" {
			delete(parts, "graph_labels")
		}
		parts[c.part] = c.text
		if _, err := readTU(t, parts); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "X.zip") {
			t.Errorf("%s %.20q: error %v, want %s", c.part, c.text, err, c.want)
		}
	}
	parts := smallTU()
	delete(parts, "A")
	if _, err := readTU(t, parts); err == nil || err.Error() != `X.zip: there is no "X/X_A.txt" in it` {
		t.Errorf("without edges: error %v", err)
	}
	parts = map[string]string{"A": "", "graph_indicator": strings.Repeat("1\n", 6000), "graph_labels": "1\n"}
	for v := range 6000 { // labels that would take a square of memory
		parts["node_labels"] += fmt.Sprintln(v)
	}
	if _, err := readTU(t, parts); err == nil || !strings.Contains(err.Error(), "X.zip: X/X_node_labels.txt: 6000 different labels in 6000 lines are too many to have a column each") {
		t.Errorf("labels of all nodes: error %v", err)
	}
	if _, err := readTU(t, map[string]string{"A": "", "graph_indicator": "1\n99999999\n"}); err == nil || !strings.Contains(err.Error(), "graph 99999999, in files of") {
		t.Errorf("many graphs: error %v", err)
	}
}

func FuzzTU(f *testing.F) {
	s := smallTU()
	f.Add(s["A"], s["graph_indicator"], s["graph_labels"], "", s["node_labels"], s["node_attributes"], s["edge_labels"], "1\n2\n3\n4\n5\n6\n7\n8\n")
	f.Add("1,2\n", "1\n1\n2\n", "", "0.5,nan\n1,2\n", "0\n1\n-5\n", "", "2\n", "")
	f.Add("", "1\n", "", "", "16777216\n", "", "", "")
	f.Fuzz(func(t *testing.T, a, indicator, labels, targets, nodeLabels, nodeAttributes, edgeLabels, edgeAttributes string) {
		parts := map[string]string{"A": a, "graph_indicator": indicator}
		for name, text := range map[string]string{"graph_labels": labels, "graph_attributes": targets, "node_labels": nodeLabels, "node_attributes": nodeAttributes,
			"edge_labels": edgeLabels, "edge_attributes": edgeAttributes} {
			if text != "" { // else there is no such file
				parts[name] = text
			}
		}
		r, err := readTU(t, parts)
		if err == nil {
			err = checkRaw(r)
		} else if strings.HasPrefix(err.Error(), "X.zip") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
