package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/sparse"
)

func TestEncodeIsDeterministic(t *testing.T) {
	d, err := cora.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, err1 := encode(d)
	b, err2 := encode(d)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Fatalf("two runs differ, or failed: %v, %v", err1, err2)
	}
	p, err1 := pack(a)
	q, err2 := pack(b)
	if err1 != nil || err2 != nil || !bytes.Equal(p, q) {
		t.Errorf("two compressions differ, or failed: %v, %v", err1, err2)
	}
}

func TestEncodeRefusesOtherValues(t *testing.T) {
	d := datasets.Karate()
	d.Features = d.Features.(*sparse.CSR).NormaliseRows()
	if _, err := encode(d); err != nil {
		t.Errorf("ones: %v", err)
	}
	d.Features.(*sparse.CSR).Values[3] = 0.5
	if _, err := encode(d); err == nil {
		t.Error("a feature of a half was lost")
	}
}

// TestGenerateGivesWhatIsCheckedIn runs the command on the raw files.
func TestGenerateGivesWhatIsCheckedIn(t *testing.T) {
	data := os.Getenv("EDGEWISE_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "..", "shared", "datasets")
	}
	if _, err := datasets.Open(data, "cora"); err != nil {
		t.Skipf("no raw Cora (%v); set EDGEWISE_DATA to its folder", err)
	}
	dir := t.TempDir()
	if err := generate(data, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cora.zst", "sources.txt"} {
		got, err1 := os.ReadFile(filepath.Join(dir, name))
		want, err2 := os.ReadFile(filepath.Join("..", name))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is checked in (%v, %v)", name, err1, err2)
		}
	}
}
