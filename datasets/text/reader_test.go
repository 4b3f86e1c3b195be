package text

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// put writes files into a new folder; names and contents alternate.
func put(t testing.TB, parts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(parts); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(parts[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(parts[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gz(s string) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

// zipOf is an archive; names and contents alternate. tarOf is another.
func zipOf(parts ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		m, _ := w.Create(parts[i])
		m.Write([]byte(parts[i+1]))
	}
	w.Close()
	return b.String()
}

func tarOf(parts ...string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w.WriteHeader(&tar.Header{Name: parts[i], Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(parts[i+1]))})
		w.Write([]byte(parts[i+1]))
	}
	w.Close()
	return b.String()
}

// wantError fails unless err is text with the parts in order.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	rest := err.Error()
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			t.Errorf("error %v, want %q", err, p)
			return
		}
		rest = after
	}
}

func TestReadLines(t *testing.T) {
	want := []string{"one", "", "zwölf", "last"}
	for name, text := range map[string]string{
		"plain": "one\n\nzwölf\nlast\n", "no last newline": "one\n\nzwölf\nlast", "CRLF": "one\r\n\r\nzwölf\r\nlast\r\n",
		"mark": "\ufeffone\n\nzwölf\nlast", "gzip": gz("\ufeffone\n\nzwölf\r\nlast\n"),
	} {
		got, err := LoadLines(filepath.Join(put(t, "x", text), "x"))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
	if got, err := LoadLines(filepath.Join(put(t, "x", ""), "x")); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %q, error %v", got, err)
	}
	dir := put(t, "bad", "ok\nna\xefve\n", "cut.gz", gz("some text that is cut")[:30])
	_, err := LoadLines(filepath.Join(dir, "bad"))
	wantError(t, err, filepath.Join(dir, "bad")+": line 2, byte 3: 0xef is no UTF-8: save the text as UTF-8")
	_, err = LoadLines(filepath.Join(dir, "cut.gz"))
	wantError(t, err, "cut.gz: the gzip file ends early: it was cut, so download or copy it again")
	_, err = LoadLines(dir)
	wantError(t, err, "it is a folder")
	if _, err = LoadLines(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}

// What is kept of a text that few bytes expand to is bounded; the text is by unpack.
func TestSmallFilesStaySmall(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what a reader may keep does not depend on it
	dir := put(t, "lines.gz", gz(strings.Repeat("\n", 1<<22)), "names/A.txt.gz", gz(strings.Repeat("a\n", 1<<21)),
		"trees.gz", gz(strings.Repeat("(0(0(0(0(0(0(0(0(0 a)))))))))\n", 1<<18)), "text.csv.gz", gz("text\n"+strings.Repeat("a\n", 1_100_000)))
	_, err := LoadLines(filepath.Join(dir, "lines.gz"))
	wantError(t, err, "lines.gz: ", "bytes of memory were needed", "unpack it first")
	_, err = LoadTrees(filepath.Join(dir, "trees.gz"))
	wantError(t, err, "trees.gz: ", "bytes of memory were needed", "unpack it first")
	_, err = LoadCSV(filepath.Join(dir, "text.csv.gz"), "text", "")
	wantError(t, err, "text.csv.gz: line ", "bytes of memory were needed", "unpack it first")
	_, err = LoadNames(filepath.Join(dir, "names"))
	wantError(t, err, "A.txt.gz: ", "bytes of memory were needed", "unpack it first")
}

func TestReadCSV(t *testing.T) {
	dir := put(t, "a.csv", "\ufeffid,review,stars\r\n1,\"good, very good\",5\r\n2,bäd,1\r\n3,\"\",5", "b.tsv", "text\tid\nx y\t1\n", "one.csv", "text\na b\n", "bad.csv", "text,y\nok,1\nn\xff,2\n", "empty.csv", "text,y\na,\n", "none.csv", "")
	l, err := LoadCSV(filepath.Join(dir, "a.csv"), "review", "stars")
	if err != nil || !slices.Equal(l.Texts, []string{"good, very good", "bäd", ""}) || !slices.Equal(l.Labels, []int32{1, 0, 1}) || !slices.Equal(l.Classes, []string{"1", "5"}) {
		t.Errorf("%+v, error %v", l, err)
	}
	if l, err = LoadCSV(filepath.Join(dir, "b.tsv"), "text", ""); err != nil || !slices.Equal(l.Texts, []string{"x y"}) || l.Labels != nil || l.Classes != nil {
		t.Errorf("%+v, error %v", l, err)
	}
	_, err = LoadCSV(filepath.Join(dir, "a.csv"), "reviews", "")
	wantError(t, err, `a.csv: line 1: there is no column "reviews"; did you mean "review"?`, `["id" "review" "stars"]`)
	_, err = LoadCSV(filepath.Join(dir, "one.csv"), "text", "")
	wantError(t, err, "one.csv: line 2: 2 fields, want 1", "a text without columns is read as lines")
	_, err = LoadCSV(filepath.Join(dir, "bad.csv"), "text", "y")
	wantError(t, err, `bad.csv: line 3: byte 2, 0xff after "n", is not UTF-8 but Latin-1 or Windows-1252 perhaps`)
	_, err = LoadCSV(filepath.Join(dir, "empty.csv"), "text", "y")
	wantError(t, err, `empty.csv: line 2, column "y": it is empty`)
	_, err = LoadCSV(filepath.Join(dir, "none.csv"), "text", "y")
	wantError(t, err, "none.csv: ", "no line in it that names columns")
}

func TestReadNames(t *testing.T) {
	files := []string{"Elvish.txt", "Arwën\n Lúthien \n\nArwen", "Dwarvish.txt", "Gimli\r\nThrór\r\n", "README.txt", "not a name"}
	var inner []string
	for i := 0; i < len(files); i += 2 {
		inner = append(inner, "data/names/"+files[i], files[i+1])
	}
	for name, path := range map[string]string{
		"folder": put(t, files...), "zip": filepath.Join(put(t, "n.zip", zipOf(inner...)), "n.zip"), "tar.gz": filepath.Join(put(t, "n.tar.gz", gz(tarOf(inner...))), "n.tar.gz"),
	} {
		l, err := LoadNames(path)
		if err != nil || !slices.Equal(l.Texts, []string{"Gimli", "Thrór", "Arwën", "Lúthien", "Arwen"}) || !slices.Equal(l.Labels, []int32{0, 0, 1, 1, 1}) || !slices.Equal(l.Classes, []string{"Dwarvish", "Elvish"}) {
			t.Fatalf("%s: %+v, error %v", name, l, err)
		}
		if u := l.Map(Fold).Unique(); !slices.Equal(u.Texts, []string{"Gimli", "Thror", "Arwen", "Luthien"}) {
			t.Errorf("%s: unique %q", name, u.Texts)
		}
	}
	_, err := LoadNames(put(t, "x.csv", "a"))
	wantError(t, err, "there is no name in it: want a file LANGUAGE.txt")
	_, err = LoadNames(put(t, "A.txt", "ok\n\xff"))
	wantError(t, err, "A.txt: line 2, byte 1: 0xff is no UTF-8")
	_, err = LoadNames(filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: error %v", err)
	}
}

func TestReadTREC(t *testing.T) {
	train, test := "NUM:count How many ? \nHUM:ind Who is \xe9ve ?\n\n", "NUM:date When ?"
	for name, dir := range map[string]string{
		"folder": put(t, "train.txt", train, "test.txt", test), "published": put(t, "train_5500.label", train, "TREC_10.label.gz", gz(test)),
		"zip in a folder": put(t, "qc.zip", zipOf("qc/train.txt", train, "qc/test.txt", test)),
	} {
		a, b, err := LoadTREC(dir)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(a.Texts, []string{"How many ?", "Who is éve ?"}) || !slices.Equal(b.Labels, []int32{2}) || !slices.Equal(a.Labels, []int32{1, 0}) || !slices.Equal(b.Classes, []string{"HUM:ind", "NUM:count", "NUM:date"}) {
			t.Errorf("%s: %+v and %+v", name, a, b)
		}
		if c := b.Coarse(); !slices.Equal(c.Classes, []string{"HUM", "NUM"}) || c.Labels[0] != 1 {
			t.Errorf("%s: coarse %+v", name, c)
		}
	}
	for _, bad := range []string{"NUM:count", "How many ?", "NUM:count   "} {
		_, _, err := LoadTREC(put(t, "train.txt", train+bad, "test.txt", test))
		wantError(t, err, "train.txt: line 4: ", "does not begin with a class and a question: write CLASS:kind")
	}
	_, _, err := LoadTREC(put(t, "train.txt", train))
	wantError(t, err, "there is no file test.txt or TREC_10.label in it: name the folder")
}

func TestReadLabelled(t *testing.T) {
	dir := put(t, "a.tsv", "tool\thammer\n\nfruit \t ripe\tplum\r\ntool\tsaw")
	got, err := LoadLabelled(filepath.Join(dir, "a.tsv"))
	want := &Labelled{Texts: []string{"hammer", "ripe\tplum", "saw"}, Labels: []int32{1, 0, 1}, Classes: []string{"fruit", "tool"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v, error %v", got, want, err)
	}
	for bad, why := range map[string]string{"tool saw": `line 2: "tool saw" has no tab`, "\tsaw": `line 2: "\tsaw" has no label`, "tool\t ": "or no text", "tool\t\xff": "line 2"} {
		dir := put(t, "a.tsv", "tool\tsaw\n"+bad)
		_, err := LoadLabelled(filepath.Join(dir, "a.tsv"))
		wantError(t, err, filepath.Join(dir, "a.tsv")+": ", why)
	}
}

// A phrase may begin with I-, as in the first files of that form.
func TestReadTaggedOfOldForm(t *testing.T) {
	got, err := ReadTagged(strings.NewReader("Old JJ I-NP\nleaves NNS I-NP\nfall VBP I-VP\n\nthey PRP I-VP\n. . O\nwe PRP I-NP\n"))
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, k := range got.Chunks.Tokens {
		tags = append(tags, got.ChunkTags[k])
	}
	if want := []string{"B-NP", "I-NP", "B-VP", "B-VP", "O", "B-NP"}; !slices.Equal(tags, want) {
		t.Errorf("%q, want %q", tags, want)
	}
}

func TestReadTagged(t *testing.T) {
	text := "The DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n\n\n. . O\n\nLast NN B-NP"
	dir := put(t, "a.txt", text)
	got, err := LoadTagged(filepath.Join(dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Tagged{
		Sentences: [][]string{{"The", "cat", "sleeps"}, {"."}, {"Last"}},
		POS:       RaggedOf([]int32{1, 2, 3}, []int32{0}, []int32{2}), POSTags: []string{".", "DT", "NN", "VBZ"},
		Chunks: RaggedOf([]int32{0, 2, 1}, []int32{3}, []int32{0}), ChunkTags: []string{"B-NP", "B-VP", "I-NP", "O"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	v := numbered([]string{"cat", "."})
	if r := got.Encode(v); !reflect.DeepEqual(r, RaggedOf([]int32{0, 3, 0}, []int32{4}, []int32{0})) {
		t.Errorf("encoded %+v", r)
	}
	train, test, err := LoadCoNLL2000(put(t, "conll2000.zip", zipOf("c/train.txt", text, "c/test.txt", "Hm UH B-INTJ\n")))
	if err != nil || len(train.POSTags) != 5 || train.POSTags[3] != "UH" || test.POS.Tokens[0] != 3 || !slices.Equal(train.ChunkTags, test.ChunkTags) {
		t.Errorf("%+v and %+v, error %v", train, test, err)
	}
	for bad, why := range map[string]string{
		"lonely": `"lonely" has 1 fields, want 3: write the word`, "cat NN": `"cat NN" has 2 fields`, "a b B-NP c": "4 fields", "cat NN NP": `"NP" is no chunk tag: write O, or B- or I-`, "cat NN I-": "no chunk tag",
	} {
		dir := put(t, "train.txt", "The DT B-NP\n\n"+bad+"\n", "test.txt", text)
		_, _, err := LoadCoNLL2000(dir)
		wantError(t, err, filepath.Join(dir, "train.txt")+": line 3: ", why)
	}
}

func TestParseTree(t *testing.T) {
	line := "(3 (2 a) (4 (3 lovely) (2 film) (1 too\\/so)))"
	tree, err := ParseTree(line)
	want := Tree{Parent: []int32{-1, 0, 0, 2, 2, 2}, Labels: []int32{3, 2, 4, 3, 2, 1}, Leaves: []int32{1, 3, 4, 5}, Words: []string{"a", "lovely", "film", "too\\/so"}}
	if err != nil || !reflect.DeepEqual(tree, want) || tree.String() != line || tree.Len() != 6 {
		t.Errorf("%+v, error %v", tree, err)
	}
	for _, same := range []string{"(1 a)", "(1 (0 a))", "(0 (0 (0 a) (0 b)) (0 c))"} {
		if tree, err := ParseTree(strings.ReplaceAll(same, ")", " ) ")); err != nil || tree.String() != same {
			t.Errorf("%s comes back as %s, error %v", same, tree, err)
		}
	}
	for in, want := range map[string]string{
		"":                   "byte 1: there is no tree: write (LABEL WORD)",
		"(2 (3 a) (1 b)":     "byte 14: the tree is not closed: the bracket of node 0, label 2, has no end: close it with )",
		"(2 (3 a":            "byte 7: the tree is not closed: the bracket of node 1, label 3",
		"(2 a))":             `byte 6: ")" stands outside of the tree: write one tree a line`,
		"(2 a) (3 b)":        `byte 7: "(3 b)" stands outside`,
		"word":               `byte 1: "word" stands outside`,
		"(x a)":              `byte 2: "x" is no label`,
		"(-1 a)":             `byte 2: "-1" is no label`,
		"(4294967296 a)":     "is no label",
		"( a)":               `byte 2: "" is no label`,
		"(2)":                "byte 3: node 0 has neither a word nor children",
		"(2 (3 a) ())":       "is no label",
		"(2 a b)":            `the word "b" follows a word or a tree`,
		"(2 (3 a) b)":        `the word "b" follows a word or a tree`,
		"(2 a (3 b))":        `byte 6: a tree follows the word "a"`,
		"(2 " + "((((((((((": "is no label",
	} {
		if _, err := ParseTree(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", in, err, want)
		}
	}
	if deep, err := ParseTree(strings.Repeat("(1 ", 1<<20) + "a" + strings.Repeat(")", 1<<20)); err != nil || deep.Len() != 1<<20 {
		t.Errorf("a million levels: %d, error %v", deep.Len(), err)
	}
}

func TestBatchTrees(t *testing.T) {
	var trees []Tree
	for _, line := range []string{"(4 (3 good) (2 (2 old) (1 film)))", "(0 bad)"} {
		tree, err := ParseTree(line)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	b, err := BatchTrees(trees, numbered([]string{"film", "bad", "old"}))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Labels, []int32{4, 3, 2, 2, 1, 0}) || !slices.Equal(b.Leaves, []int32{1, 3, 4, 5}) || !slices.Equal(b.Tokens, []int32{-1, Unknown, -1, 5, 3, 4}) || !slices.Equal(b.Roots, []int32{0, 5}) {
		t.Errorf("%+v", b)
	}
	// The kinds are the ordinals in the text: good 0, (old film) 1; old 0, film 1.
	want := map[[2]int32]int32{{1, 0}: 0, {2, 0}: 1, {3, 2}: 0, {4, 2}: 1}
	for v := range b.Graph.NumNodes() {
		for e, u := range b.Graph.Sources(v) {
			if k, ok := want[[2]int32{u, int32(v)}]; !ok || b.Graph.Kinds()[e] != k {
				t.Errorf("edge %d → %d has kind %d", u, v, b.Graph.Kinds()[e])
			}
		}
	}
	if b.Graph.NumEdges() != len(want) || !slices.Equal(b.Graph.NodeOffsets(), []int{0, 5, 6}) {
		t.Errorf("%d edges, members %v", b.Graph.NumEdges(), b.Graph.NodeOffsets())
	}
	one := []int32{-1}
	for want, broken := range map[string]Tree{
		"node 1 is its own ancestor":  {Parent: []int32{-1, 2, 1}, Labels: []int32{0, 0, 0}},
		"tree 0: node 0 is no root":   {},
		"0 is no root: the root":      {Parent: []int32{1, -1}, Labels: []int32{0, 0}},
		"tree 0: 0 labels for 1 node": {Parent: one},
		"and 0 words for 1 leaves":    {Parent: one, Labels: one, Leaves: []int32{0}},
		"leaf 1 is no node":           {Parent: one, Labels: one, Leaves: []int32{1}, Words: []string{"a"}},
	} {
		_, err := BatchTrees([]Tree{broken}, numbered(nil))
		wantError(t, err, want)
	}
	if b, err := BatchTrees(nil, numbered(nil)); err != nil || b.Graph.NumNodes() != 0 {
		t.Errorf("no trees: error %v", err)
	}
}

func TestReadSST(t *testing.T) {
	one := "(4 (3 good) (2 film))\n"
	train, val, test, err := LoadSST(put(t, "train.txt.gz", gz(one+"\r\n(1 (2 so) (3 it) (4 goes))\r\n(0 (1 (2 x)))"), "dev.txt", one, "test.txt", "(0 bad)"))
	if err != nil || len(train) != 3 || len(val) != 1 || len(test) != 1 || test[0].String() != "(0 bad)" {
		t.Errorf("%v, %v, %v, error %v", train, val, test, err)
	}
	for i, want := range []string{"(4 (3 good) (2 film))", "(1 (2 so) (3 it) (4 goes))", "(0 (1 (2 x)))"} {
		if train[i].String() != want {
			t.Errorf("tree %d is %s, want %s", i, train[i], want)
		}
	}
	dir := put(t, "train.txt", one, "dev.txt", one+"(2 (1 a) (3 b)\n", "test.txt", "(5 bad)")
	_, _, _, err = LoadSST(dir)
	wantError(t, err, filepath.Join(dir, "dev.txt")+": line 2: byte 14: the tree is not closed")
	_, err = LoadTrees(filepath.Join(dir, "test.txt"))
	if err != nil {
		t.Errorf("a tree of other labels: error %v", err)
	}
	dir = put(t, "train.txt", "(5 bad)", "dev.txt", one, "test.txt", one)
	_, _, _, err = LoadSST(dir)
	wantError(t, err, "train.txt: line 1: node 0 has label 5, want 0 to 4")
}

func TestReadParallel(t *testing.T) {
	dir := put(t, "a.de", "eins\nzwei\n\n", "a.en", "one\r\ntwo\r\n\r\n", "b.en", "one\ntwo")
	p, err := LoadParallel(filepath.Join(dir, "a.de"), filepath.Join(dir, "a.en"))
	if err != nil || !slices.Equal(p.Source, []string{"eins", "zwei", ""}) || !slices.Equal(p.Target, []string{"one", "two", ""}) {
		t.Errorf("%+v, error %v", p, err)
	}
	c, _ := NewCharacters(append(p.Source, p.Target...), false)
	if pairs := p.Encode(c, c); pairs.Len() != 3 || c.Decode(pairs.Target.Sequence(1)) != "two" || pairs.Batch([]int32{2}).Input.Tokens[0] != Begin {
		t.Errorf("encoded %+v", pairs)
	}
	p, err = LoadParallel(filepath.Join(dir, "a.de"), filepath.Join(dir, "b.en"))
	wantError(t, err, "a.de has 3 lines and ", "b.en 2: line 3 has no partner: give every line")
	if p != nil {
		t.Error("texts of unequal length come with their error")
	}
	if p, err := LoadParallel(filepath.Join(dir, "a.de"), filepath.Join(dir, "a.de")); err != nil || len(p.Source) != 3 || len(p.Target) != 3 {
		t.Errorf("a text and itself: error %v", err)
	}
	files := []string{"train.de.gz", gz("a\n"), "train.en.gz", gz("b\n"), "val.de", "a", "val.en", "b", "test_2016_flickr.de", "a", "test_2016_flickr.en", "b\nc"}
	_, _, _, err = LoadMulti30k(put(t, files...))
	wantError(t, err, "test_2016_flickr.de has 1 lines and ", "test_2016_flickr.en 2: line 2 has no partner")
	files[11] = "d"
	train, val, test, err := LoadMulti30k(put(t, files...))
	if err != nil || train.Source[0] != "a" || val.Target[0] != "b" || test.Target[0] != "d" {
		t.Errorf("%v %v %v, error %v", train, val, test, err)
	}
}

func TestReadBAbI(t *testing.T) {
	text := "1 Ann took the cup.\n2 Ann went home.\n3 Where is the cup? \thome\t1 2\n4 Ann left.\n5 Where is Ann?\tout,away\t4\n1 Bob sat.\n2 Who sat? \tBob\t1\n"
	tarred := gz(tarOf("en-10k/qa1_x_train.txt", "", "en-10k/qa1_x_test.txt", "", "en/qa1_x_train.txt", text, "en/qa1_x_test.txt", strings.ReplaceAll(text, "\n", "\r\n"), "en/qa11_x_train.txt", "junk"))
	for name, dir := range map[string]string{"tar.gz": put(t, "babi_en.tar.gz", tarred), "folder": put(t, "qa1_y_train.txt", text, "qa1_y_test.txt", text)} {
		train, test, err := LoadBAbI(dir, 1)
		want := []Question{
			{[]string{"Ann took the cup.", "Ann went home."}, "Where is the cup?", "home", []int32{0, 1}, 3},
			{[]string{"Ann took the cup.", "Ann went home.", "Ann left."}, "Where is Ann?", "out,away", []int32{2}, 5},
			{[]string{"Bob sat."}, "Who sat?", "Bob", []int32{0}, 7},
		}
		if err != nil || !reflect.DeepEqual(train, want) || !reflect.DeepEqual(test, want) {
			t.Errorf("%s: %+v, error %v", name, train, err)
		}
	}
	for bad, why := range map[string]string{
		"3 Ann left.":                `line 2: "3" is not the number of the line in its story`,
		"two Ann left.":              `line 2: "two" is not the number`,
		"2 Who?\tAnn":                `is no question: write the question, its answer`,
		"2 Who?\t\t1":                `is no question`,
		"2 Who?\tAnn\t2":             `the fact "2" is no line of a statement before`,
		"2 Who?\tAnn\tx":             `the fact "x" is no line`,
		"2 Who?\tAnn\t1\n3 W?\tA\t2": `line 3: the fact "2" is no line of a statement`,
	} {
		_, _, err := LoadBAbI(put(t, "qa1_a_train.txt", "1 Ann sat.\n"+bad, "qa1_a_test.txt", ""), 1)
		wantError(t, err, "qa1_a_train.txt: ", why)
	}
	_, _, err := LoadBAbI(put(t, "qa1_a_train.txt", "2 Ann sat.\n", "qa1_a_test.txt", ""), 1)
	wantError(t, err, "line 1: ", "number the lines of each story from 1")
}

func TestReadSorted(t *testing.T) {
	x, order, err := LoadSorted(put(t, "x_5.csv", "3,1,2\n4.5, -1\n", "y_5.csv", "1,2,0\n1,0\n"), "5")
	if err != nil || !slices.Equal(x.X.Data, []tensor.Float{3, 1, 2, 4.5, -1}) || !slices.Equal(x.Lengths(), []int{3, 2}) || !reflect.DeepEqual(order, RaggedOf([]int32{1, 2, 0}, []int32{1, 0})) {
		t.Errorf("%+v, %+v, error %v", x, order, err)
	}
	for _, c := range []struct{ x, y, why string }{
		{"1,a\n", "0,1\n", `x_5.csv: line 1: "a" is no finite number`},
		{"1,1e999\n", "0,1\n", "is no finite number"},
		{"1,\n", "0,1\n", `"" is no finite number`},
		{"1,2\n1,2\n", "0,1\n", "has 2 lines and "},
		{"1,2\n", "1,1\n", `y_5.csv: line 1: "1,1" is no order: each place from 0 to 1`},
		{"1,2\n", "0,2\n", "is no order"},
		{"1,2\n", "0,x\n", `"x" is no place`},
		{"1,2,3\n", "0,1\n", "y_5.csv: line 1: 2 places for the 3 numbers"},
	} {
		_, _, err := LoadSorted(put(t, "x_5.csv", c.x, "y_5.csv", c.y), "5")
		wantError(t, err, c.why)
	}
	_, _, err = LoadSorted(t.TempDir(), "9")
	wantError(t, err, "there is no file x_9.csv in it")
}

func TestFind(t *testing.T) {
	env, flag, cache := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("EDGEWISE_DATA", env)
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("LocalAppData", cache)
	_, err := Find(flag, "trec")
	wantError(t, err, "no folder trec, and no qc.zip, in "+flag+", "+env+", ", "--data or EDGEWISE_DATA")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	for _, dir := range []string{env, flag} {
		if err := os.WriteFile(filepath.Join(dir, "qc.zip"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(flag, "TREC"); err != nil || got != dir {
			t.Errorf("found %q, error %v; want %q", got, err, dir)
		}
	}
	sub := filepath.Join(flag, "trec")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(flag, "trec"); err != nil || got != sub {
		t.Errorf("found %q, error %v; want %q", got, err, sub)
	}
	_, err = Find("", "multi30")
	wantError(t, err, `there is no dataset of text "multi30"; did you mean "multi30k"? There are: babi, `)
	if c := Catalogue(); len(c) != 7 || !slices.IsSortedFunc(c, func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("catalogue %v", c)
	}
}

// Folders of several files are read as one, or the error names one of them.

func FuzzReadMulti30k(f *testing.F) {
	f.Add("ein Hund\n", "a dog\n", "eine Katze\r\n", "a cat\n", "", "")
	f.Add("a\n\nb", "a\nb\nc", "\ufeffx", "y", "z\n", "z")
	f.Fuzz(func(t *testing.T, trainDE, trainEN, valDE, valEN, testDE, testEN string) {
		dir := put(t, "train.de", trainDE, "train.en", trainEN, "val.de", valDE, "val.en", valEN, "test.de", testDE, "test2016.en", testEN)
		train, val, test, err := LoadMulti30k(dir)
		if err != nil {
			named(t, err, dir)
			return
		}
		for _, p := range []*Parallel{train, val, test} {
			if len(p.Source) != len(p.Target) {
				t.Fatalf("%d and %d lines", len(p.Source), len(p.Target))
			}
		}
	})
}

func FuzzReadSST(f *testing.F) {
	f.Add("(3 (2 a) (4 (3 lovely) (2 film)))\n", "(0 bad)", "(2 so)\n\n(4 good)\n")
	f.Add("(5 a)\n", "", "(1 (0 \xff ) )")
	f.Fuzz(func(t *testing.T, train, dev, test string) {
		dir := put(t, "train.txt", train, "dev.txt", dev, "test.txt", test)
		a, b, c, err := LoadSST(dir)
		if err != nil {
			named(t, err, dir)
			return
		}
		for _, tree := range slices.Concat(a, b, c) {
			if tree.Len() == 0 || slices.Min(tree.Labels) < 0 || slices.Max(tree.Labels) >= sentiments {
				t.Fatalf("%s", tree)
			}
			if again, err := ParseTree(tree.String()); err != nil || again.String() != tree.String() {
				t.Fatalf("%s is read as %s, error %v", tree, again, err)
			}
		}
	})
}

func FuzzReadCoNLL2000(f *testing.F) {
	f.Add("The DT B-NP\ncat NN I-NP\n\n. . O", "A DT B-NP\n\n")
	f.Add("x Y B-", "")
	f.Fuzz(func(t *testing.T, train, test string) {
		dir := put(t, "train.txt", train, "test.txt", test)
		a, b, err := LoadCoNLL2000(dir)
		if err != nil {
			named(t, err, dir)
			return
		}
		if !slices.Equal(a.POSTags, b.POSTags) || !slices.Equal(a.ChunkTags, b.ChunkTags) || !slices.IsSorted(a.POSTags) {
			t.Fatalf("tags %q and %q, %q and %q", a.POSTags, b.POSTags, a.ChunkTags, b.ChunkTags)
		}
		for _, part := range []*Tagged{a, b} {
			for i, words := range part.Sentences {
				if n := len(words); n == 0 || len(part.POS.Sequence(i)) != n || len(part.Chunks.Sequence(i)) != n {
					t.Fatalf("sentence %d of %d words", i, n)
				}
			}
			if len(part.POS.Tokens) > 0 && (int(slices.Max(part.POS.Tokens)) >= len(part.POSTags) || int(slices.Max(part.Chunks.Tokens)) >= len(part.ChunkTags)) {
				t.Fatalf("%+v", part)
			}
		}
	})
}

// named fails the test unless an error names a file of the folder.
func named(t *testing.T, err error, dir string) {
	t.Helper()
	if !strings.Contains(err.Error(), dir) {
		t.Fatalf("no file is named: %v", err)
	}
}
