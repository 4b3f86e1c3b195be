package edgelist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// ends returns the ends of the edges of a text, source and destination in turn.
func ends(text string) (got []int64, err error) {
	err = Read(strings.NewReader(text), func(u, v int64) error {
		got = append(got, u, v)
		return nil
	})
	return got, err
}

func TestRead(t *testing.T) {
	for text, want := range map[string][]int64{
		"":                               nil,
		"0 1\n2 3\n":                     {0, 1, 2, 3},
		"# a comment\n\n% another\n7\t9": {7, 9},
		"1,2\r\n3 , 4\r\n":               {1, 2, 3, 4},
		"  5   5  \n":                    {5, 5},
		"\ufeff8 9\n1 2":                 {8, 9, 1, 2},
		"\ufeff# a comment\n1 2":         {1, 2},
		"9223372036854775799 0":          {9223372036854775799, 0},
	} {
		got, err := ends(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, error %v; want %v", text, got, err, want)
		}
	}
}

func TestBadLines(t *testing.T) {
	for text, want := range map[string]string{
		"0 1\n2\n":                        `line 2: "2" is not an edge: want the numbers of two nodes`,
		"0 1 2":                           `line 1: "0 1 2" is not an edge: want the numbers of two nodes; for weights name the columns in a first line, such as source,target,weight; times are not read: cut them off`,
		"0 -1":                            `line 1: "0 -1" is not an edge: want the numbers of two nodes`,
		"a b":                             `line 1: "a b" is not an edge: want the numbers of two nodes; a line that names columns, such as source,target, is the first one, or begins with #`,
		"source,target\n0,1":              `line 1: "source,target" is not an edge: want the numbers of two nodes; a line that names columns, such as source,target, is the first one, or begins with #`,
		"\"a\",\"b\"":                     `line 1: "\"a\",\"b\"" is not an edge: want the numbers of two nodes; a line that names columns, such as source,target, is the first one, or begins with #`,
		"0,1,0.5":                         `line 1: "0,1,0.5" is not an edge: want the numbers of two nodes; for weights name the columns in a first line, such as source,target,weight; times are not read: cut them off`,
		"1 2\n\ufeff3 4":                  `line 2: "\ufeff3 4" is not an edge: want the numbers of two nodes`,
		"0 1 # x":                         `line 1: "0 1 # x" is not an edge: want the numbers of two nodes; for weights name the columns in a first line, such as source,target,weight; times are not read: cut them off`,
		"1,,2":                            `line 1: "1,,2" is not an edge: want the numbers of two nodes`,
		"1\x002\x00":                      `line 1: "1\x002\x00" is not an edge: want the numbers of two nodes; it has bytes of 0, as in UTF-16 without a byte-order mark: save it as UTF-8`,
		"1x 2":                            `line 1: "1x 2" is not an edge: want the numbers of two nodes`,
		"0 99999999999999999999":          `line 1: "0 99999999999999999999" is not an edge: want the numbers of two nodes`,
		"\n" + strings.Repeat("1", 1<<17): "line 2: it is longer than 65536 bytes",
	} {
		if _, err := ends(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	if err := Read(iotest.ErrReader(broken), nil); !errors.Is(err, broken) || err.Error() != "line 1: broken" {
		t.Errorf("error %v", err)
	}
	if err := Read(strings.NewReader("0 1\n2 3\n4 5"), func(u, _ int64) error {
		if u == 2 {
			return broken
		}
		return nil
	}); !errors.Is(err, broken) || err.Error() != "line 2: broken" {
		t.Errorf("refused by the caller, error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("0 1\n# c\n2,3\n")
	f.Add("0 1 2")
	f.Add("18446744073709551616 1")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ends(text)
		if err != nil {
			return
		}
		var b strings.Builder
		for i := 0; i < len(got); i += 2 {
			if got[i] < 0 || got[i+1] < 0 {
				t.Fatalf("edge %d→%d", got[i], got[i+1])
			}
			fmt.Fprintf(&b, "%d %d\n", got[i], got[i+1])
		}
		again, err := ends(b.String())
		if err != nil || !slices.Equal(again, got) {
			t.Fatalf("written and read again: %v, error %v; was %v", again, err, got)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var s strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&s, "%d %d\n", i, i*7%4039)
	}
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		if err := Read(strings.NewReader(s.String()), func(_, _ int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
