package safetensors

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
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

func FuzzObject(f *testing.F) {
	f.Add(`{"a":{"b":[1,"]"]},"c\"":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || !strings.HasPrefix(text, "{") {
			return
		}
		got, want, err := membersOf(text)
		if err != nil && (strings.Contains(err.Error(), "repeated") || strings.Contains(err.Error(), "a key of")) {
			return
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
