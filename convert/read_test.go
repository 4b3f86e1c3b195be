package convert_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The same state dict comes out of each format.
func TestFormats(t *testing.T) {
	want, err := convert.Load("testdata/small.pt")
	if err != nil {
		t.Fatal(err)
	}
	if got := want.String(); got != "0.bias [2]\n0.weight [2 3]\n1.bias [2]\n1.num_batches_tracked []\n1.running_mean [2]\n1.running_var [2]\n1.weight [2]\n" {
		t.Errorf("small.pt has\n%s", got)
	}
	for _, file := range []string{"small.safetensors", "small.npz", "protocol4.pt"} {
		got, err := convert.Load(filepath.Join("testdata", file))
		if err != nil {
			t.Error(err)
			continue
		}
		for name, a := range want {
			if b := got[name]; !slices.Equal(a.Shape, b.Shape) || !slices.Equal(a.Data, b.Data) {
				t.Errorf("%s: %s is %v %v, want %v %v", file, name, b.Shape, b.Data, a.Shape, a.Data)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s has %d arrays, want %d", file, len(got), len(want))
		}
	}
	path := filepath.Join(t.TempDir(), "again.safetensors")
	if err := convert.Save(path, want); err != nil {
		t.Fatal(err)
	}
	if again, err := convert.Load(path); err != nil || again.String() != want.String() || again["0.weight"].Data[5] != want["0.weight"].Data[5] {
		t.Errorf("%v, %v", again, err)
	}
}

// Views of storages and elements of every type.
func TestViews(t *testing.T) {
	s, err := convert.Load("testdata/views.pt")
	if err != nil {
		t.Fatal(err)
	}
	base := make([]tensor.Float, 24)
	for i := range base {
		base[i] = tensor.Float(i) / 4
	}
	for name, want := range map[string]convert.Array{
		"half": {Shape: []int{4, 6}, Data: base}, "bfloat16": {Shape: []int{4, 6}, Data: base}, "double": {Shape: []int{4, 6}, Data: base},
		"transposed": {Shape: []int{6, 4}, Data: []tensor.Float{0, 1.5, 3, 4.5, 0.25, 1.75, 3.25, 4.75, 0.5, 2, 3.5, 5, 0.75, 2.25, 3.75, 5.25, 1, 2.5, 4, 5.5, 1.25, 2.75, 4.25, 5.75}},
		"strided":    {Shape: []int{2, 3}, Data: []tensor.Float{2, 2.25, 2.5, 5, 5.25, 5.5}},
		"expanded":   {Shape: []int{3}, Data: []tensor.Float{0, 0, 0}}, "scalar": {Data: []tensor.Float{2.5}}, "empty": {Shape: []int{0, 3}},
		"long": {Shape: []int{2}, Data: []tensor.Float{-3, 4}, Whole: true}, "int": {Shape: []int{1}, Data: []tensor.Float{-3}, Whole: true}, "short": {Shape: []int{1}, Data: []tensor.Float{-3}, Whole: true},
		"char": {Shape: []int{1}, Data: []tensor.Float{-3}, Whole: true}, "byte": {Shape: []int{1}, Data: []tensor.Float{250}, Whole: true}, "bool": {Shape: []int{2}, Data: []tensor.Float{1, 0}, Whole: true},
		"five": {Shape: []int{1, 2, 2, 3, 2}, Data: base}, "parameter": {Shape: []int{6}, Data: base[:6]},
	} {
		if got := s[name]; !slices.Equal(got.Shape, want.Shape) || !slices.Equal(got.Data, want.Data) || got.Whole != want.Whole {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// Files that are no state dict say what they are and what to do.
func TestReadRefuses(t *testing.T) {
	for file, want := range map[string]string{
		"legacy.pt":      "before PyTorch 1.6, or with _use_new_zipfile_serialization=False; load it there and save the state dict again",
		"whole_model.pt": "Save the state dict alone: torch.save(model.state_dict(), path)",
		"script.pt":      "TorchScript",
		"single.pt":      "it holds a single array, and no dictionary of arrays",
		"pyg.pt":         `the dictionary has no arrays; name the dictionary to be read: it has "inputs", "model", "outputs"`,
		"modules.py":     "it is no state dict",
		"missing.pt":     "no such file",
		"../testdata":    "a folder",
	} {
		_, err := convert.Load(filepath.Join("testdata", file))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: %v, want an error about %q", file, err, want)
		}
	}
	if _, err := convert.Load("testdata/pyg.pt", "state"); err == nil || !strings.Contains(err.Error(), `there is no "state" within; name the dictionary`) {
		t.Errorf("%v", err)
	}
	if _, err := convert.Load("testdata/small.npz", "model"); err == nil || !strings.Contains(err.Error(), "no file of torch.save") {
		t.Errorf("%v", err)
	}
	for start, want := range map[string]string{"": "it is empty", "\x80\x04]\x94.": "a plain pickle", "\x93NUMPY\x01": "numpy.savez", "\x89HDF\r\n": "HDF5", "PK\x05\x06": "zip archive"} {
		if _, err := convert.Load(writeFile(t, []byte(start))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error about %q", start, err, want)
		}
	}
}

func writeFile(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// member is a file of an archive.
type member struct{ name, text string }

// archive puts a zip archive together.
func archive(t testing.TB, members ...member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write([]byte(m.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tensorOf is the pickle of a tensor of floats: its storage's key and length, and its offset,
// shape and strides as opcodes.
func tensorOf(kind, key, length, offset, shape, strides string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n" + kind + "Storage\n" + text(key) + text("cpu") + length + "tQ" +
		offset + "(" + shape + "t(" + strides + "t\x89}tR"
}

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// stateOf is the pickle of a dictionary with one tensor w.
func stateOf(x string) string { return "\x80\x02}(" + text("w") + x + "u." }

const four = "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40" // 1, 2, 3, 4

// Hostile archives are refused, with words, and nothing is taken on trust.
func TestHostile(t *testing.T) {
	good := stateOf(tensorOf("Float", "0", "K\x04", "K\x00", "K\x02K\x02", "K\x02K\x01"))
	data := member{"a/data/0", four}
	if s, err := convert.Load(writeFile(t, archive(t, member{"a/data.pkl", good}, data))); err != nil || !slices.Equal(s["w"].Data, []tensor.Float{1, 2, 3, 4}) {
		t.Fatalf("%v, %v", s, err)
	}
	big := "J\xff\xff\xff\x7f"
	for want, members := range map[string][]member{
		"is not data": {{"a/data.pkl", "\x80\x02cos\nsystem\n" + text("true") + "\x85R."}},
		"asks for \"_load_from_bytes\" of \"torch.storage\"": {{"a/data.pkl", stateOf("ctorch.storage\n_load_from_bytes\nC\x00\x85R")}},
		"values take more":                                        {{"a/data.pkl", "\x80\x02" + strings.Repeat("]", 1<<20) + "."}},
		"to 4194307 bytes, which is refused":                      {{"a/data.pkl", "\x80\x02" + strings.Repeat("]", 4<<20) + "."}},
		"has no member \"a/data/0\"":                              {{"a/data.pkl", good}},
		"leads out of the archive":                                {{"a/data.pkl", good}, data, {"../../evil", "x"}},
		"leads out of the archive, which is refused":              {{"a/data.pkl", good}, data, {"/etc/passwd", "x"}},
		"there are two members \"a/data/0\"":                      {{"a/data.pkl", good}, data, data},
		"there are several data.pkl":                              {{"a/data.pkl", good}, {"b/data.pkl", good}},
		"is called \"../secret\", which is the name of no member": {{"a/data.pkl", stateOf(tensorOf("Float", "../secret", "K\x04", "K\x00", "K\x04", "K\x01"))}, {"a/secret", four}},
		"has 16 bytes, want 32":                                   {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x08", "K\x00", "K\x04", "K\x01"))}, data},
		"expands from":                                            {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x01", "K\x00", "K\x01", "K\x01"))}, data},
		"reach beyond the 4 elements of its storage":              {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x04", "K\x00", "K\x05", "K\x01"))}, data},
		"strides [3 1] reach beyond":                              {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x04", "K\x00", "K\x02K\x02", "K\x03K\x01"))}, data},
		"begins at element 4":                                     {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x04", "K\x04", "K\x01", "K\x01"))}, data},
		"has too many elements":                                   {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x04", "K\x00", big+big+big, "K\x00K\x00K\x00"))}, data},
		"show the same elements so often":                         {{"a/data.pkl", stateOf(tensorOf("Float", "0", "K\x04", "K\x00", big, "K\x00"))}, data},
		"its order of bytes is \"middle\"":                        {{"a/data.pkl", good}, data, {"a/byteorder", "middle"}},
		"want what torch.save(model.state_dict(), path) writes":   {{"a/data.pkl", "\x80\x02}."}},
		"\"w\" is a list, and not an array":                       {{"a/data.pkl", "\x80\x02}(" + text("x") + tensorOf("Float", "0", "K\x04", "K\x00", "K\x04", "K\x01") + text("w") + "]u."}, data},
		"\"w\" is an array of NumPy, and not of torch":            {{"a/data.pkl", stateOf("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R")}},
		"a key of the dictionary is a number":                     {{"a/data.pkl", "\x80\x02}(K\x01" + tensorOf("Float", "0", "K\x04", "K\x00", "K\x04", "K\x01") + "u."}, data},
		"which a float32 does not hold":                           {{"a/data.pkl", stateOf(tensorOf("Double", "0", "K\x01", "K\x00", "K\x01", "K\x01"))}, {"a/data/0", "\x00\x00\x00\x00\x00\x00\xe0\x7f"}},
		"without arrays of NumPy (*.npy) and without a data.pkl":  {{"a/other", "x"}},
		"the pickle ends inside":                                  {{"a/data.pkl", "\x80\x02}}."}},
	} {
		_, err := convert.Load(writeFile(t, archive(t, members...)))
		if wide := tensor.Float(1)+1e-10 != 1; wide && strings.Contains(want, "float32") {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %q", err, want)
		}
	}
}

// A file that was cut is an error wherever that was, and so is one with a flipped bit
// among the weights.
func TestCut(t *testing.T) {
	for _, name := range []string{"small.pt", "small.safetensors", "small.npz"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "cut")
		for n := 0; n < len(b); n += 37 {
			if err := os.WriteFile(path, b[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			if s, err := convert.Load(path); err == nil || strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "valid zip") {
				t.Errorf("%s, cut to %d of %d bytes, gives %v, error %v", name, n, len(b), s, err)
			}
		}
	}
	b, err := os.ReadFile("testdata/small.pt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := convert.Load("testdata/small.pt")
	if err != nil {
		t.Fatal(err)
	}
	weight := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(s["0.weight"].Data[0])))
	b[bytes.Index(b, weight)] ^= 1
	if _, err := convert.Load(writeFile(t, b)); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a flipped bit gives %v", err)
	}
}

// Whatever a file holds, reading it ends, with as many elements as the shapes say.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"small.pt", "protocol4.pt", "legacy.pt", "whole_model.pt", "small.safetensors", "small.npz"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "state")
	f.Fuzz(func(t *testing.T, b []byte) { fuzzRead(t, path, b) })
}

// The pickle within an archive is reached without a checksum in the way.
func FuzzTorch(f *testing.F) {
	f.Add(stateOf(tensorOf("Float", "0", "K\x04", "K\x00", "K\x02K\x02", "K\x02K\x01")), four)
	f.Add(stateOf(tensorOf("Half", "0", "K\x08", "K\x01", "K\x03", "K\x02")), four)
	path := filepath.Join(f.TempDir(), "state")
	f.Fuzz(func(t *testing.T, program, data string) {
		fuzzRead(t, path, archive(t, member{"a/data.pkl", program}, member{"a/data/0", data}))
	})
}

func fuzzRead(t *testing.T, path string, b []byte) {
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := convert.Load(path)
	if (s == nil) == (err == nil) {
		t.Fatalf("%v and %v", s, err)
	}
	for name, a := range s {
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		if n != len(a.Data) {
			t.Errorf("%q has %d elements for %v", name, len(a.Data), a.Shape)
		}
	}
}
