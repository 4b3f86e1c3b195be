package table

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
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
		"a,b\n1,2\n3\n":   "line 3: 1 fields, want 2 as the first line names",
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
