package train_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// deep is a model with a nested one and a list.
type deep struct {
	Name  string
	First logistic
	Rest  []*logistic
}

func newDeep() *deep {
	return &deep{Name: "two \"layers\"", First: *newLogistic(), Rest: []*logistic{newLogistic(), newLogistic()}}
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.bin")
	m := newDeep()
	m.Rest[1].W.Value.Data[3] = 42
	m.First.Mean.Value.Data[0] = -7
	if err := train.Save(path, m); err != nil {
		t.Fatal(err)
	}
	var back deep
	if err := train.LoadConfig(path, &back); err != nil {
		t.Fatal(err)
	}
	if back.Name != m.Name || back.First.In != 2 || len(back.Rest) != 2 || back.Rest[1].Classes != 2 {
		t.Fatalf("the struct came back as %+v", back)
	}
	blank := newDeep()
	for _, p := range grad.Params(blank) {
		p.Value.Fill(9)
	}
	if err := train.Load(path, blank); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values(blank), values(m)) {
		t.Errorf("loaded %v, saved %v", values(blank), values(m))
	}
}

// values returns all numbers of a model.
func values(model any) []tensor.Float {
	var all []tensor.Float
	for _, p := range grad.Params(model) {
		all = append(all, p.Value.Data...)
	}
	return all
}

func TestSaveBytes(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, path := range []string{a, b} {
		if err := train.Save(path, newDeep()); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := os.ReadFile(a)
	y, _ := os.ReadFile(b)
	if len(x) == 0 || !bytes.Equal(x, y) {
		t.Error("the same model gave two files")
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%d files, want the two asked for", len(files))
	}
	tensors, metadata, err := readTensors(a)
	if err != nil || len(tensors) != 9 || metadata["format"] != "edgewise" || metadata["version"] != "1" {
		t.Errorf("%d tensors, metadata %v, error %v", len(tensors), metadata, err)
	}
	if want := `{"Name":"two \"layers\"","First":{"In":2,"Classes":2},"Rest":[{"In":2,"Classes":2},{"In":2,"Classes":2}]}`; metadata["model"] != want {
		t.Errorf("model is %s, want %s", metadata["model"], want)
	}
}

// put writes tensors to a new file.
func put(t *testing.T, metadata map[string]string, tensors ...safetensors.Tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "planted")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := safetensors.Write(io.Writer(f), tensors, metadata); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoadRefuses checks the error, and that nothing of a file that does not fit
// is loaded.
func TestLoadRefuses(t *testing.T) {
	w := safetensors.Tensor{Name: "W", Shape: []int{2, 2}, F32: []float32{1, 2, 3, 4}}
	b := safetensors.Tensor{Name: "B", Shape: []int{2}, F32: []float32{5, 6}}
	mean := safetensors.Tensor{Name: "Mean", Shape: []int{2}, F32: []float32{7, 8}}
	turned := safetensors.Tensor{Name: "B", Shape: []int{2, 1}, F32: []float32{5, 6}}
	extra := safetensors.Tensor{Name: "C", Shape: []int{1}, F32: []float32{5}}
	for _, c := range []struct {
		path string
		want []string
	}{
		{put(t, nil, w, mean), []string{"planted", "missing in the file: B"}},
		{put(t, nil, w, b, mean, extra), []string{"not in the model: C"}},
		{put(t, nil, w, turned, mean), []string{"B is [2 1] in the file and [2] in the model"}},
		{put(t, nil, turned, extra), []string{"missing in the file: W, Mean", "not in the model: C", "[2 1]"}},
		{put(t, map[string]string{"format": "edgewise", "version": "2"}, w, b, mean), []string{"planted", `version "2"`}},
		{filepath.Join(t.TempDir(), "absent"), []string{"absent"}},
	} {
		m := newLogistic()
		before := slices.Clone(values(m))
		err := train.Load(c.path, m)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v does not say %q", err, want)
			}
		}
		if !slices.Equal(values(m), before) {
			t.Errorf("%v: the model was changed all the same", err)
		}
	}
	if err := train.Load(put(t, nil, w, b, mean), newLogistic()); err != nil {
		t.Errorf("a file by another program that fits: %v", err)
	}
}

// twice is a model whose two embedded parts give two Params one path.
type twice struct {
	left
	right
}

