package text

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What readers take is in range, and what they do not take is an error and no panic.

func FuzzParseTree(f *testing.F) {
	f.Add("(3 (2 a) (4 (3 lovely) (2 film)))")
	f.Add("(1 (0 \xff ) )")
	f.Fuzz(func(t *testing.T, line string) {
		tree, err := ParseTree(line)
		if err != nil {
			return
		}
		again, err := ParseTree(tree.String())
		if err != nil || again.String() != tree.String() || again.Len() != strings.Count(line, "(") || !slices.Equal(again.Words, tree.Words) {
			t.Fatalf("%q is %s, and that is %s, error %v", line, tree, again, err)
		}
		if !utf8.ValidString(line) {
			return
		}
		if _, err := BatchTrees([]Tree{tree, tree}, numbered(nil)); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReadLines(f *testing.F) {
	f.Add("a\r\n\nb", "\ufeffc\n")
	f.Add("\r\r", "\n\r\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		dir := put(t, "train.de", a, "train.en", b, "A.txt", a, "B.txt", b)
		lines, err := LoadLines(filepath.Join(dir, "train.de"))
		if err == nil {
			var want []string
			for line := range strings.SplitAfterSeq(strings.TrimPrefix(a, "\ufeff"), "\n") {
				if line != "" { // behind the last line feed
					want = append(want, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
				}
			}
			packed := strings.HasPrefix(a, "\x1f\x8b") || strings.HasPrefix(a, "\x28\xb5\x2f\xfd")
			if !packed && !slices.Equal(lines, want) {
				t.Fatalf("%q has the lines %q", a, lines)
			}
		}
		if p, err := LoadParallel(filepath.Join(dir, "train.de"), filepath.Join(dir, "train.en")); err == nil && len(p.Source) != len(p.Target) {
			t.Fatalf("%d and %d lines", len(p.Source), len(p.Target))
		}
		if l, err := LoadNames(dir); err == nil && (len(l.Texts) != len(l.Labels) || slices.Contains(l.Texts, "") || int(slices.Max(l.Labels)) >= len(l.Classes)) {
			t.Fatalf("names %+v", l)
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	f.Add("text,y\n\"a, b\",1\n")
	f.Add("y\ttext\n1\tx\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := LoadCSV(filepath.Join(put(t, "a.csv", s), "a.csv"), "text", "y")
		if err == nil && (len(l.Texts) != len(l.Labels) || l.Len() > 0 && int(slices.Max(l.Labels)) >= len(l.Classes) || !utf8.ValidString(strings.Join(l.Texts, " "))) {
			t.Fatalf("%+v", l)
		}
	})
}

func FuzzReadTagged(f *testing.F) {
	f.Add("The DT B-NP\ncat NN I-NP\n\n. . O")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := LoadTagged(filepath.Join(put(t, "a", s), "a"))
		if err != nil {
			return
		}
		for i, words := range a.Sentences {
			if n := len(words); n == 0 || len(a.POS.Sequence(i)) != n || len(a.Chunks.Sequence(i)) != n {
				t.Fatalf("%q: sentence %d of %d words", s, i, n)
			}
		}
		if len(a.POS.Tokens) > 0 && (int(slices.Max(a.POS.Tokens)) >= len(a.POSTags) || int(slices.Max(a.Chunks.Tokens)) >= len(a.ChunkTags)) {
			t.Fatalf("%+v", a)
		}
	})
}

func FuzzReadTREC(f *testing.F) {
	f.Add("NUM:count How many ?\n", "HUM:ind Who \xe9 ?")
	f.Fuzz(func(t *testing.T, train, test string) {
		a, b, err := LoadTREC(put(t, "train.txt", train, "test.txt", test))
		if err != nil {
			return
		}
		for _, l := range []*Labelled{a, b, a.Coarse(), b.Coarse()} {
			if len(l.Texts) != len(l.Labels) || l.Len() > 0 && int(slices.Max(l.Labels)) >= len(l.Classes) || slices.Contains(l.Texts, "") {
				t.Fatalf("%+v", l)
			}
		}
	})
}

func FuzzReadBAbI(f *testing.F) {
	f.Add("1 Ann took the cup.\n2 Where is it? \there\t1\n")
	f.Fuzz(func(t *testing.T, s string) {
		questions, _, err := LoadBAbI(put(t, "qa1_x_train.txt", s, "qa1_x_test.txt", ""), 1)
		if err != nil {
			return
		}
		for _, q := range questions {
			if q.Answer == "" || slices.ContainsFunc(q.Facts, func(k int32) bool { return k < 0 || int(k) >= len(q.Story) }) {
				t.Fatalf("%+v", q)
			}
		}
	})
}

func FuzzReadSorted(f *testing.F) {
	f.Add("3,1,2\n", "1,2,0\n")
	f.Fuzz(func(t *testing.T, x, y string) {
		numbers, order, err := LoadSorted(put(t, "x_1.csv", x, "y_1.csv", y), "1")
		if err != nil {
			return
		}
		for i, n := range numbers.Lengths() {
			if k := len(order.Sequence(i)); k != n && 2*k != n {
				t.Fatalf("row %d: %d places for %d numbers", i, k, n)
			}
		}
	})
}
