package pickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// le is n bytes of a little-endian number.
func le(v uint64, n int) string {
	return string(binary.LittleEndian.AppendUint64(nil, v)[:n])
}

// str2 is a Python 2 string.
func str2(s string) string { return "T" + le(uint64(len(s)), 4) + s }

// dtypeOf is a numpy.dtype as Python 2 pickles it.
func dtypeOf(order, code string) string {
	return "cnumpy\ndtype\n" + str2(code) + "K\x00K\x01\x87R(K\x03" + str2(order) + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
}

// array is a numpy.ndarray; shape is the opcodes of its lengths.
func array(shape, order, code, data string) string {
	return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + str2("b") + "\x87R" +
		"(K\x01(" + shape + "t" + dtypeOf(order, code) + "\x89" + str2(data) + "tb"
}

// csr is the 2×3 matrix [0 5 0; 7 0 0].
func csr() string {
	return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" +
		str2("format") + str2("csr") +
		str2("_shape") + "K\x02K\x03\x86" +
		str2("indptr") + array("K\x03", "<", "i4", le(0, 4)+le(1, 4)+le(2, 4)) +
		str2("indices") + array("K\x02", "<", "i4", le(1, 4)+le(0, 4)) +
		str2("data") + array("K\x02", "<", "f4", le(uint64(math.Float32bits(5)), 4)+le(uint64(math.Float32bits(7)), 4)) +
		"ub"
}

// graph is defaultdict(list, {0: [1, 300], 1: [0]}).
func graph() string {
	return "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00](K\x01M\x2c\x01eK\x01]K\x00au"
}

func pickled(body string) []byte { return []byte("\x80\x02" + body + ".") }

func decode(t *testing.T, body string) any {
	t.Helper()
	v, err := Decode(pickled(body))
	if err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return v
}

func TestPlainValues(t *testing.T) {
	for body, want := range map[string]any{
		"N": nil, "\x88": true, "\x89": false,
		"K\xff": int64(255), "M\xff\xff": int64(65535), "J\xfe\xff\xff\xff": int64(-2),
		"\x8a\x00": int64(0), "\x8a\x02\x00\x80": int64(-32768), "\x8b\x01\x00\x00\x00\x7f": int64(127),
		"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f": int64(math.MaxInt64),
		"G\xbf\xf8\x00\x00\x00\x00\x00\x00":        -1.5,
		"U\x02ab":                                  Bytes("ab"),
		"C\x01\xff":                                Bytes("\xff"),
		"X\x02\x00\x00\x00é":                       "é",
		"\x8c\x01a":                                "a",
		")":                                        Tuple(nil),
		"K\x01K\x02\x86":                           Tuple{int64(1), int64(2)},
		"(K\x01(K\x02tt":                           Tuple{int64(1), Tuple{int64(2)}},
		"]K\x01a(K\x02K\x03e":                      &List{[]any{int64(1), int64(2), int64(3)}},
		"}K\x01K\x02s":                             &Dict{[]any{int64(1)}, []any{int64(2)}},
		"c_codecs\nencode\nX\x02\x00\x00\x00ÿ\x8c\x06latin1\x86R": Bytes("\xff"),
		"K\x07r\x05\x01\x00\x00j\x05\x01\x00\x00\x86":             Tuple{int64(7), int64(7)},
		"K\x07q\x05h\x05\x86":                                     Tuple{int64(7), int64(7)},
		"\x95\x02\x00\x00\x00\x00\x00\x00\x00K\x01":               int64(1),
		"\x8c\x01a\x94h\x00\x86":                                  Tuple{"a", "a"},
	} {
		if got := decode(t, body); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", body, got, want)
		}
	}
}

func TestGraph(t *testing.T) {
	want := &Dict{
		Keys:   []any{int64(0), int64(1)},
		Values: []any{&List{[]any{int64(1), int64(300)}}, &List{[]any{int64(0)}}},
	}
	if got := decode(t, graph()); !reflect.DeepEqual(got, want) {
		t.Errorf("graph is %#v", got)
	}
}

