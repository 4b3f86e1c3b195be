package text

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

// realDir returns the folder of a published dataset, or skips the test.
func realDir(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("EDGEWISE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	if sub := filepath.Join(dir, name); isDir(sub) {
		return sub
	}
	t.Skipf("no folder %s in %s; set EDGEWISE_DATA to the folder that has it", name, dir)
	return ""
}

func TestNamesCounts(t *testing.T) {
	all, err := LoadNames(realDir(t, "names"))
	if err != nil {
		t.Fatal(err)
	}
	names := all.Map(Fold).Unique()
	c, err := NewCharacters(names.Texts, false)
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != 20050 || len(all.Classes) != 18 || names.Len() != 17993 || c.Len() != 58+int(First) {
		t.Errorf("%d names of %d languages, %d without repeats, %d characters", all.Len(), len(all.Classes), names.Len(), c.Len()-int(First))
	}
	russian := slices.Index(names.Classes, "Russian")
	n := 0
	for _, y := range names.Labels {
		if int(y) == russian {
			n++
		}
	}
	if n != 9340 {
		t.Errorf("%d names are Russian, want 9,340", n)
	}
}

func TestTRECCounts(t *testing.T) {
	train, test, err := LoadTREC(realDir(t, "trec"))
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 5452 || test.Len() != 500 || len(train.Classes) != 50 || len(train.Coarse().Classes) != 6 || len(test.Coarse().Classes) != 6 {
		t.Errorf("%d and %d questions, %d classes, %d coarse", train.Len(), test.Len(), len(train.Classes), len(train.Coarse().Classes))
	}
	if c := train.Coarse(); train.Texts[0] != "How did serfdom develop in and then leave Russia ?" || train.Classes[train.Labels[0]] != "DESC:manner" || c.Classes[c.Labels[0]] != "DESC" {
		t.Errorf("the first question is %q of class %q", train.Texts[0], train.Classes[train.Labels[0]])
	}
	if !utf8.ValidString(strings.Join(train.Texts, "\n")) || !strings.Contains(train.Texts[65], "sisterðcity") {
		t.Errorf("question 66 is %q", train.Texts[65])
	}
	var lower [][]string
	for _, s := range train.Texts {
		lower = append(lower, strings.Fields(strings.ToLower(s)))
	}
	if v, err := NewVocabulary(lower, 2); err != nil || v.Len() != 3478+int(First) {
		t.Errorf("%d words occur twice, error %v", v.Len()-int(First), err)
	}
}

func TestCoNLLCounts(t *testing.T) {
	train, test, err := LoadCoNLL2000(realDir(t, "conll2000"))
	if err != nil {
		t.Fatal(err)
	}
	if len(train.Sentences) != 8936 || len(test.Sentences) != 2012 || len(train.POS.Tokens) != 211727 || len(test.Chunks.Tokens) != 47377 {
		t.Errorf("%d and %d sentences, %d and %d words", len(train.Sentences), len(test.Sentences), len(train.POS.Tokens), len(test.Chunks.Tokens))
	}
	if len(train.POSTags) != 44 || len(train.ChunkTags) != 23 || train.ChunkTags[22] != "O" {
		t.Errorf("parts of speech %q, chunks %q", train.POSTags, train.ChunkTags)
	}
	if s := strings.Join(train.Sentences[0][:4], " "); s != "Confidence in the pound" || train.ChunkTags[train.Chunks.Tokens[1]] != "B-PP" || train.POSTags[train.POS.Tokens[0]] != "NN" {
		t.Errorf("the first sentence is %q", s)
	}
	lower := make([][]string, len(train.Sentences))
	for i, s := range train.Sentences {
		lower[i] = strings.Fields(strings.ToLower(strings.Join(s, " ")))
	}
	if v, err := NewVocabulary(lower, 2); err != nil || v.Len() != 8934+int(First) {
		t.Errorf("%d words occur twice, error %v", v.Len()-int(First), err)
	}
}

func TestSSTCounts(t *testing.T) {
	train, val, test, err := LoadSST(realDir(t, "sst"))
	if err != nil {
		t.Fatal(err)
	}
	nodes, neutral := 0, 0
	for _, tr := range train {
		nodes += tr.Len()
	}
	for _, tr := range test {
		if tr.Labels[0] == 2 {
			neutral++
		}
	}
	if len(train) != 8544 || len(val) != 1101 || len(test) != 2210 || nodes != 318582 || len(test)-neutral != 1821 {
		t.Errorf("%d, %d, %d trees, %d nodes, %d test trees with a side", len(train), len(val), len(test), nodes, len(test)-neutral)
	}
	v := numbered([]string{"film"})
	b, err := BatchTrees(train, v)
	if err != nil {
		t.Fatal(err)
	}
	if b.Graph.NumNodes() != nodes || b.Graph.NumEdges() != nodes-len(train) || slices.Max(b.Graph.Kinds()) != 1 || !slices.Equal(b.Roots, b.Graph.Sinks()) {
		t.Errorf("a graph of %d nodes and %d edges", b.Graph.NumNodes(), b.Graph.NumEdges())
	}
}

