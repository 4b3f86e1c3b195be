package datasets

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gz and zst keep their writers: to make one costs more than to use it.
func gz(text string) []byte {
	var b bytes.Buffer
	w := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	w.Reset(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zst(text string) []byte { return zstds().EncodeAll([]byte(text), nil) }

var (
	gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	zstds = sync.OnceValue(func() *zstd.Encoder { w, _ := zstd.NewWriter(nil); return w })
)

// zipOf returns an archive of names and contents, alternating.
func zipOf(parts ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		m, _ := w.Create(parts[i])
		m.Write([]byte(parts[i+1]))
	}
	w.Close()
	return b.Bytes()
}

const friendsList = "# a comment\n7 100\n100 7\n7 3\n7 3\n3 3\n"

func TestEdgeList(t *testing.T) {
	for name, b := range map[string][]byte{"a.txt": []byte(friendsList), "a.txt.gz": gz(friendsList), "a.zst": zst(friendsList)} {
		d, err := readWith(put(t, name, b))
		if err != nil {
			t.Fatal(err)
		}
		in := d.Graph.In() // nodes 3, 7, 100
		if d.Name != "a" || !slices.Equal(in.Offsets, []int64{0, 1, 2, 3}) || !slices.Equal(in.Cols, []int32{1, 2, 1}) || d.loops != 1 || d.repeated != 1 {
			t.Errorf("%s: offsets %v, sources %v, %d loops, %d repeated", d.Name, in.Offsets, in.Cols, d.loops, d.repeated)
		}
		if !slices.Equal(d.NodeNames, []string{"3", "7", "100"}) || d.Check() != nil {
			t.Errorf("names %q, %v", d.NodeNames, d.Check())
		}
		if u := d.Undirected(); u.Graph.NumEdges() != 4 || !u.Graph.Symmetric() {
			t.Errorf("undirected it has %d edges", u.Graph.NumEdges())
		}
	}
}

func TestMatrixMarket(t *testing.T) {
	d, err := readWith(put(t, "m.mtx.gz", gz("%%MatrixMarket matrix coordinate real general\n3 3 6\n1 2 5\n3 1 7\n1 2 2\n2 2 9\n2 3 0\n3 2 -1\n")))
	if err != nil {
		t.Fatal(err)
	}
	in := d.Graph.In() // 0→1 of 5+2, 2→0, 2→1; the loop and the zero are none
	if !slices.Equal(in.Offsets, []int64{0, 1, 3, 3}) || !slices.Equal(in.Cols, []int32{2, 0, 2}) || !slices.Equal(d.Weights, []tensor.Float{7, 7, -1}) || d.loops != 1 {
		t.Errorf("offsets %v, sources %v, weights %v, %d loops", in.Offsets, in.Cols, d.Weights, d.loops)
	}
	d, err = readWith(put(t, "p.mtx", []byte("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n")))
	if err != nil || d.Weights != nil || !d.Graph.Symmetric() || d.Graph.NumEdges() != 4 {
		t.Errorf("%v, error %v", d, err)
	}
}

func TestReadMatrix(t *testing.T) {
	for text, want := range map[string]*sparse.CSR{
		"coordinate real general\n2 3 4\n1 3 1\n1 1 2\n1 3 4\n2 2 0\n": {NumRows: 2, NumCols: 3, Offsets: []int64{0, 2, 2}, Cols: []int32{0, 2}, Values: []tensor.Float{2, 5}},
		"coordinate pattern general\n2 3 2\n1 3\n1 3\n":                {NumRows: 2, NumCols: 3, Offsets: []int64{0, 1, 1}, Cols: []int32{2}, Values: []tensor.Float{2}},
		"coordinate real general\n2 3 0\n":                             {NumRows: 2, NumCols: 3, Offsets: []int64{0, 0, 0}, Values: []tensor.Float{}},
		"array real general\n2 1\n0\n3\n":                              {NumRows: 2, NumCols: 1, Offsets: []int64{0, 0, 1}, Cols: []int32{0}, Values: []tensor.Float{3}},
	} {
		got, err := LoadMatrix(put(t, "m.mtx", []byte("%%MatrixMarket matrix "+text)))
		if err != nil || plainOf(got) != plainOf(want) {
			t.Errorf("%q: %s, error %v; want %s", text, plainOf(got), err, plainOf(want))
		}
	}
}

// A small dataset in LINQS' form: papers 30, 4 and x.
const (
	paperContent = "30 0 1 Theory\nx 1 1 AI\n4 0 0.5 AI\n"
	paperCites   = "30 4\n4 30\nx 30\n99 4\n4 4\n"
)

func TestLINQS(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p.content": paperContent, "p.cites": paperCites} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "p.content"), put(t, "p.zip", zipOf("p/p.cites", paperCites, "p/p.content", paperContent))} {
		d, err := readWith(path)
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != "p" || !slices.Equal(d.NodeNames, []string{"4", "30", "x"}) || !slices.Equal(d.Labels, []int32{0, 1, 0}) || !slices.Equal(d.ClassNames, []string{"AI", "Theory"}) {
			t.Errorf("%s: nodes %q, labels %v, classes %q", d.Name, d.NodeNames, d.Labels, d.ClassNames)
		}
		in := d.Graph.In()
		if !slices.Equal(in.Offsets, []int64{0, 1, 3, 4}) || !d.Graph.Symmetric() {
			t.Errorf("offsets %v, sources %v", in.Offsets, in.Cols)
		}
		x := d.Features.(*sparse.CSR)
		if !slices.Equal(x.Cols, []int32{1, 1, 0, 1}) || !slices.Equal(x.Values, []tensor.Float{0.5, 1, 1, 1}) {
			t.Errorf("columns %v, values %v", x.Cols, x.Values)
		}
	}
}

