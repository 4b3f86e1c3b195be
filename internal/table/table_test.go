package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// rows returns the names and the rows of a table, and the lines they stand in.
func rows(text string) (string, error) {
	t, err := NewReader(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%q", t.Columns)
	for t.Next() {
		out += fmt.Sprintf(" %d:%q", t.Line(), t.Fields())
	}
	return out, t.Err()
}

func TestReader(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n":                           `["a" "b"] 2:["1" "2"]`,
		"\ufeff# c\n\na\tb\r\n1 x\t2\r\n\n3\t": `["a" "b"] 4:["1 x" "2"] 6:["3" ""]`,
		"a;b,c\n 1 ;2,\n":                      `["a;b" "c"] 2:["1 ;2" ""]`,
		"a;b\n 1 ;2,5\n":                       `["a" "b"] 2:["1" "2,5"]`,
		"a  b c\n 1  2\t3 \n":                  `["a" "b" "c"] 2:["1" "2" "3"]`,
		"\"a\",b\n\"1,\"\"2\" , \"\"\n":        `["a" "b"] 2:["1,\"2" ""]`,
		"\"a x\" b\n\"1\" \"2 3\"":             `["a x" "b"] 2:["1" "2 3"]`,
		"a\n1\n":                               `["a"] 2:["1"]`,
	} {
		got, err := rows(text)
		if err != nil || got != want {
			t.Errorf("%q: %s, want %s; error %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{
		"":                "line 1: there is no line in it that names columns",
		"\n# a,b\n":       "line 2: there is no line in it that names columns",
		"a,b\n1,2\n3\n":   "line 3: 1 fields, want 2 as the first line names, with commas between them",
		"a,b\n1,\"2\n3\"": "line 2: a quote is not closed in its line: a field may not go on in another",
		"a,b\n\"1\"x,2":   `line 2: "x,2" follows a field in quotes`,
		"\"a,b\n":         "line 1: a quote is not closed in its line: a field may not go on in another",
		"a,b\n1,2\n" + strings.Repeat("x", lineMost+1): fmt.Sprintf("line 3: it is longer than %d bytes", lineMost),
	} {
		if _, err := rows(text); err == nil || err.Error() != want {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
	r, err := NewReader(io.MultiReader(strings.NewReader("a,b\n1,2\n3"), iotest.ErrReader(errors.New("broken"))))
	if err != nil || !r.Next() || r.Next() || r.Err() == nil || r.Err().Error() != "line 3: broken" {
		t.Errorf("a broken reader: error %v, %v", err, r.Err())
	}
}

func TestNamed(t *testing.T) {
	for text, want := range map[string]bool{
		"source,target\n": true, "\ufeff# c\n\n\"a\" b\n": true, ",a\n": true, "é\n": true,
		"1 2\n": false, "# a b\n": false, "": false, "%x\n-1 2\n": false,
	} {
		if got := Named([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("a,b\n1,\"2\"\n")
	f.Add("a b\n\"1\"\"\" 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NewReader(strings.NewReader(text))
		if err != nil {
			return
		}
		total := 0
		for r.Next() {
			if len(r.Fields()) != len(r.Columns) {
				t.Fatalf("%d fields under %d names", len(r.Fields()), len(r.Columns))
			}
			for _, f := range r.Fields() {
				total += len(f)
			}
		}
		if total > len(text) {
			t.Fatalf("%d bytes of fields of %d", total, len(text))
		}
	})
}

// Text that begins with the byte-order mark of UTF-16 is read, in whatever pieces it comes.
func TestUTF16(t *testing.T) {
	const text = "id,town\n1,Tromsø 𝄞\n2,Æ\n"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, u)
		}
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(b), "bytes": iotest.OneByteReader(bytes.NewReader(b)), "late end": iotest.DataErrReader(bytes.NewReader(b))} {
			got, err := io.ReadAll(iotest.OneByteReader(Text(r)))
			if err != nil || string(got) != "\ufeff"+text {
				t.Errorf("%v, %s: %q, error %v", order, name, got, err)
			}
		}
		if got, err := rows(string(b)); err != nil || got != `["id" "town"] 2:["1" "Tromsø 𝄞"] 3:["2" "Æ"]` {
			t.Errorf("%v: %s, error %v", order, got, err)
		}
		if _, err := rows(string(b[:len(b)-1])); err == nil || !strings.Contains(err.Error(), "half a character stands in it: save it again, as UTF-8") {
			t.Errorf("%v cut: error %v", order, err)
		}
		half := order.AppendUint16(slices.Clone(b[:2]), 0xd834)
		for _, end := range [][]byte{nil, order.AppendUint16(nil, 'x')} {
			if _, err := io.ReadAll(Text(bytes.NewReader(append(slices.Clone(half), end...)))); !errors.Is(err, errNotUTF16) {
				t.Errorf("%v, half a pair: error %v", order, err)
			}
		}
		if _, err := io.ReadAll(Text(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(errors.New("broken"))))); err == nil || err.Error() != "broken" {
			t.Errorf("%v: error %v", order, err)
		}
	}
}

// A text of another encoding is an error that names it, and what to do.
func TestOtherEncodings(t *testing.T) {
	for text, want := range map[string]string{
		"id,town\n1,Troms\xf8\n":                     `line 2: byte 8, 0xf8 after "1,Troms", is not UTF-8 but Latin-1 or Windows-1252 perhaps: save it as UTF-8, or convert it, such as by iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW`,
		"st\xe4dte,id\n1,2\n":                        `line 1: byte 3, 0xe4 after "st", is not UTF-8`,
		"# von M\xfcller\nid,town\n":                 `line 1: byte 8, 0xfc after "# von M", is not UTF-8`,
		"id,town\n1,ø and \xff\xfe\n":                `line 2: byte 10, 0xff after "1,ø and ", is not UTF-8`,
		"i\x00d\x00\n\x00":                           `line 1: byte 2 is 0, as in UTF-16 or UTF-32 without a byte-order mark, and text is UTF-8: save it as UTF-8`,
		"\xff\xfe\x00\x00i\x00\x00\x00d\x00\x00\x00": `line 1: byte 3 is 0, as in UTF-16 or UTF-32`,
	} {
		if _, err := rows(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
