package form

import (
	"strings"
	"testing"
)

// A small dataset in LINQS' form: papers 30, 4 and x.
const (
	paperContent = "30 0 1 Theory\nx 1 1 AI\n4 0 0.5 AI\n"
	paperCites   = "30 4\n4 30\nx 30\n99 4\n4 4\n"
)

const (
	webHead  = "node_id\tfeature\tlabel\n"
	linkHead = "node_id\tnode_id\n"
)

const friendsList = "# a comment\n7 100\n100 7\n7 3\n7 3\n3 3\n"

func TestTexts(t *testing.T) {
	const linqs = `
		3 nodes, 3 listed ids [4 30 x]; words matrix feature3x2[0.5 1 1 1][][0 1 2 4][1 1 0 1]; class word label[AI Theory][0 1 0]true
		edges [0 1 1 0] to [1 0 2 0] undirected 1 dangling`
	masks := string(archiveOf(t, arrays("train_mask", []int32{0, 1}, "val_mask", []int32{0, 0}, "test_mask", []int32{1, 0})...))
	tabs := strings.NewReplacer(" ", "\t")
	for name, c := range map[string]struct {
		files map[string]string
		main  string
		want  string
		name  string
	}{
		"edges":               {map[string]string{"x.txt": friendsList}, ".", "3 nodes, 0 listed ids [3 7 100]\nedges [1 2 1 1 0] to [2 1 0 0 0]", "x"},
		"wide edges":          {map[string]string{"x.gz": "7 1\n2147483648 7\n"}, "x.gz", "3 nodes, 0 listed ids [1 7 2147483648]\nedges [1 2] to [0 1]", "x"},
		"UTF-16":              {map[string]string{"e": "\xff\xfe1\x00 \x002\x00"}, "e", "2 nodes, 0 listed ids [1 2]\nedges [0] to [1]", "e"},
		"matrix":              {map[string]string{"m.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 1 0\n3 3 2\n"}, ".", "3 nodes, 3 listed\nedges [1 0 2] to [0 1 2]; value number weight[0.5 0.5 2]", "m"},
		"pattern":             {map[string]string{"m.mtx.gz": "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n2 1\n"}, "m.mtx.gz", "3 nodes, 3 listed\nedges [1] to [0]", "m"},
		"papers":              {map[string]string{"p.content.gz": paperContent, "p.cites": paperCites}, ".", linqs, "p"},
		"papers, named":       {map[string]string{"a/p.content": mark + paperContent, "a/p.cites.gz": mark + paperCites, "a/q.content": ""}, "a/p.cites.gz", linqs, "p"},
		"papers between tabs": {map[string]string{"p.content": tabs.Replace(paperContent), "p.cites": tabs.Replace(paperCites)}, ".", linqs, "p"},
		"pages": {map[string]string{"texas/" + webPages: webHead + "1\t0,1,1\t0\n0\t0,0,0\t1\n", "texas/" + webLinks: linkHead + "0\t1\n0\t1\n1\t1\n", "splits/texas_split_0.6_0.2_0.npz": masks}, "texas", `
			2 nodes, 2 listed; words matrix feature2x3[1 1][][0 0 2][1 2]; class number label[1 0] of 2
			edges [0 0 1] to [1 1 1]
			split 0 of nodes [1] [] [0]`, "texas"},
		"pages by numbers": {map[string]string{"new_data/film/" + webPages: mark + "node_id\tfeature(feature_amount:931)\tlabel\n1\t3,1,3\t0\n0\t0\t1\n", "new_data/film/" + webLinks: mark + linkHead + "0\t1\n", "splits/film_split_0.6_0.2_0.npz": masks}, "new_data/film/" + webPages, `
			2 nodes, 2 listed; words matrix feature2x4[1 1 1][][0 1 3][0 1 3]; class number label[1 0] of 2
			edges [0] to [1]
			split 0 of nodes [1] [] [0]`, "film"},
	} {
		r, err := ReadFS(mapOf(c.files), c.main, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if same(t, name, told(r), c.want); r.Name != c.name || r.Check() != nil {
			t.Errorf("%s: it is called %s, %v", name, r.Name, r.Check())
		}
	}
}

func TestBadTexts(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"complex", map[string]string{"x.mtx": mm + "array complex general\n1 1\n1 2\n"}, "x.mtx: line 1: its elements are complex, which edgewise does not compute with: save their real part or their absolute value"},
		{"not square", map[string]string{"x.mtx": mm + "coordinate pattern general\n3 4 0\n"}, "x.mtx: it is 3 × 4, and only a square matrix is a graph"},
		{"not symmetric", map[string]string{"x.mtx": mm + "coordinate pattern symmetric\n3 3 1\n1 2\n"}, "x.mtx: line 3: the element (1, 2) is above the diagonal: a symmetric file holds those below"},
		{"mangled header", map[string]string{"x.mtx": "%MatrixMarket\n1 1 1\n"}, `x.mtx: line 1: "%MatrixMarket" is no header: want %%MatrixMarket matrix FORMAT FIELD SYMMETRY`},
		{"cut matrix", map[string]string{"x.mtx": mm + "coordinate pattern general\n3 3 2\n1 2\n"}, "x.mtx: line 3: the file ends after 1 of 2 elements"},
		{"huge matrix", map[string]string{"x.mtx": mm + "coordinate pattern general\n2000000000 2000000000 1\n1 2\n"}, "x.mtx: it is 2000000000 × 2000000000, with only 1 elements: that is not believed"},
		{"no edge", map[string]string{"x.txt": "1 2\nthree 4\n"}, `x.txt: line 2: "three 4" is not an edge: want the numbers of two nodes; a line that names columns, such as source,target, is the first one, or begins with #`},
		{"no edges", map[string]string{"x.txt": "# nothing\n"}, "x.txt: there are no edges in it"},
		{"long line", map[string]string{"p.content": "a 1 x\nb 1 " + strings.Repeat("y", linqsLine) + "\n", "p.cites": "a b\n"}, "p.content: line 2: it is longer than 4194304 bytes"},
		{"short paper", map[string]string{"p.content": "1 0 1 A\n2 0 B\n", "p.cites": ""}, "p.content: line 2: 1 words of a paper's text, want 2 as in the first line"},
		{"paper twice", map[string]string{"p.content": "1 0 1 A\n1 0 1 B\n", "p.cites": ""}, `p.content: line 2: paper "1" is paper 0 already`},
		{"NaN word", map[string]string{"p.content": "1 0 nan A\n", "p.cites": ""}, `p.content: line 1: word 1 is "nan", want a finite number`},
		{"citation of three", map[string]string{"p.content": paperContent, "p.cites": "30 4\n1 2 3\n"}, "p.cites: line 2: 3 words, want the cited and the citing paper"},
		{"other papers", map[string]string{"p.content": paperContent, "p.cites": "1 2\n3 4\n"}, ".: 2 of 2 citations are of papers without content: are these files of one dataset?"},
		{"infinite value", map[string]string{"x.mtx": mm + "coordinate real general\n1 1 1\n1 1 1e999\n"}, `x.mtx: line 3: "1e999" is not the value of an element: want a finite real number`},
		{"no citations", map[string]string{"p.content": paperContent}, `.: there is no "p.cites" in it`},
		{"class beyond", map[string]string{webPages: webHead + "1\t0,1\t0\n0\t0,0\t2\n", webLinks: linkHead}, ".: class 2, of 2 pages"},
		{"class below", map[string]string{webPages: webHead + "1\t0,1\t0\n0\t0,0\t-2\n", webLinks: linkHead}, ".: the label of node 0 is -2; classes are 0 to 0, and -1 is none"},
		{"page beyond", map[string]string{webPages: webHead + "0\t0,1\t0\n", webLinks: linkHead + "0\t1\n"}, webLinks + ": below line 1: line 1: page 1; the pages are 0 to 0"},
		{"no number of a word", map[string]string{webPages: "node_id\tfeature_amount\tlabel\n0\t-1\t0\n", webLinks: linkHead}, webPages + `: below line 1: line 1: word "-1" is no number from 0`},
		{"no pages", map[string]string{webLinks: linkHead}, "open " + webPages + ": file does not exist"},
		{"MATLAB", map[string]string{"x.mat": "MATLAB 7.3 MAT-file"}, "x.mat: it is a MATLAB file of version 7.3 (HDF5), which is not read: save it from MATLAB with -v7, and then as npz with SciPy and NumPy"},
		{"no MATLAB", map[string]string{"x.mat": ""}, "x.mat: it is no MATLAB file of a version that is known: save its arrays as npz, with NumPy"},
	} {
		if _, err := ReadFS(mapOf(c.files), ".", Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: error\n%v, want\n%s", c.name, err, c.want)
		}
	}
	whole := packed("x.gz", friendsList)
	for n := range len(whole) - 1 {
		if _, err := readOne("x.txt", whole[:n+1]); err == nil {
			t.Errorf("no error for %d of %d bytes", n+1, len(whole))
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("e.txt", friendsList, "")
	f.Add("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n", "")
	f.Add("m.mtx", "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 0\n", "")
	f.Add("p.content", paperContent, paperCites)
	f.Add(webPages, webHead+"1\t0,1,1\t0\n0\t0,0,0\t1\n", linkHead+"0\t1\n")
	f.Add(webPages, "node_id\tfeature_amount\tlabel\n0\t5,2\t0\n1\t0\t1\n", linkHead+"0\t1\n")
	f.Add("e.txt", "7 9223372036854775799\n2147483648 7\n", "")
	other := map[string]string{"p.content": "p.cites", webPages: webLinks, "e.txt": "", "m.mtx": ""}
	f.Fuzz(func(t *testing.T, name, first, second string) {
		beside, ok := other[name]
		if !ok {
			return
		}
		holds(t, mapOf(map[string]string{name: first, beside: second}), name)
	})
}
