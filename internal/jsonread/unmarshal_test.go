package jsonread

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// even reads its own JSON.
type even int

func (e *even) UnmarshalJSON(b []byte) error {
	var n int
	if err := Unmarshal(b, &n); err != nil {
		return err
	}
	if n%2 != 0 {
		return errors.New("it is odd")
	}
	*e = even(n)
	return nil
}

// word reads its own text.
type word string

func (w *word) UnmarshalText(b []byte) error {
	if bytes.IndexByte(b, ' ') >= 0 {
		return errors.New("it has a blank")
	}
	*w = word(b)
	return nil
}

type inner struct {
	Depth int8
	Evens []even `json:"evens"`
}

type every struct {
	inner
	Name   string
	Flag   *bool
	Count  uint16
	Rate   float32
	Big    float64 `json:"big"`
	Pair   [2]int
	Rows   [][]int32
	By     map[string]inner
	Any    any
	Raw    json.RawMessage
	Number json.Number
	Word   word
	Quoted int    `json:",string"`
	Secret string `json:"-"`
	hidden int
}

// Each kind of value says what stands there, where, and what is wanted.
func TestUnmarshal(t *testing.T) {
	for text, want := range map[string]string{
		`{"Name": 1}`:                         `line 1, column 10: "Name": 1 stands there, want a text`,
		`{"NAME": []}`:                        `line 1, column 10: "NAME": a list stands there, want a text`,
		`{"Flag": "yes"}`:                     `line 1, column 10: "Flag": "yes" stands there, want true or false`,
		`{"Count": -1}`:                       `line 1, column 11: "Count": -1 stands there, want a whole number from 0`,
		`{"Count": 65536}`:                    `line 1, column 11: "Count": 65536 stands there, want a whole number from 0 to 65535`,
		`{"Depth": 128}`:                      `line 1, column 11: "Depth": 128 stands there, want a whole number from -128 to 127`,
		`{"Depth": 1e2}`:                      `line 1, column 11: "Depth": 1e2 stands there, want a whole number`,
		`{"Rate": 1e39}`:                      `line 1, column 10: "Rate": 1e39 stands there, want a number that 32 bits hold`,
		`{"big": null, "Rate": {}}`:           `line 1, column 23: "Rate": an object stands there, want a number`,
		`{"Pair": 3}`:                         `line 1, column 10: "Pair": 3 stands there, want a list`,
		"{\"Rows\": [[1, 2],\n  [3, true]]}":  `line 2, column 7: "Rows"[1][1]: true stands there, want a whole number`,
		`{"By": {"x y": {"Depth": false}}}`:   `line 1, column 26: "By"."x y"."Depth": false stands there, want a whole number`,
		`{"By": []}`:                          `line 1, column 8: "By": a list stands there, want an object in braces`,
		`{"evens": [2, 3]}`:                   `line 1, column 15: "evens"[1]: it is odd`,
		"{\"evens\": [2,\n \"a\"]}":           `line 2, column 2: "evens"[1]: "a" stands there, want a whole number`,
		`{"Word": 3}`:                         `line 1, column 10: "Word": 3 stands there, want a text`,
		"{\"Name\": \"caf\xe9\"}":             `line 1, column 10: the byte 0xe9 of a text is not UTF-8: save the file as UTF-8`,
		`{"Rows": ["\ud800"]}`:                `line 1, column 11: "Rows"[0]: \ud800 in a text is half a character, without its other half`,
		`{"Word": "a b"}`:                     `line 1, column 10: "Word": it has a blank`,
		`{"Name": "a"`:                        "line 1, column 13: it ends inside an object: it is cut, or a } is missing",
		`{"Name": "a"} 2`:                     "line 1, column 15: something follows its value",
		`[1]`:                                 "line 1, column 1: a list stands there, want an object in braces",
		`{"Any": [1, {}], "Rows": [[1.5]]}`:   `line 1, column 28: "Rows"[0][0]: 1.5 stands there, want a whole number`,
		`{"other": [{}], "Secret": 3, "big":`: "line 1, column 36: it ends inside an object: it is cut, or a } is missing",
	} {
		var v every
		if err := Unmarshal([]byte(text), &v); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	var v every
	if err := Strict([]byte(`{"By": {"a": {"Name": 1}}}`), &v); err == nil || err.Error() != `line 1, column 15: "By"."a"."Name": there is no member of that name` {
		t.Errorf("error %v", err)
	}
	if err := Strict([]byte(`{"name": "x"} {}`), &v); err == nil || err.Error() != "line 1, column 15: something follows its value" {
		t.Errorf("error %v", err)
	}
	if err := Strict([]byte("{\"name\": \"x\"}\n"), &v); err != nil || v.Name != "x" {
		t.Errorf("%q, error %v", v.Name, err)
	}
	if v.hidden != 0 {
		t.Error("a field that nobody sees is set")
	}
	if err := Unmarshal([]byte(`{"evens": [1]}`), &v); What(err).Error() != `"evens"[0]: it is odd` || !strings.HasSuffix(errors.Unwrap(err).Error(), "odd") {
		t.Errorf("error %v", err)
	}
}

// FuzzUnmarshal compares what is wrong with what encoding/json refuses: whatever it refuses has
// a place and words.
func FuzzUnmarshal(f *testing.F) {
	f.Add(`{"Name":"a","flag":true,"Count":3,"Rate":1.5,"big":1e300,"Pair":[1,2,3],"Rows":[[1],null],"By":{"a":{"Depth":-1,"evens":[2]}},"Any":[{}],"Raw":{"x":1},"Number":7}`)
	f.Add(`{"depth":null,"evens":null,"By":null,"Flag":null,"Pair":[1],"Quoted":"3"}`)
	f.Add(`{"Pair":[0,0,{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		low := strings.ToLower(text)
		if Check([]byte(text)) != nil || strings.HasPrefix(text, mark) || !utf8.ValidString(text) || strings.Contains(low, `\ud`) || strings.Contains(low, "quoted") || strings.Contains(low, "number") {
			return // the last two have rules of their own, for which explain has words of encoding/json
		}
		var v every
		err := json.Unmarshal([]byte(text), &v)
		e := (&walk{Reader: Of([]byte(text))}).value(reflect.TypeFor[every]())
		if (err == nil) != (e == nil) {
			t.Fatalf("encoding/json: %v; here: %v", err, e)
		}
	})
}