func TestArrays(t *testing.T) {
	for _, c := range []struct {
		shape, order, code, data string
		want                     []float64
	}{
		{"K\x02K\x01", "<", "i4", le(1, 4) + "\xff\xff\xff\xff", []float64{1, -1}},
		{"K\x02", ">", "i2", "\x01\x00\xff\xfe", []float64{256, -2}},
		{"K\x01", "<", "i8", le(1<<40, 8), []float64{1 << 40}},
		{"K\x03", "|", "b1", "\x01\x00\x01", []float64{1, 0, 1}},
		{"K\x02", "|", "i1", "\x80\x7f", []float64{-128, 127}},
		{"K\x02", "|", "u1", "\x80\x7f", []float64{128, 127}},
		{"K\x01", ">", "f4", "\x3f\x80\x00\x00", []float64{1}},
		{"K\x01", "<", "f8", le(math.Float64bits(0.1), 8), []float64{0.1}},
		{"K\x00K\x05", "<", "f4", "", []float64{}},
	} {
		a, ok := decode(t, array(c.shape, c.order, c.code, c.data)).(*Array)
		if !ok || a.Dtype != c.order+c.code || len(a.Shape) != len(c.shape)/2 {
			t.Fatalf("%s%s: %+v", c.order, c.code, a)
		}
		if got, err := a.Floats(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, error %v; want %v", a.Dtype, got, err, c.want)
		}
		ints, err := a.Ints()
		if (err == nil) != (c.code[0] != 'f') {
			t.Errorf("%s: integers %v, error %v", a.Dtype, ints, err)
		}
	}
	big := decode(t, array("K\x01", "<", "u8", le(1<<63, 8))).(*Array)
	if _, err := big.Ints(); err == nil || err.Error() != "element 0 is 9223372036854775808, which is too large" {
		t.Errorf("2⁶³ became an int64, error %v", err)
	}
	long := decode(t, array("K\x02", "<", "i8", le(7, 8)+le(1<<31, 8))).(*Array)
	if _, err := long.Int32s(); err == nil || err.Error() != "element 1 is 2147483648, which is too large" {
		t.Errorf("2³¹ became an int32, error %v", err)
	}
	if f, err := long.Float32s(); err != nil || f[0] != 7 || f[1] != 1<<31 {
		t.Errorf("%v, error %v", f, err)
	}
}

