package safetensors

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// membersOf returns the members of an object, and those that the standard library
// finds.
func membersOf(text string) (got, want map[string]any, err error) {
	got = map[string]any{}
	err = object([]byte(text), func(key string, value []byte) error {
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return fmt.Errorf("%q: %w", value, err)
		}
		got[key] = v
		return nil
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &want)
	}
	return got, want, err
}

func TestObject(t *testing.T) {
	for _, text := range []string{
		"{}", " \n{ }\t", `{"a":1}`, `{ "a" : -1.5e3 , "b" : true }`, `{"a":{"b":[1,{"c":"}]"}]},"d":[]}`,
		`{"\"":"\\","\u00e9\ud83d\ude00":"x\"y,z:{","":null}`, `{"a":[ [ ] , { } ] , "b":"" }`,
	} {
		got, want, err := membersOf(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, error %v; want %v", text, got, err, want)
		}
	}
}

// A key that is not UTF-8 is refused, and so is half a character: two names could become one.
func TestKeysAreCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"{\"\x9d\":null}":          `the key "\"\x9d\"": the byte 0x9d of a text is not UTF-8`,
		`{"a\ud800":1}`:            `\ud800 in a text is half a character`,
		`{"\udc00\ud800":1}`:       `\udc00 in a text is half a character`,
		`{"\ud83d\u0061\ude00":1}`: `\ud83d in a text is half a character`,
	} {
		if got, _, err := membersOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v; want %s", text, got, err, want)
		}
	}
	if _, _, err := read(file(`{"\ud800":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`)); err == nil || !strings.Contains(err.Error(), "half a character") {
		t.Errorf("a header: error %v", err)
	}
}

// What a field holds instead of what it must is said in words of our own.
func TestWordsAboutHeaders(t *testing.T) {
	for head, want := range map[string]string{
		`{"a":{"shape":[1.5]}}`:                 `tensor "a": shape: [0]: 1.5 stands there, want a whole number`,
		`{"a":{"shape":{}}}`:                    `tensor "a": shape: an object stands there, want a list`,
		`{"a":{"dtype":3}}`:                     `tensor "a": dtype: 3 stands there, want a text`,
		`{"a":{"data_offsets":[0,1e30]}}`:       `tensor "a": data_offsets: [1]: 1e30 stands there, want a whole number`,
		`{"a":[1]}`:                             `tensor "a": a list stands there, want an object in braces`,
		`{"__metadata__":{"k":1}}`:              `the value of "k": it is not a text`,
		`{"a":{"shape":[1]}`:                    "the header is not JSON: line 1, column 19: it ends inside an object: it is cut, or a } is missing",
		`{"a":{"shape":[1]},}`:                  "the header is not JSON: line 1, column 20: } stands there, want a value: the last one has no comma behind it",
		`{"a":{"shape":[9223372036854775808]}}`: `shape: [0]: 9223372036854775808 stands there, want a whole number from -9223372036854775808 to 9223372036854775807`,
	} {
		if _, _, err := read(file(head)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", head, err, want)
		}
	}
}

func FuzzObject(f *testing.F) {
	f.Add(`{"a":{"b":[1,"]"]},"c\"":null}`)
	f.Add("{\"\x9d\":null}")
	f.Fuzz(func(t *testing.T, text string) {
		got, want, err := membersOf(text)
		if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
			if err == nil && strings.HasPrefix(text, "{") {
				t.Fatalf("it is not JSON, and read as %v", got)
			}
			return
		}
		if err != nil {
			for _, refused := range []string{"repeated", "a key of", "not UTF-8", "half a character", "nested deeper"} {
				if strings.Contains(err.Error(), refused) && (refused != "not UTF-8" || !utf8.ValidString(text)) {
					return
				}
			}
		}
		if err != nil || len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, error %v; want %v", got, err, want)
		}
	})
}

// A header's own size is not all that it may cost: it may have very many tensors,
// keys or axes.
func TestHeadersAreBounded(t *testing.T) {
	many := func(n int, entry string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, entry, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	const scalar = `{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`
	for want, head := range map[string]string{
		"there are more than 65536 tensors":            "{" + many(1<<16+1, `"%d":`+scalar+",") + "}",
		"there are more than 4096 keys":                `{"__metadata__":{` + many(1<<12+1, `"%d":"",`) + "}}",
		"a key of 5002 bytes":                          `{"` + strings.Repeat("x", 5000) + `":` + scalar + "}",
		`"shape" takes 2001 bytes; at most 1024`:       `{"a":{"shape":[` + strings.Repeat("0,", 999) + "0]}}",
		`elements of type "` + strings.Repeat("x", 80): `{"a":{"dtype":"` + strings.Repeat("x", 500) + `","shape":[0],"data_offsets":[0,0]}}`,
	} {
		if _, _, err := read(file(head)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("error %.400v, want one with %q", err, want)
		}
	}
	if ts, _, err := read(file("{" + many(1<<12, `"%d":`+scalar+",") + "}")); err != nil || len(ts) != 1<<12 {
		t.Errorf("%d tensors, error %v", len(ts), err)
	}
	// What is not read is not written.
	long := strings.Repeat("\x01", 700)
	if err := Write(new(strings.Builder), []Tensor{{Name: long, Shape: []int{0}, F32: []float32{}}}, nil); err == nil || !strings.Contains(err.Error(), "takes 4202 bytes in JSON") {
		t.Errorf("wrote a long name, error %v", err)
	}
	if err := Write(new(strings.Builder), nil, map[string]string{long: ""}); err == nil || !strings.Contains(err.Error(), "takes 4202 bytes in JSON") {
		t.Errorf("wrote a long key, error %v", err)
	}
}
