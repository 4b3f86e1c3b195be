package text

import (
	"slices"
	"strings"
	"testing"
)

// Folders of several files are read as one, or the error names one of them.

func FuzzReadMulti30k(f *testing.F) {
	f.Add("ein Hund\n", "a dog\n", "eine Katze\r\n", "a cat\n", "", "")
	f.Add("a\n\nb", "a\nb\nc", "\ufeffx", "y", "z\n", "z")
	f.Fuzz(func(t *testing.T, trainDE, trainEN, valDE, valEN, testDE, testEN string) {
		dir := put(t, "train.de", trainDE, "train.en", trainEN, "val.de", valDE, "val.en", valEN, "test.de", testDE, "test2016.en", testEN)
		train, val, test, err := ReadMulti30k(dir)
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
		a, b, c, err := ReadSST(dir)
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
		a, b, err := ReadCoNLL2000(dir)
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