func TestCSR(t *testing.T) {
	c, ok := decode(t, csr()).(*CSR)
	if !ok || c.Rows != 2 || c.Cols != 3 {
		t.Fatalf("%+v", c)
	}
	off, _ := c.Offsets.Ints()
	col, _ := c.Columns.Ints()
	val, _ := c.Values.Floats()
	if !reflect.DeepEqual(off, []int64{0, 1, 2}) || !reflect.DeepEqual(col, []int64{1, 0}) || !reflect.DeepEqual(val, []float64{5, 7}) {
		t.Errorf("offsets %v, columns %v, values %v", off, col, val)
	}
	again := decode(t, "ccopy_reg\n_reconstructor\n"+strings.Replace(csr(), ")\x81", "c__builtin__\nobject\nN\x87R", 1))
	if !reflect.DeepEqual(again, c) {
		t.Errorf("by _reconstructor it is %+v", again)
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	for _, b := range [][]byte{pickled(csr()), pickled(graph()), pickled("\x8c\x01a\x94"), pickled(buffer(bytearray(le(1, 8)), "i4", "K\x02", "F"))} {
		for n := range b {
			v, err := Decode(b[:n])
			var e *Error
			if !errors.As(err, &e) || e.Offset > n || v != nil {
				t.Fatalf("the first %d of %d bytes: %v, error %v", n, len(b), v, err)
			}
		}
	}
}

// scalar is a number of NumPy's.
func scalar(code, content string) string {
	order := "<"
	if single(code) {
		order = "|"
	}
	return "cnumpy.core.multiarray\nscalar\n" + dtypeOf(order, code) + str2(content) + "\x86R"
}

func TestScalarsAndSets(t *testing.T) {
	for body, want := range map[string]any{
		scalar("i8", le(1<<40, 8)):                  int64(1 << 40),
		scalar("u1", "\xff"):                        int64(255),
		scalar("f8", le(math.Float64bits(-1.5), 8)): -1.5,
		"\x8f":                               new(List),
		"\x8f(K\x01K\x02\x90":                &List{[]any{int64(1), int64(2)}},
		"c__builtin__\nset\n]K\x01a\x85R":    &List{[]any{int64(1)}},
		"cbuiltins\nset\n](K\x01K\x02e\x85R": &List{[]any{int64(1), int64(2)}},
	} {
		if got := decode(t, body); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", body, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	arr := array("K\x01", "<", "i4", le(1, 4))
	for body, want := range map[string]string{
		"cos\nsystem\nU\x02ls\x85R":                         `"system" of "os"`,
		"\x8c\x05posix\x8c\x06system\x93":                   `"system" of "posix"`,
		"c__builtin__\neval\nU\x011\x85R":                   `"eval"`,
		"cnumpy.core.multiarray\nscalar\n":                  "no data",
		"cnumpy.core.multiarray\nscalar\nNN\x86R":           "not a dtype and as many bytes",
		scalar("O", ""):                                     "no number",
		scalar("S2", "ab"):                                  "no number",
		scalar("i8", "1234567"):                             "not a dtype and as many bytes",
		scalar("u8", le(1<<63, 8)):                          "no number",
		"c__builtin__\nset\nN\x85R":                         "called with 1 arguments",
		"(S'ls'\nios\nsystem\n":                             "opcode 'S' is of protocol 0, which is text: save it again with protocol=2 to 5",
		"(ios\nsystem\n":                                    "opcode 'i' is not one of plain data",
		"I7x\n":                                             `"7x" is no integer`,
		"I99999999999999999999\n":                           `"99999999999999999999" is no integer`,
		"I1":                                                "no end",
		"c_codecs\nencode\n)R":                              "0 arguments",
		"ccollections\ndefaultdict\ncnumpy\nndarray\n\x85R": "defaultdict",
		"cnumpy\ndtype\nU\x02V8\x85R":                       `"V8"`,
		"cnumpy\ndtype\nU\x02M8\x85R":                       `"M8"`,
		array("K\x01", "|", "O8", "abcd"):                   "content in a pickle.Bytes",
		array("K\x01", "|", "S99999999999", "a"):            "cannot be read",
		"cnumpy\ndtype\n":                                   "no data",
		"cnumpy\ndtype\nU\x02i4\x85R":                       "no data",
		"cscipy.sparse.csr\ncsr_matrix\n)\x81":              "no content",
		"cscipy.sparse.csr\ncsr_matrix\n)\x81}b":            "no shape",
		"cscipy.sparse.csr\ncsr_matrix\n)\x81Nb":            "dictionary",
		")R":                                                "no value",
		"K\x01)R":                                           "int64 is called",
		"K\x01K\x02R":                                       "tuple",
		"K\x01Nb":                                           "takes no state",
		"K\x01K\x02":                                        "inside a value",
		"":                                                  "no value",
		"(a":                                                "no value",
		"K\x01(e":                                           "int64 is not a list",
		"](a":                                               "no value",
		"}(K\x01u":                                          "1 keys and values",
		"]K\x01K\x02s":                                      "does not take",
		"t":                                                 "no mark",
		"h\x07":                                             "memo at 7",
		"\x80\x06":                                          "protocol 6 is not supported, only 1 to 5",
		"T\xff\xff\xff\xff":                                 "4294967295 bytes",
		"X\xff\xff\xff\xff":                                 "4294967295 bytes",
		"\x8d\xff\xff\xff\xff\xff\xff\xff\xff":              "18446744073709551615 bytes",
		"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f":              "9223372036854775807 bytes",
		"\x95\xff\xff\xff\xff\xff\xff\xff\x7fN":             "frame",
		"\x8b\xff\xff\xff\x7f":                              "over 64 bits",
		"\x8a\x09123456789":                                 "over 64 bits",
		"X\x01\x00\x00\x00\xff":                             "UTF-8",
		"cos":                                               "no end",
		strings.Repeat("(", MaxDepth+1):                     "deeper",
		"N.N":                                               "2 bytes follow",
		array("K\x02", "<", "i4", le(1, 4)):                 "4 bytes for [2]",
		array("K\x01", "=", "i4", le(1, 4)):                 "byte order",
		array("K\x01", "|", "i4", le(1, 4)):                 "byte order",
		array("J\xff\xff\xff\xff", "<", "i4", ""):           "shape",
		array(strings.Repeat("\x8a\x08"+le(1<<62, 8), 2), "<", "i4", ""):          "overflows",
		array(strings.Repeat("K\x01", 33), "<", "i4", le(1, 4)):                   "state of an array",
		arr[:len(arr)-1] + "q\x09bh\x09b":                                         "given once",
		strings.Replace(csr(), "K\x02K\x03\x86", "K\x02\x85", 1):                  "shape",
		strings.Replace(csr(), "K\x02K\x03\x86", "K\x02J\xff\xff\xff\xff\x86", 1): "length 1",
		strings.Replace(csr(), "indptr", "indptt", 1):                             "indptr",
	} {
		v, err := Decode(pickled(body))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "pickle: byte ") {
			t.Errorf("%.60q: %v, error %v; want one with %q", body, v, err, want)
		}
	}
}

// buffer is an array as protocol 5 pickles it: content is the opcode of bytes or a
// bytearray, and what goes with it.
func buffer(content, code, shape, order string) string {
	return "cnumpy.core.numeric\n_frombuffer\n(" + content + dtypeOf("<", code) + "(" + shape + "t\x8c" + le(uint64(len(order)), 1) + order + "tR"
}

// bytearray is the opcode of a bytearray.
func bytearray(s string) string { return "\x96" + le(uint64(len(s)), 8) + s }

func TestProtocols1And5(t *testing.T) {
	for body, want := range map[string]any{
		"I300\n": int64(300), "I-7\n": int64(-7), "I01\n": true, "I00\n": false,
		bytearray("ab"):               Bytes("ab"),
		"c__builtin__\nbytes\n)R":     Bytes{},
		"cbuiltins\nbytes\n)\x81":     Bytes{},
		"(I1\n" + bytearray("") + "t": Tuple{int64(1), Bytes{}},
	} {
		if got := decode(t, body); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", body, got, want)
		}
	}
	for order, fortran := range map[string]bool{"C": false, "F": true} {
		for _, content := range []string{bytearray(le(1, 4) + le(2, 4)), "C\x08" + le(1, 4) + le(2, 4)} {
			a, ok := decode(t, buffer(content, "i4", "K\x02K\x01", order)).(*Array)
			if !ok {
				t.Fatalf("%q is no array", content)
			}
			if got, err := a.Ints(); err != nil || !reflect.DeepEqual(got, []int64{1, 2}) || !reflect.DeepEqual(a.Shape, []int{2, 1}) || a.Fortran != fortran {
				t.Errorf("%v, error %v, %+v", got, err, a)
			}
		}
	}
	want := decode(t, csr())
	for _, class := range []string{"scipy.sparse._csr\ncsr_matrix", "scipy.sparse._csr\ncsr_array", "scipy.sparse._arrays\ncsr_array"} {
		if got := decode(t, strings.Replace(csr(), "scipy.sparse.csr\ncsr_matrix", class, 1)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v", class, got)
		}
	}
}

