package golden

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

func TestLoad(t *testing.T) {
	c := Load(t, "testdata/small.json")
	if c.Name != "own/small" || c.Config["layer"] != "Own" || c.Float32Error.Grads != 2e-7 {
		t.Errorf("head is %q, %v, %v", c.Name, c.Config, c.Float32Error)
	}
	if g := c.Graph; g == nil || g.NumSrc != 3 || g.NumDst != 2 || !slices.Equal(g.Src, []int32{2, 0}) || !slices.Equal(g.Dst, []int32{0, 1}) {
		t.Errorf("graph is %+v", g)
	}
	w := c.Tensor(t, "params", "fc.weight")
	if !slices.Equal(w.Shape(), []int{2, 3}) || w.Data[5] != -6.5 {
		t.Errorf("weight is %v", w)
	}
	if s := c.Tensor(t, "outputs", "loss"); !slices.Equal(s.Shape(), []int{1}) || s.Data[0] != 0.25 {
		t.Errorf("a scalar is %v", s)
	}
	if ids := c.Ints(t, "inputs", "batch"); !slices.Equal(ids, []int32{0, 0, 1}) {
		t.Errorf("batch is %v", ids)
	}
	if !c.Has("grads", "x") || c.Has("grads", "z") || c.Has("nothing", "x") {
		t.Error("Has is wrong")
	}
}

func TestMissingKeysAreListed(t *testing.T) {
	c := Load(t, "testdata/small.json")
	_, err := c.find("params", "fc.wieght")
	if err == nil || !strings.Contains(err.Error(), "bias, fc.weight") {
		t.Errorf("error %v does not list the keys", err)
	}
	if _, err = c.find("parms", "bias"); err == nil || !strings.Contains(err.Error(), "cotangents") {
		t.Errorf("error %v does not list the sections", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{
		`{`,
		`{"params": {"w": {"shape": [2,3], "data": [1,2]}}}`,
		`{"graph": {"num_src": 1, "num_dst": 1, "src": [0,0], "dst": [0]}}`,
	} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("%s: no error", s)
		}
	}
}

func TestDifference(t *testing.T) {
	want := tensor.Of([]tensor.Float{1, -100, 0}, 3, 1)
	near := tensor.Of([]tensor.Float{1, -100, 0.0009}, 3)
	far := tensor.Of([]tensor.Float{1, -100, 0.0011}, 3)
	nan := want.Clone()
	nan.Data[1] = (nan.Data[2]) / (nan.Data[2])
	if err := difference(near, want, 0); err != nil {
		t.Errorf("1e-5 of 100 is allowed: %v", err)
	}
	if err := difference(far, want, 0); err == nil {
		t.Error("more than 1e-5 of 100 passes")
	}
	if err := difference(far, want, 1e-5); err != nil {
		t.Errorf("four times the float32 error is allowed: %v", err)
	}
	if difference(nan, want, 1) == nil || difference(tensor.New(3), nan, 1) == nil {
		t.Error("NaN passes")
	}
	if difference(tensor.New(2, 2), tensor.New(4), 1) == nil {
		t.Error("another shape passes")
	}
}

func TestTranspose(t *testing.T) {
	x := tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6}, 2, 3)
	y := Transpose(x)
	if !slices.Equal(y.Shape(), []int{3, 2}) || !slices.Equal(y.Data, []tensor.Float{1, 4, 2, 5, 3, 6}) {
		t.Errorf("transpose is %v", y)
	}
	if tensor.Try(func() { Transpose(tensor.New(3)) }) == nil {
		t.Error("a vector has a transpose")
	}
}

func TestEveryGoldenFileLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every golden file")
	}
	n, dir := 0, Dir(t)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".json" {
			c := Load(t, path)
			for _, s := range sections {
				for key, a := range c.section(s) {
					if len(a.Shape) <= tensor.MaxAxes {
						c.Tensor(t, s, key)
					} else {
						t.Logf("%s: %s %q has the shape %v", c.Name, s, key, a.Shape)
					}
				}
			}
			n++
		}
		return err
	})
	if err != nil || n == 0 {
		t.Errorf("%d files, error %v", n, err)
	}
}
