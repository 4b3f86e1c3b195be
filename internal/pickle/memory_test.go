package pickle

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// allocated returns what decoding b allocates in all. Slices that grow leave their
// old places behind, so what it holds at once is less than half of that.
func allocated(b []byte) (bytes int, v any, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err = Decode(b)
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc), v, err
}

// setValuesLeast sets the least budget, so that few values fill it.
func setValuesLeast(bytes int) (undo func()) {
	old := valuesLeast
	valuesLeast = bytes
	return func() { valuesLeast = old }
}

// Values that take most for a byte of input are refused before they take more than
// a small multiple of what they may.
func TestValuesAreBounded(t *testing.T) {
	defer setValuesLeast(1 << 20)()
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // what is allocated in all does not depend on it
	const size = 1 << 16                               // values of 16 bytes fill the least budget there is
	for name, c := range map[string]struct{ start, again, end string }{
		"nested lists":      {"", "]", strings.Repeat("a", size/2-1)},
		"lists":             {"](", "]", "e"},
		"dictionaries":      {"](", "}", "e"},
		"nested tuples":     {")", "\x85", ""},
		"empty tuples":      {"(", ")", "t"},
		"nothing":           {"(", "N", "t"},
		"numbers":           {"(", "J\x00\x00\x01\x00", "t"},
		"repeated":          {"K\x01q\x00(", "h\x00", "t"},
		"memo":              {"N", "\x94", ""},
		"memo out of turn":  {"Nr\xff\xff\xff\x7f", "\x94", ""},
		"pairs":             {"}(", "NN", "u"},
		"strings":           {"(", "\x8c\x00", "t"},
		"views":             {"(", "U\x00", "t"},
		"names":             {"(", "c_codecs\nencode\n", "t"},
		"names on a stack":  {"\x8c\x07_codecsq\x00\x8c\x06encodeq\x01(", "h\x00h\x01\x93", "t"},
		"objects":           {"cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nK\x00U\x01b\x87q\x01(", "h\x00h\x01R", "t"},
		"types":             {"cnumpy\ndtype\nq\x00U\xffS" + strings.Repeat("0", 253) + "1\x85q\x01(", "h\x00h\x01R", "t"},
		"lists with one":    {"](", "]Na", "e"},
		"lists with two":    {"](", "](NNe", "e"},
		"nested pairs":      {"N", "}N\x86", ""},
		"numbers in a list": {"]", "M\xff\xffa", ""},
	} {
		b := pickled(c.start + strings.Repeat(c.again, size/len(c.again)) + c.end)
		if name == "nested lists" {
			b = pickled(strings.Repeat("]", size/2) + c.end)
		}
		most := newBudget(len(b)).of
		got, _, err := allocated(b)
		if err == nil && name == "nested lists" || err != nil && !strings.Contains(err.Error(), "its values take more than") && !strings.Contains(err.Error(), "inside a value") {
			t.Errorf("%s: error %v", name, err)
		}
		if got > 6*most {
			t.Errorf("%s: %d bytes are allocated for %d, which may make %d", name, got, len(b), most)
		}
	}
}

// What real data hold is read however long it is: nodes of one neighbour, of any
// protocol, take most.
func TestValuesOfData(t *testing.T) {
	defer setValuesLeast(1 << 20)()
	for name, node := range map[string]func(v int) string{
		"protocol 2": func(v int) string {
			return "J" + le(uint64(v), 4) + "]r" + le(uint64(v), 4) + "J" + le(uint64(v), 4) + "a"
		},
		"protocol 4":    func(v int) string { return "J" + le(uint64(v), 4) + "]\x94J" + le(uint64(v), 4) + "a" },
		"no neighbours": func(v int) string { return "J" + le(uint64(v), 4) + "]\x94" },
		"names":         func(v int) string { return "J" + le(uint64(v), 4) + "\x8c\x01a\x94" },
	} {
		const nodes, batch = 1 << 13, 1000
		var b bytes.Buffer
		b.WriteString("\x80\x04}")
		for v := range nodes {
			if v%batch == 0 {
				b.WriteByte('(')
			}
			b.WriteString(node(v + nodes))
			if v%batch == batch-1 || v == nodes-1 {
				b.WriteByte('u')
			}
		}
		b.WriteByte('.')
		v, err := Decode(b.Bytes())
		if err != nil || len(v.(*Dict).Keys) != nodes {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A memo with many values out of turn is not searched for each that has none.
func TestMemoOutOfTurn(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("N")
	for i := range 1 << 16 {
		b.WriteString("r" + le(uint64(i+1<<20), 4))
	}
	v := decode(t, b.String()+strings.Repeat("\x94", 1<<18)+"j"+le(1<<20, 4)+"\x86")
	if tuple, ok := v.(Tuple); !ok || len(tuple) != 2 {
		t.Errorf("%T", v)
	}
}