// What the 6,818 pairs of ten words at most are, depends on each rule of Words.
func TestMulti30kCounts(t *testing.T) {
	if !sparing.Full() {
		t.Skip("it splits 60,000 sentences: EDGEWISE_FULL=1 does it")
	}
	train, val, test, err := LoadMulti30k(realDir(t, "multi30k"))
	if err != nil {
		t.Fatal(err)
	}
	if len(train.Source) != 29000 || len(val.Source) != 1014 || len(test.Source) != 1000 {
		t.Errorf("%d, %d, %d pairs", len(train.Source), len(val.Source), len(test.Source))
	}
	var words [2]*Words
	for side, lines := range [2][]string{train.Source, train.Target} {
		if words[side], err = NewWords(lines, 1, false); err != nil {
			t.Fatal(err)
		}
	}
	short := train.Encode(words[0], words[1]).Within(10)
	tokens := len(short.Target.Tokens) + short.Len() // the ends too
	if n := test.Encode(words[0], words[1]).Within(10).Len(); short.Len() != 6818 || n != 255 || tokens != 66503 {
		t.Errorf("%d and %d short pairs, %d tokens", short.Len(), n, tokens)
	}
	for side, want := range [2]int{2268, 2134} {
		r := [2]Ragged{short.Source, short.Target}[side]
		counts, twice := map[int32]int{}, 0
		for _, w := range r.Tokens {
			if counts[w]++; counts[w] == 2 {
				twice++
			}
		}
		if twice != want {
			t.Errorf("side %d: %d words occur twice, want %d", side, twice, want)
		}
	}
}

func TestBAbICounts(t *testing.T) {
	dir := realDir(t, "babi")
	for _, task := range []int{1, 2, 8, 19} {
		train, test, err := LoadBAbI(dir, task)
		if err != nil {
			t.Fatal(err)
		}
		if len(train) != 1000 || len(test) != 1000 {
			t.Errorf("task %d: %d and %d questions", task, len(train), len(test))
		}
		if q := train[0]; task == 2 && (q.Text != "Where is the football?" || q.Answer != "garden" || len(q.Story) != 6 ||
			len(q.Facts) != 2 || q.Story[q.Facts[0]] != "Mary got the football there." || q.Story[q.Facts[1]] != "Mary went back to the garden.") {
			t.Errorf("task 2: the first question is %+v", q)
		}
		if q := train[2]; task == 2 && len(q.Story) != 16 {
			t.Errorf("task 2: %d statements before the third question, want 16", len(q.Story))
		}
	}
	if _, _, err := LoadBAbI(dir, 21); err == nil || !strings.Contains(err.Error(), "qa21_*_train.txt") {
		t.Errorf("task 21: error %v", err)
	}
}

func TestSortedCounts(t *testing.T) {
	dir := realDir(t, "ptr_sort")
	for name, distinct := range map[string]int{"3": 720, "5": 8500, "8": 9969, "3_test": 0, "sums": 0, "sums_test": 0} {
		x, order, err := LoadSorted(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if x.Len() != 10000 || order.Len() != 10000 {
			t.Fatalf("%s: %d rows, %d orders", name, x.Len(), order.Len())
		}
		rows := map[[8]float32]bool{}
		for i := range x.Len() {
			row := x.X.Data[x.Offsets[i]:x.Offsets[i+1]]
			var key [8]float32
			for k, v := range row {
				key[k] = float32(v)
			}
			rows[key] = true
			places := order.Sequence(i)
			value := func(k int32) float64 {
				if len(places) < len(row) {
					return float64(row[2*k] + row[2*k+1])
				}
				return float64(row[k])
			}
			for k := 1; k < len(places); k++ {
				if value(places[k-1]) > value(places[k]) {
					t.Fatalf("%s: row %d is %v, its order %v", name, i, row, places)
				}
			}
		}
		if distinct > 0 && len(rows) != distinct {
			t.Errorf("%s: %d distinct rows, want %d", name, len(rows), distinct)
		}
	}
}