type (
	left  struct{ W *grad.Param }
	right struct{ W *grad.Param }
)

func TestOnePathTwice(t *testing.T) {
	m := &twice{left{grad.NewParam(1)}, right{grad.NewParam(1)}}
	path := filepath.Join(t.TempDir(), "model")
	for _, err := range []error{train.Save(path, m), train.Load(put(t, nil), m)} {
		if err == nil || !strings.Contains(err.Error(), `two Params called "W"`) {
			t.Errorf("error is %v", err)
		}
	}
}

// TestLoadListsSome names the first of many.
func TestLoadListsSome(t *testing.T) {
	var many []safetensors.Tensor
	for i := range 20 {
		many = append(many, safetensors.Tensor{Name: fmt.Sprintf("Q%02d", i), Shape: []int{1}, F32: []float32{1}})
	}
	err := train.Load(put(t, nil, many...), newLogistic())
	if err == nil || !strings.Contains(err.Error(), "Q06, Q07 and 12 more") {
		t.Errorf("error is %v", err)
	}
}

// TestLoadPrecision widens float32 and refuses to narrow float64.
func TestLoadPrecision(t *testing.T) {
	type one struct {
		W *grad.Param `json:"-"`
	}
	m := one{grad.NewParam(1)}
	err := train.Load(put(t, nil, safetensors.Tensor{Name: "W", Shape: []int{1}, F64: []float64{0.1}}), m)
	switch any(tensor.Float(0)).(type) {
	case float32:
		if err == nil || !strings.Contains(err.Error(), "W is float64 in the file and float32 in the model") {
			t.Errorf("error is %v", err)
		}
	default:
		if err != nil || m.W.Value.Data[0] != 0.1 {
			t.Errorf("loaded %v, error %v", m.W.Value.Data, err)
		}
	}
	if err := train.Load(put(t, nil, safetensors.Tensor{Name: "W", Shape: []int{1}, F32: []float32{0.25}}), m); err != nil || m.W.Value.Data[0] != 0.25 {
		t.Errorf("float32: loaded %v, error %v", m.W.Value.Data, err)
	}
}

// Whole numbers, which files of other programs have, are no Param's values.
func TestLoadWholeNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole")
	header := `{"W":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`
	b := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header+"\x01\x00\x00\x00\x00\x00\x00\x00"...)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	m := struct {
		W *grad.Param `json:"-"`
	}{grad.NewParam(1)}
	if err := train.Load(path, m); err == nil || !strings.Contains(err.Error(), "W has whole numbers in the file and floats in the model") {
		t.Errorf("error is %v", err)
	}
}

func TestLoadCorrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := train.Save(path, newLogistic()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 7 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{train.Load(path, newLogistic()), train.LoadConfig(path, new(logistic))} {
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("cut to %d of %d bytes: error %v", n, len(whole), err)
			}
		}
	}
}

func TestLoadConfigRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := train.Save(path, newLogistic()); err != nil {
		t.Fatal(err)
	}
	var other struct{ In int }
	if err := train.LoadConfig(path, &other); err == nil || !strings.Contains(err.Error(), `"Classes"`) {
		t.Errorf("another struct: error %v", err)
	}
	bare := put(t, nil, safetensors.Tensor{Name: "W", Shape: []int{1}, F32: []float32{1}})
	if err := train.LoadConfig(bare, new(logistic)); err == nil || !strings.Contains(err.Error(), "not a file made by Save") {
		t.Errorf("no metadata: error %v", err)
	}
}

func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	for want, model := range map[string]any{
		"Init called": &logistic{},
		"JSON": &struct {
			F func()
			W *grad.Param `json:"-"`
		}{W: grad.NewParam(1)},
		`""`: grad.NewParam(1), // a Param alone has no path
	} {
		path := filepath.Join(dir, "model")
		if err := train.Save(path, model); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
	if err := train.Save(filepath.Join(dir, "no", "such", "dir"), newLogistic()); err == nil {
		t.Error("a missing directory: no error")
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("a failed Save left %v", files)
	}
}

// readTensors reads a file as other programs do.
func readTensors(path string) ([]safetensors.Tensor, map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return safetensors.Read(bytes.NewReader(b), int64(len(b)))
}