// Files of LINQS may begin with a byte-order mark, and where a line has tabs there
// may be blanks in its words. Citations of papers that are not there are counted.
func TestLINQSLines(t *testing.T) {
	tabs := strings.NewReplacer(" ", "\t", "Theory", "Rule Learning", "30", "paper 30")
	for name, c := range map[string]struct{ content, cites, first, class string }{
		"mark in both":    {mark + paperContent, mark + paperCites, "30", "Theory"},
		"mark in a list":  {paperContent, mark + "4 30\n4 x\n1 4\n", "30", "Theory"},
		"tabs":            {tabs.Replace(paperContent), tabs.Replace(paperCites), "paper 30", "Rule Learning"},
		"tabs and blanks": {strings.ReplaceAll(tabs.Replace(paperContent), "\t", " \t "), paperCites[5:] + "paper 30\t4\t\r\n4\tx", "paper 30", "Rule Learning"},
	} {
		d, err := readWith(put(t, "p.zip", zipOf("p.content", c.content, "p.cites", c.cites)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v := slices.Index(d.NodeNames, c.first)
		if v < 0 || d.ClassNames[d.Labels[v]] != c.class || d.Graph.NumEdges() != 4 || len(d.NodeNames) != 3 {
			t.Errorf("%s: nodes %q of %q, %d edges", name, d.NodeNames, d.ClassNames, d.Graph.NumEdges())
		}
		var b strings.Builder
		if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("%d of the raw data were left out: one of their nodes is not there", d.dangling)) || d.dangling == 0 {
			t.Errorf("%s: %d citations are of no paper, described as\n%s", name, d.dangling, b.String())
		}
	}
	for _, text := range []string{mark + webHead, webHead} {
		d, err := readWith(web(t, text+"0\t1\t0\n1\t0\t1\n", strings.Replace(text, webHead, linkHead, 1)+"0\t1\n"))
		if err != nil || d.Graph.NumEdges() != 1 {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// web writes a small WebKB dataset, some of whose files may be others.
func web(t testing.TB, pages, links string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "texas")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{webPages: pages, webLinks: links} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	webHead  = "node_id\tfeature\tlabel\n"
	linkHead = "node_id\tnode_id\n"
)

func TestWebKB(t *testing.T) {
	dir := web(t, webHead+"1\t0,1,1\t0\n0\t0,0,0\t2\n", linkHead+"0\t1\n0\t1\n1\t1\n")
	splits := filepath.Join(dir, "..", "splits")
	if err := os.Mkdir(splits, 0o777); err != nil {
		t.Fatal(err)
	}
	masks := archiveOf(t, arrays("train_mask", []int32{0, 1}, "val_mask", []int32{0, 0}, "test_mask", []int32{1, 0})...)
	if err := os.WriteFile(filepath.Join(splits, "texas_split_0.6_0.2_0.npz"), masks, 0o666); err != nil {
		t.Fatal(err)
	}
	if d, err := readWith(dir); err == nil || !strings.Contains(err.Error(), "class 2, of 2 pages") {
		t.Fatalf("%v, error %v", d, err)
	}
	if err := os.WriteFile(filepath.Join(dir, webPages), []byte(webHead+"1\t0,1,1\t0\n0\t0,0,0\t1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := readWith(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Labels, []int32{1, 0}) || d.Graph.NumEdges() != 1 || d.loops != 1 || d.repeated != 1 || d.Features.(*sparse.CSR).NNZ() != 2 {
		t.Errorf("labels %v, %d edges, %d loops, %d repeated", d.Labels, d.Graph.NumEdges(), d.loops, d.repeated)
	}
	if !slices.Equal(d.Split.Train, []int32{1}) || !slices.Equal(d.Split.Test, []int32{0}) {
		t.Errorf("split %v", d.Split)
	}
}

// Words may be the numbers of those that are there, as film's are, and splits stand beside new_data, as
// they are published.
func TestWebKBListed(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "new_data", "film")
	masks := archiveOf(t, arrays("train_mask", []int32{0, 1}, "val_mask", []int32{0, 0}, "test_mask", []int32{1, 0})...)
	head := "node_id\tfeature(feature_amount:931)\tlabel\n"
	for file, text := range map[string]string{
		filepath.Join(dir, webPages): head + "1\t3,1,3\t0\n0\t0\t1\n", filepath.Join(dir, webLinks): linkHead + "0\t1\n",
		filepath.Join(root, "splits", "film_split_0.6_0.2_0.npz"): string(masks),
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := readWith(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Features.(*sparse.CSR).Dense().Data); got != "[1 0 0 0 0 1 0 1]" || !slices.Equal(d.Split.Train, []int32{1}) {
		t.Errorf("features %s, split %v", got, d.Split)
	}
	for _, word := range []string{"x", "-1", "2147483647", ""} {
		if err := os.WriteFile(filepath.Join(dir, webPages), []byte(head+"0\t0,"+word+"\t0\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readWith(dir); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("word %q is no number from 0", word)) {
			t.Errorf("word %q: error %v", word, err)
		}
	}
}

func TestReadKnowsForms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small())
	for want, path := range map[string]string{
		"CiteSeer":      filepath.Join(dir, "ind.citeseer.graph"),
		"some":          put(t, "some.npz", archiveOf(t, shchur()...)),
		"m":             put(t, "m.mtx", []byte("%%MatrixMarket matrix array real general\n1 1\n0\n")),
		"p":             put(t, "x.zip", zipOf("p.content", paperContent, "p.cites", paperCites)),
		"list":          put(t, "list.txt.gz", gz(friendsList)),
		"Texas (WebKB)": web(t, webHead+"0\t1\t0\n", linkHead),
	} {
		if d, err := readWith(path); err != nil || d.Name != want {
			t.Errorf("%s: %v, error %v", want, d, err)
		}
	}
	if d, err := readWith(dir); err != nil || d.Name != "CiteSeer" {
		t.Errorf("a folder: %v, error %v", d, err)
	}
}

// tarOf returns an archive of names and contents, alternating.
func tarOf(parts ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w.WriteHeader(&tar.Header{Name: parts[i], Size: int64(len(parts[i+1])), Mode: 0o600})
		w.Write([]byte(parts[i+1]))
	}
	w.Close()
	return b.String()
}

// Texts are read in gzip and zstd, in a folder, and in an archive.
func TestReadCompressed(t *testing.T) {
	const matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n"
	for _, c := range []struct {
		want  string // counts, then name
		parts []string
		paths []string // "": the folder
	}{
		{"3 nodes, 4 edges, 2 features: p", []string{"p.content.gz", string(gz(paperContent)), "p.cites.gz", string(gz(paperCites))}, []string{"", "p.content.gz", "p.cites.gz"}},
		{"3 nodes, 4 edges, 2 features: p", []string{"p.content", paperContent, "p.cites.zst", string(zst(paperCites))}, []string{"", "p.content", "p.cites.zst"}},
		{"3 nodes, 4 edges, 2 features: p", []string{"p.content", paperContent, "p.cites", paperCites, "o.content", "", "o.cites", ""}, []string{"p.content", "p.cites"}},
		{"3 nodes, 4 edges, 2 features: p", []string{"x.zip", string(zipOf("p.content.gz", string(gz(paperContent)), "p.cites", paperCites))}, []string{"x.zip"}},
		{"3 nodes, 4 edges, 3 features: x", []string{"x.mtx.gz", string(gz(matrix)), "README.txt", "hello"}, []string{"", "x.mtx.gz"}},
		{"3 nodes, 4 edges, 3 features: x", []string{"x.mtx.zst", string(zst(matrix))}, []string{"", "x.mtx.zst"}},
		{"3 nodes, 4 edges, 3 features: x", []string{"s.tar.gz", string(gz(tarOf("x/x.mtx", matrix))), "s.zip", string(zipOf("x.mtx.gz", string(gz(matrix)), "x.txt", "")), "s.tgz", string(gz(tarOf("x.mtx.zst", string(zst(matrix)))))}, []string{"s.tar.gz", "s.zip", "s.tgz"}},
		{"3 nodes, 3 edges, 3 features: l", []string{"l.txt", friendsList, "ReadMe.txt", "hello"}, []string{"", "l.txt"}},
		{"3 nodes, 3 edges, 3 features: l", []string{"l.csv.gz", string(gz(friendsList)), "LICENSE.txt", "hello"}, []string{"", "l.csv.gz"}},
		{"3 nodes, 3 edges, 3 features: l", []string{"s.tar.zst", string(zst(tarOf("l/l.edges", friendsList, "l/README.txt", ""))), "s.zip", string(zipOf("l.tsv", friendsList, ".hidden.txt", ""))}, []string{"s.tar.zst", "s.zip"}},
	} {
		dir := t.TempDir()
		for i := 0; i < len(c.parts); i += 2 {
			if err := os.WriteFile(filepath.Join(dir, c.parts[i]), []byte(c.parts[i+1]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range c.paths {
			d, err := readWith(filepath.Join(dir, path))
			if err != nil {
				t.Error(err)
				continue
			}
			if got := fmt.Sprintf("%d nodes, %d edges, %d features: %s", d.Graph.NumNodes(), d.Graph.NumEdges(), d.Features.Shape()[1], d.Name); got != c.want {
				t.Errorf("%q of %q: %s, want %s", path, c.parts[0], got, c.want)
			}
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("e.txt", friendsList, "")
	f.Add("m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n", "")
	f.Add("m.mtx", "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 0\n", "")
	f.Add("p.content", paperContent, paperCites)
	f.Add(webPages, webHead+"1\t0,1,1\t0\n0\t0,0,0\t1\n", linkHead+"0\t1\n")
	f.Add("e.txt", "7 9223372036854775799\n2147483648 7\n", "")
	other := map[string]string{"p.content": "p.cites", webPages: webLinks, "e.txt": "", "m.mtx": ""}
	f.Fuzz(func(t *testing.T, name, first, second string) {
		second2, ok := other[name]
		if !ok {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(first), 0o666); err != nil {
			t.Fatal(err)
		}
		if second2 != "" {
			if err := os.WriteFile(filepath.Join(dir, second2), []byte(second), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		d, err := readWith(filepath.Join(dir, name))
		if err != nil {
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever stands in files of LINQS or of WebKB, the result holds together or there is an error.
func FuzzFolders(f *testing.F) {
	f.Add(paperContent, paperCites)
	f.Add(webHead+"0\t1\t0\n1\t0\t1\n", linkHead+"0\t1\n")
	f.Add("node_id\tfeature_amount\tlabel\n0\t5,2\t0\n1\t0\t1\n", linkHead+"0\t1\n")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, nodes, links string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"p.content": nodes, "p.cites": links} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for name, read := range map[string]func() (*Dataset, error){
			"LINQS": func() (*Dataset, error) { return readWith(dir) }, "WebKB": func() (*Dataset, error) { return readWith(web(t, nodes, links)) },
		} {
			if d, err := read(); err == nil && d.Check() != nil {
				t.Fatalf("%s: %v", name, d.Check())
			}
		}
	})
}