// hostile5 is what protocol 5 brings, as files may have it that lie.
func hostile5() map[string]string {
	four, huge := bytearray(le(1, 4)), "\x8a\x08"+le(1<<62, 8)
	return map[string]string{
		"\x96\xff\xff\xff\xff\xff\xff\xff\xff":                 "18446744073709551615 bytes are wanted",
		"\x96\xff\xff\xff\xff\xff\xff\xff\x7fab":               "9223372036854775807 bytes are wanted",
		"\x96\x04\x00":                                         "8 bytes are wanted",
		"\x97":                                                 "outside of the pickle: save it again without buffer_callback",
		"N\x98":                                                "outside of the pickle: save it again without buffer_callback",
		buffer(four, "i4", "K\x02", "C"):                       "4 bytes for [2]",
		buffer(bytearray(""), "i4", "K\x02", "C"):              "0 bytes for [2]",
		buffer(four, "i4", "J\xff\xff\xff\xff", "C"):           "shape",
		buffer(four, "i4", huge+huge, "C"):                     "overflows",
		buffer(four, "i4", huge, "C"):                          "overflows",
		buffer(four, "f4", "K\x01", "A"):                       "neither C nor F",
		buffer(four, "O8", "K\x01", "C"):                       "byte order",
		buffer("](NNe", "i4", "K\x02", "C"):                    "content in a *pickle.List",
		buffer("N", "i4", "K\x01", "C"):                        "0 bytes for [1]",
		"cnumpy.core.numeric\n_frombuffer\n" + four + "\x85R":  "called with 1 arguments",
		"cnumpy.core.numeric\n_frombuffer\n(" + four + "NNNtR": "neither C nor F",
		"cnumpy.core.numeric\n_frombuffer\n(" + four + "]q\x00h\x00a)h\x00h\x00tR": "called with 5 arguments",
		"cnumpy.core.numeric\n_frombuffer\n(" + four + "N)]q\x00h\x00atR":          "neither C nor F",
		"cnumpy.core.numeric\n_frombuffer\n":                                       "no data",
		"cbuiltins\nbytes\nK\x07\x85R":                                             "called with 1 arguments",
	}
}

