package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// file puts a header and data together by hand.
func file(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func read(b []byte) ([]Tensor, map[string]string, error) {
	return Read(bytes.NewReader(b), int64(len(b)))
}

var sample = []Tensor{
	{Name: "b", Shape: []int{}, F32: []float32{1}},
	{Name: "a.W", Shape: []int{2, 1}, F32: []float32{-2, 0.5}},
	{Name: "z", Shape: []int{1}, F64: []float64{1}},
}

// sampleFile is what sample must be, spelt out.
func sampleFile() []byte {
	return file(`{"__metadata__":{"k":"v\"<","layer":"{}"},`+
		`"z":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},`+
		`"a.W":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},`+
		`"b":{"dtype":"F32","shape":[],"data_offsets":[16,20]}} `,
		0, 0, 0, 0, 0, 0, 0xf0, 0x3f, // 1 in float64
		0, 0, 0, 0xc0, 0, 0, 0, 0x3f, // −2, ½
		0, 0, 0x80, 0x3f) // 1
}

func TestWriteGoldenBytes(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, sample, map[string]string{"layer": "{}", "k": `v"<`}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), sampleFile()) {
		t.Errorf("wrote\n%q, want\n%q", b.Bytes(), sampleFile())
	}
	if n := binary.LittleEndian.Uint64(b.Bytes()); n%8 != 0 {
		t.Errorf("a header of %d bytes is not padded", n)
	}
}

func TestReadGoldenBytes(t *testing.T) {
	ts, meta, err := read(sampleFile())
	if err != nil {
		t.Fatal(err)
	}
	if want := []Tensor{sample[2], sample[1], sample[0]}; !reflect.DeepEqual(ts, want) {
		t.Errorf("read %v, want %v", ts, want)
	}
	if !reflect.DeepEqual(meta, map[string]string{"k": `v"<`, "layer": "{}"}) {
		t.Errorf("metadata %v", meta)
	}
}

func TestRoundTripKeepsBits(t *testing.T) {
	odd := []float32{float32(math.Copysign(0, -1)), math.MaxFloat32, math.SmallestNonzeroFloat32,
		float32(math.Inf(-1)), math.Float32frombits(0x7fc00001)}
	long := make([]float64, 20_011)
	for i := range long {
		long[i] = math.Sqrt(float64(i))
	}
	in := []Tensor{
		{Name: "long", Shape: []int{20_011}, F64: long},
		{Name: "empty", Shape: []int{3, 0}, F32: []float32{}},
		{Name: "odd ☃ \u2028", Shape: []int{5}, F32: odd},
	}
	var b bytes.Buffer
	if err := Write(&b, in, nil); err != nil {
		t.Fatal(err)
	}
	out, meta, err := read(b.Bytes())
	if err != nil || len(out) != 3 || len(meta) != 0 {
		t.Fatalf("%d tensors, metadata %v, error %v", len(out), meta, err)
	}
	if !reflect.DeepEqual(out[0], in[0]) || !reflect.DeepEqual(out[1], in[1]) || out[2].Name != in[2].Name {
		t.Error("what was read is not what was written")
	}
	for i, v := range out[2].F32 {
		if math.Float32bits(v) != math.Float32bits(odd[i]) {
			t.Errorf("element %d is %x, want %x", i, math.Float32bits(v), math.Float32bits(odd[i]))
		}
	}
}

func TestHalfPrecision(t *testing.T) {
	ts, _, err := read(file(`{"b":{"dtype":"BF16","shape":[1],"data_offsets":[12,14]},"h":{"dtype":"F16","shape":[6],"data_offsets":[0,12]}}`,
		0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b, 0x00, 0xfc, 0x55, 0x35, 0x80, 0x3f))
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{1, -2, 1.0 / (1 << 24), 65504, float32(math.Inf(-1)), 0.333251953125}
	if !reflect.DeepEqual(ts[0].F32, want) || ts[1].F32[0] != 1 {
		t.Errorf("read %v, %v; want %v, 1", ts[0].F32, ts[1].F32, want)
	}
	if v := Half(0x7e00); v == v {
		t.Errorf("a NaN became %v", v)
	}
}

