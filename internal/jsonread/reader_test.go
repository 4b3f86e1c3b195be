package jsonread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// tokens returns all tokens of a text, those of encoding/json in the same form.
func tokens(r *Reader) (out []string, err error) {
	for {
		t, err := r.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, string(t.Kind)+t.Text)
	}
}

func standardTokens(text string) (out []string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		switch t := t.(type) {
		case json.Delim:
			out = append(out, t.String()+t.String())
		case string:
			out = append(out, `"`+t)
		case json.Number:
			out = append(out, "0"+t.String())
		case bool:
			out = append(out, map[bool]string{true: "ttrue", false: "ffalse"}[t])
		case nil:
			out = append(out, "nnull")
		}
	}
}

var sound = []string{
	"{}", "[]", " \n{ }\t", `{"a":1}`, `{ "a" : -1.5e3 , "b" : true }`, `{"a":{"b":[1,{"c":"}]"}]},"d":[]}`, "0", `"x"`, "null", "[-0,0.25,1E+9,12e-1]",
	`{"\"":"\\","\u00e9\ud83d\ude00":"x\"y,z:{","":null,"\b\f\n\r\t\/":false}`, "{\"a\":[ [ ] , { } ]\r\n, \"b\":\"\u2028é\" }", "[[],[[]],{\"a\":{}}]",
}

// The tokens are those of encoding/json, wherever the pieces end that a text is read in.
func TestTokens(t *testing.T) {
	for _, text := range sound {
		want, err := standardTokens(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range map[string]*Reader{
			"text": Of([]byte(text)), "whole": New(strings.NewReader(text)), "bytes": New(iotest.OneByteReader(strings.NewReader(text))),
			"with its end": New(iotest.DataErrReader(strings.NewReader(text))), "marked": New(strings.NewReader(mark + text)),
		} {
			if got, err := tokens(r); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %q, error %v; want %q", text, name, got, err, want)
			}
		}
	}
}

// What is wrong is said in words of our own, with its place, whatever the text is read from.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "1:1 it ends where a value is wanted: it is empty or cut",
		" \n ":                         "2:2 it ends where a value is wanted: it is empty or cut",
		"[1,\n [2":                     "2:4 it ends inside a list: it is cut, or a ] is missing",
		`{"a":`:                        "1:6 it ends inside an object: it is cut, or a } is missing",
		`{"a`:                          "1:4 it ends inside a text: it is cut, or a closing quote is missing",
		`["a\`:                         "1:5 it ends inside a text: it is cut, or a closing quote is missing",
		mark + "[x":                    "1:2 x stands there, want a value",
		"[1] x":                        "1:5 something follows its value",
		"[1,]":                         "1:4 ] stands there, want a value: the last one has no comma behind it",
		"[,1]":                         "1:2 , stands there, want a value",
		"[1 2]":                        "1:4 2 stands there, want a comma or ]",
		"[1}":                          "1:3 } stands there, want a comma or ]",
		`{"a" 1}`:                      "1:6 1 stands there, want a colon behind the key",
		`{"a":1 "b":2}`:                "1:8 \" stands there, want a comma or }",
		"{a: 1}":                       `1:2 a stands there, want a key in double quotes, "`,
		"{'a': 1}":                     `1:2 ' stands there, want a key in double quotes, "`,
		`{"a":}`:                       "1:6 } stands there, want a value",
		"[01]":                         "1:2 01 stands there, and is no number of JSON, such as -1, 0.5 or 2e-3",
		"[.5]":                         "1:2 .5 stands there, and is no number of JSON, such as -1, 0.5 or 2e-3",
		"[1.]":                         "1:2 1. stands there, and is no number of JSON, such as -1, 0.5 or 2e-3",
		"[-Infinity]":                  "1:2 -Infinity stands there, and JSON has no such number: write null where a value is not known",
		"[True]":                       "1:2 True stands there, as Python writes it: JSON has true, false and null; json.dump writes them",
		"['a']":                        `1:2 ' stands there, and JSON has double quotes, ": json.dump writes them`,
		"[nul]":                        "1:2 nul stands there, want a value",
		"[\"é\", x]":                   "1:7 x stands there, want a value", // columns are characters
		"[\"a\nb\"]":                   "1:4 the control character '\\n' stands in a text: is a quote missing, or an escape such as \\n?",
		`["\x"]`:                       `1:2 \x stands in a text, and is no escape: a backslash itself is \\`,
		`["\u12g4"]`:                   `1:2 "\\u12g4" stands in a text: \u wants four hexadecimal digits`,
		`["\u12"]`:                     `1:2 "\\u12\"" stands in a text: \u wants four hexadecimal digits`,
		"[\"\xff\"]":                   "1:2 the byte 0xff of a text is not UTF-8: save the file as UTF-8",
		"[\xff]":                       "1:2 the byte 0xff stands there, want a value",
		"\xff\xfe[\x00":                "1:1 it begins as UTF-16 does: save it as UTF-8",
		`["\ud800x"]`:                  `1:2 \ud800 in a text is half a character, without its other half`,
		strings.Repeat("[", 10001):     "1:10001 values are nested deeper than 10000",
		"[" + strings.Repeat(" ", 1e5): "1:100002 it ends inside a list: it is cut, or a ] is missing",
	} {
		for name, r := range map[string]*Reader{"text": Of([]byte(text)), "whole": New(strings.NewReader(text)), "bytes": New(iotest.OneByteReader(strings.NewReader(text)))} {
			_, err := tokens(r)
			line, column := r.Place()
			if got := fmt.Sprintf("%d:%d %v", line, column, err); got != want {
				t.Errorf("%.40q, %s: %s, want %s", text, name, got, want)
			}
			if _, again := r.Token(); again != err {
				t.Errorf("%.40q, %s: then %v", text, name, again)
			}
		}
	}
}