func TestHostileProtocol5(t *testing.T) {
	for body, want := range hostile5() {
		v, err := Decode(append([]byte("\x80\x05"), body+"."...))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%q: %v, error %v; want one with %q", body, v, err, want)
		}
	}
}

func TestErrorGivesTheOffset(t *testing.T) {
	_, err := Decode(pickled("K\x01K\x02cos\nsystem\n"))
	var e *Error
	if !errors.As(err, &e) || e.Offset != 6 {
		t.Errorf("error is %v, want it at byte 6", err)
	}
}

// TestBombs decodes small inputs that stand for a lot, and bounds what they take.
func TestBombs(t *testing.T) {
	double := "]q\x00"
	for i := range 100 { // a list of twice the list before, 2¹⁰⁰ elements if written out
		double += "]q" + string(rune(i+1)) + "h" + string(rune(i)) + "ah" + string(rune(i)) + "a"
	}
	double += strings.Repeat("\x86", 100)
	if _, err := Decode(pickled(double)); err != nil {
		t.Errorf("shared lists: %v", err)
	}
	tuples := "K\x01q\x00" + strings.Repeat("h\x00\x86q\x00", 200)
	for _, tail := range []string{"", "Nb", ")R", "K\x01s", "K\x01a"} {
		_, err := Decode(pickled(tuples + tail))
		if (err == nil) != (tail == "") || err != nil && len(err.Error()) > 200 {
			t.Errorf("nested tuples with %q: error %.300v", tail, err)
		}
	}
	long := strings.Repeat("x", 1<<16)
	again := "(X\x00\x00\x01\x00" + long + "q\x00" + strings.Repeat("c_codecs\nencode\nh\x00\x8c\x06latin1\x86R", 1000) + "t"
	if _, err := Decode(pickled(again)); err == nil || !strings.Contains(err.Error(), "more text") {
		t.Errorf("64 kB encoded 1000 times: error %v", err)
	}
}