// Whole numbers and booleans, which other programs keep beside weights, become int64.
func TestWholeNumbers(t *testing.T) {
	b := file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"I32","shape":[],"data_offsets":[8,12]},`+
		`"c":{"dtype":"I16","shape":[1],"data_offsets":[12,14]},"d":{"dtype":"I8","shape":[1],"data_offsets":[14,15]},`+
		`"e":{"dtype":"U8","shape":[1],"data_offsets":[15,16]},"f":{"dtype":"BOOL","shape":[2],"data_offsets":[16,18]}}`,
		0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff, 0xfc, 0xff, 0xfb, 0xfb, 1, 0)
	ts, _, err := read(b)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int64
	for _, x := range ts {
		got = append(got, x.I64)
	}
	if want := [][]int64{{-2}, {-3}, {-4}, {-5}, {251}, {1, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := Write(new(bytes.Buffer), ts[:1], nil); err == nil || !strings.Contains(err.Error(), "whole numbers") {
		t.Errorf("they are written: %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for name, ts := range map[string][]Tensor{
		"twice":     {{Name: "a", Shape: []int{1}, F32: one}, {Name: "a", Shape: []int{1}, F32: one}},
		"no name":   {{Shape: []int{1}, F32: one}},
		"reserved":  {{Name: "__metadata__", Shape: []int{1}, F32: one}},
		"not UTF-8": {{Name: "\xff", Shape: []int{1}, F32: one}},
		"both":      {{Name: "a", Shape: []int{1}, F32: one, F64: []float64{1}}},
		"shape":     {{Name: "a", Shape: []int{2}, F32: one}},
		"negative":  {{Name: "a", Shape: []int{-1, -1}, F32: one}},
		"overflow":  {{Name: "a", Shape: []int{math.MaxInt/2 + 1, math.MaxInt/2 + 1}, F32: one}},
	} {
		var b bytes.Buffer
		if err := Write(&b, ts, nil); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
	if err := Write(new(bytes.Buffer), nil, map[string]string{"k": "\xff"}); err == nil {
		t.Error("metadata that are not UTF-8 were written")
	}
}

// limited fails after that many bytes.
type limited int

func (l *limited) Write(b []byte) (int, error) {
	if *l -= limited(len(b)); *l < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestWriteErrorIsReported(t *testing.T) {
	for n := range len(sampleFile()) - 1 {
		l := limited(n)
		if err := Write(&l, sample, map[string]string{"k": `v"<`, "layer": "{}"}); err == nil {
			t.Fatalf("no error with room for %d bytes", n)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`
	entry := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"a":{"dtype":%q,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	d4, d8 := make([]byte, 4), make([]byte, 8)
	for name, b := range map[string][]byte{
		"empty":               nil,
		"header 2⁶⁴−1":        {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'},
		"header 2⁶³":          {0, 0, 0, 0, 0, 0, 0, 128, '{', '}'},
		"header over the cap": {1, 0xe1, 0xf5, 5, 0, 0, 0, 0, '{', '}'},
		"header over size":    {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'},
		"no header":           file(""),
		"array":               file("[]"),
		"space first":         file(" {}"),
		"two objects":         file("{}{}"),
		"NUL behind":          file("{}\x00"),
		"not UTF-8":           file("{\"\xff\":{}}"),
		"trailing":            file("{"+a+"}", d8...),
		"trailing, no tensor": file("{}", d8...),
		"short":               file("{"+a+"}", 0, 0),
		"repeated tensor":     file("{"+a+","+a+"}", d4...),
		"repeated field":      file(`{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, d4...),
		"unknown field":       file(`{"a":{"dtype":"F32","x":1,"shape":[1],"data_offsets":[0,4]}}`, d4...),
		"overlap":             file("{"+a+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`, d8[:6]...),
		"shared":              file("{"+a+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, d4...),
		"gap":                 file("{"+a+`,"b":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}}`, d8...),
		"begins late":         file(entry("F32", "[1]", "[4,8]"), d8...),
		"backwards":           file(entry("F32", "[0]", "[4,0]"), d4...),
		"negative offset":     file(entry("F32", "[2]", "[-4,4]"), d4...),
		"one offset":          file(entry("F32", "[1]", "[4]"), d4...),
		"offset 1e30":         file(entry("F32", "[1]", "[0,1e30]"), d4...),
		"fraction":            file(entry("F32", "[1.5]", "[0,4]"), d4...),
		"negative shape":      file(entry("F32", "[-1,-1]", "[0,4]"), d4...),
		"overflow to 1":       file(entry("F32", "[4294967297,4294967295]", "[0,4]"), d4...),
		"overflow times 0":    file(entry("F32", "[4294967296,4294967296,0]", "[0,0]")),
		"shape null":          file(entry("F32", "null", "[0,4]"), d4...),
		"shape and bytes":     file(entry("F32", "[2]", "[0,4]"), d4...),
		"odd bytes":           file(entry("F32", "[1]", "[0,6]"), d8[:6]...),
		"complex":             file(entry("C64", "[1]", "[0,8]"), d8...),
		"metadata number":     file(`{"__metadata__":{"k":1}}`),
		"metadata null":       file(`{"__metadata__":{"k":null}}`),
		"metadata list":       file(`{"__metadata__":[]}`),
		"deep":                file(`{"a":` + strings.Repeat("[", 1<<16) + strings.Repeat("]", 1<<16) + "}"),
	} {
		if ts, _, err := read(b); err == nil {
			t.Errorf("%s: read %v", name, ts)
		} else if !strings.HasPrefix(err.Error(), "safetensors: ") {
			t.Errorf("%s: error %q does not say whose it is", name, err)
		}
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	b := sampleFile()
	for n := range b {
		if _, _, err := read(b[:n]); err == nil {
			t.Errorf("no error at %d of %d bytes", n, len(b))
		}
		if _, _, err := Read(bytes.NewReader(b[:n]), int64(len(b))); err == nil {
			t.Errorf("no error where the file shrinks to %d bytes", n)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sampleFile())
	f.Add(file("{}"))
	f.Add(file(`{"a":{"dtype":"F16","shape":[2,0],"data_offsets":[0,0]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ts, meta, err := read(b)
		if err != nil {
			return
		}
		for _, x := range ts {
			if x.Name == "" || x.I64 != nil {
				return // other writers may; ours does not
			}
		}
		var w bytes.Buffer
		if err := Write(&w, ts, meta); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, _, err := read(w.Bytes())
		if err != nil || len(again) != len(ts) {
			t.Fatalf("what was written cannot be read: %d tensors of %d, %v", len(again), len(ts), err)
		}
	})
}
