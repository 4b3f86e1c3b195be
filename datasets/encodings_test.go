package datasets

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// inUTF16 returns a text in UTF-16 behind its byte-order mark.
func inUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// Texts in UTF-16 say what they say in UTF-8, and those in Latin-1 are errors that name it.
func TestEncodings(t *testing.T) {
	latin := func(text string) string { return strings.NewReplacer("ö", "\xf6", "å", "\xe5").Replace(text) }
	for name, c := range map[string]struct{ files, where []string }{ // the file and the line of the first letter
		"tables":  {[]string{"e_edges.csv", "source,target,how\n1,2,får\n", "e_nodes.csv", "id,town,label\n1,Malmö,a\n2,Lund,b\n"}, []string{"/e_edges.csv: line 2: byte 6, 0xe5 after \"1,2,f\"", "/e_nodes.csv: line 2: byte 7, 0xf6 after \"1,Malm\""}},
		"a table": {[]string{"e.csv", "source,target\nMalmö,Lund\n"}, []string{"/e.csv: line 2: byte 5, 0xf6"}},
		"a list":  {[]string{"e.txt", "1 2\n2 3\n"}, nil},
		"DOT":     {[]string{"e.dot", "digraph {\n a -> \"Malmö\" }\n"}, []string{"/e.dot: line 2: byte 5, 0xf6 after \"Malm\""}},
		"LINQS":   {[]string{"e.content", "a\t1\t0\tMalmö\nb\t0\t1\tLund\n", "e.cites", "a\tb\n"}, []string{"/e.content: line 1: byte 11, 0xf6"}},
		"GraphML": {[]string{"e.graphml", `<graphml><graph edgedefault="directed"><node id="Malmö"/><node id="b"/><edge source="Malmö" target="b"/></graph></graphml>`}, []string{"/e.graphml: line 1: "}},
	} {
		encoded := func(in func(text string) string, which int) string {
			parts := append([]string{}, c.files...)
			for i := 1; i < len(parts); i += 2 {
				if which < 0 || which == i/2 {
					parts[i] = in(parts[i])
				}
			}
			return saved(t, t.TempDir(), parts...)
		}
		read := func(dir string) (string, error) {
			d, err := readWith(dir + "/" + c.files[0])
			if err != nil {
				return "", err
			}
			return shown(d), nil
		}
		want, err := read(encoded(nil, len(c.files)))
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			if got, err := read(encoded(func(text string) string { return inUTF16(order, text) }, -1)); err != nil || got != want {
				t.Errorf("%s in UTF-16, %v:\n%s, want\n%s; error %v", name, order, got, want, err)
			}
		}
		for i, where := range c.where {
			dir := encoded(latin, i)
			if _, err := read(dir); err == nil || !strings.HasPrefix(err.Error(), dir+where) || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("%s in Latin-1: error %v, want %s", name, err, dir+where)
			}
		}
	}
	_, err := readWith(saved(t, t.TempDir(), "e.txt", "1\x00 \x002\x00\n\x00") + "/e.txt")
	if err == nil || !strings.Contains(err.Error(), "it has bytes of 0, as in UTF-16 without a byte-order mark: save it as UTF-8") {
		t.Errorf("error %v", err)
	}
}

// A graph whose only edges are self-loops, which are left out, says that nothing is passed on; after
// loops are added, too. One edge is enough to say nothing.
func TestNothingPassedOn(t *testing.T) {
	d, err := readWith(saved(t, t.TempDir(), "e.txt", "0 0\n1 1\n2 2\n") + "/e.txt")
	if err != nil {
		t.Fatal(err)
	}
	const want = "its 3 edges lead from nodes to themselves, and such are left out: nothing is passed from node to node, so that a network sees each by itself"
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "edges     none\n          3 self-loops of the raw data left out\n") || !strings.Contains(b.String(), "mind      "+want+"\n") {
		t.Errorf("described as %s, error %v", b.String(), err)
	}
	if got := d.WithSelfLoops().Doubt(); got != want {
		t.Errorf("with loops it says %q", got)
	}
	if d, err = readWith(saved(t, t.TempDir(), "e.txt", "0 0\n1 1\n2 1\n") + "/e.txt"); err != nil || d.Doubt() != "" || d.WithSelfLoops().Doubt() != "" {
		t.Errorf("one edge: %q, error %v", d.Doubt(), err)
	}
}