func TestDictGet(t *testing.T) {
	d := &Dict{Keys: []any{Bytes("a"), "b", int64(1), "a"}, Values: []any{1, 2, 3, 4}}
	if d.Get("a") != 4 || d.Get("b") != 2 || d.Get("c") != nil {
		t.Errorf("a %v, b %v, c %v", d.Get("a"), d.Get("b"), d.Get("c"))
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{csr(), graph(), array("K\x02", "<", "i4", le(1, 8)), "cos\nsystem\nU\x02ls\x85R",
		"c_codecs\nencode\nX\x02\x00\x00\x00ÿ\x8c\x06latin1\x86R", "\x8c\x01a\x94h\x00\x86", "]q\x00h\x00a",
		objectArray("", csr()), array("K\x01", "|", "S2", "ab"), "I7\n", scalar("i8", le(7, 8)), "\x8f(K\x01\x90", buffer(bytearray(le(1, 8)), "i4", "K\x02", "F")} {
		f.Add(pickled(s))
	}
	for s := range hostile5() {
		f.Add(append([]byte("\x80\x05"), s+"."...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.Clone(b)
		v, err := Decode(b)
		if !bytes.Equal(b, in) {
			t.Fatal("the input changed")
		}
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(b)) {
			t.Fatalf("error %v", err)
		}
		arrays := []*Array{}
		switch x := v.(type) {
		case *Array:
			arrays = append(arrays, x)
		case *CSR:
			arrays = append(arrays, x.Offsets, x.Columns, x.Values)
		}
		for _, a := range arrays {
			if names, err := a.Strings(); err == nil && len(names) != a.Len() {
				t.Fatalf("%d strings of %d", len(names), a.Len())
			}
			n := 1
			for _, s := range a.Shape {
				n *= s
			}
			if vs, err := a.Floats(); err == nil && len(vs) != n {
				t.Fatalf("%d elements for the shape %v", len(vs), a.Shape)
			}
		}
	})
}

// objectArray is an array of objects as Python 2 pickles it.
func objectArray(shape, items string) string {
	return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + str2("b") + "\x87R" +
		"(K\x01(" + shape + "t" + dtypeOf("|", "O8") + "\x89](" + items + "etb"
}

func TestObjectArrays(t *testing.T) {
	a, ok := decode(t, objectArray("", csr())).(*Array)
	if !ok || a.Dtype != "|O" || len(a.Shape) != 0 || a.Len() != 1 {
		t.Fatalf("%+v", a)
	}
	if c, ok := a.Objects[0].(*CSR); !ok || c.Rows != 2 {
		t.Errorf("it holds %+v", a.Objects[0])
	}
	if _, err := a.Floats(); err == nil {
		t.Error("a matrix became a number")
	}
	if _, err := a.Strings(); err == nil || !strings.Contains(err.Error(), "element 0 is a *pickle.CSR") {
		t.Errorf("a matrix became a string, error %v", err)
	}
	names := decode(t, objectArray("K\x02", "U\x01a"+"X\x02\x00\x00\x00é")).(*Array)
	if got, err := names.Strings(); err != nil || !reflect.DeepEqual(got, []string{"a", "é"}) {
		t.Errorf("names %q, error %v", got, err)
	}
	for body, want := range map[string]string{
		objectArray("K\x03", "NN"):                           "2 objects for the shape [3]",
		objectArray("\x8a\x08"+le(1<<62, 8), "NN"):           "2 objects",
		array("K\x01", "|", "O8", ""):                        "content in a pickle.Bytes",
		strings.Replace(objectArray("", "N"), "O8", "i4", 1): "byte order",
	} {
		if _, err := Decode(pickled(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", body, err, want)
		}
	}
}

func TestStringArrays(t *testing.T) {
	for _, c := range []struct {
		order, code, data string
		want              []string
	}{
		{"|", "S3", "ab\x00c\x00\x00", []string{"ab", "c"}},
		{"<", "U2", le('é', 4) + le(0, 4) + le('x', 4) + le('y', 4), []string{"é", "xy"}},
		{">", "U1", "\x00\x00\x00a\x00\x00\x00b", []string{"a", "b"}},
		{"<", "U1", le(1<<31, 4) + le('b', 4), []string{"\uFFFD", "b"}},
	} {
		a := decode(t, array("K\x02", c.order, c.code, c.data)).(*Array)
		if got, err := a.Strings(); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s%s: %q, error %v; want %q", c.order, c.code, got, err, c.want)
		}
		if _, err := a.Ints(); err == nil {
			t.Errorf("%s: strings became numbers", c.code)
		}
	}
	if _, err := decode(t, array("K\x01", "<", "i4", le(1, 4))).(*Array).Strings(); err == nil {
		t.Error("numbers became strings")
	}
}