// The place of a token is that of its beginning, also when what follows it was looked at.
func TestPlace(t *testing.T) {
	text := "[\"éé\",\n\n   7" + strings.Repeat(" ", 1<<17) + "]"
	for name, r := range map[string]*Reader{"text": Of([]byte(text)), "whole": New(strings.NewReader(text)), "bytes": New(iotest.OneByteReader(strings.NewReader(text)))} {
		for i, want := range [][2]int{{1, 1}, {1, 2}, {3, 4}} {
			if _, err := r.Token(); err != nil {
				t.Fatal(err)
			}
			r.More()
			if line, column := r.Place(); line != want[0] || column != want[1] {
				t.Errorf("%s: token %d is in line %d, column %d; want %v", name, i, line, column, want)
			}
		}
	}
}

// A token may not fill memory, and an error of the reader is not lost.
func TestLimits(t *testing.T) {
	for _, begin := range []string{`["`, "[1"} {
		r := New(io.MultiReader(strings.NewReader(begin), io.LimitReader(digits{}, 2*TokenMost)))
		if _, err := tokens(r); err == nil || !strings.Contains(err.Error(), "longer than 33554432 bytes") || cap(r.buf) > 2*TokenMost {
			t.Errorf("%s…: error %v, with %d bytes", begin, err, cap(r.buf))
		}
	}
	broken := errors.New("broken")
	for _, text := range []string{"", "[1,", "[1", `["a`, "[1]"} {
		if got, err := tokens(New(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))); !errors.Is(err, broken) {
			t.Errorf("%s: tokens %q, error %v", text, got, err)
		}
	}
}

type digits struct{}

func (digits) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}

// Skip, Rest and Raw end where the value does.
func TestSkip(t *testing.T) {
	const text = `{"a": [1, {"b": [2]}], "c": "x", "d": 3}`
	r := Of([]byte(text))
	var got []string
	if _, err := r.Token(); err != nil {
		t.Fatal(err)
	}
	for r.More() {
		key, err1 := r.Raw()
		value, err2 := r.Raw()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		got = append(got, string(key), string(value))
	}
	if want := []string{`"a"`, `[1, {"b": [2]}]`, `"c"`, `"x"`, `"d"`, "3"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	r = Of([]byte(text))
	for range 4 { // { "a" [ 1
		_, _ = r.Token()
	}
	if err := r.Rest(); err != nil {
		t.Fatal(err)
	}
	key, _ := r.Token()
	if err := r.Skip(); err != nil || key.Text != "c" {
		t.Errorf("key %q, error %v", key.Text, err)
	}
	if err := Of([]byte("1")).End(); err == nil {
		t.Error("nothing is read, and it ends")
	}
}

// FuzzReader compares what is JSON, and its tokens, with encoding/json.
func FuzzReader(f *testing.F) {
	for _, text := range sound {
		f.Add(text)
	}
	f.Add(`["\ud800"]`)
	f.Add("[1,]")
	f.Fuzz(func(t *testing.T, text string) {
		err := Check([]byte(text))
		if valid := json.Valid([]byte(strings.TrimPrefix(text, mark))); valid != (err == nil) {
			t.Fatalf("valid %v, error %v", valid, err)
		}
		got, err1 := tokens(Of([]byte(text)))
		streamed := New(iotest.HalfReader(strings.NewReader(text)))
		again, err2 := tokens(streamed)
		if fmt.Sprint(got, err1) != fmt.Sprint(again, err2) {
			t.Fatalf("%q, error %v; streamed %q, error %v", got, err1, again, err2)
		}
		if err != nil {
			return
		}
		want, _ := standardTokens(strings.TrimPrefix(text, mark))
		switch {
		case err1 != nil && !utf8.ValidString(text) && strings.Contains(err1.Error(), "not UTF-8"):
		case err1 != nil && strings.Contains(err1.Error(), "half a character"):
			if !bytes.Contains(bytes.ToLower([]byte(text)), []byte(`\ud`)) {
				t.Fatal(err1)
			}
		case err1 != nil || fmt.Sprint(got) != fmt.Sprint(want):
			t.Fatalf("%q, error %v; want %q", got, err1, want)
		}
	})
}
