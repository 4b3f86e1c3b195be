package asm

import (
	"os"
	"path/filepath"
	"testing"
)

// An instruction may take a whole field, the pointer or the length of a slice, elements of
// an array, or the low half of an integer, and nothing else.
func TestHasField(t *testing.T) {
	dir := t.TempDir()
	text := `package p

type S struct {
	Rows   []float32
	N      int
	Slope  float32
	Set    bool
	Lanes  [8]float32
	Edges  *int32
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := LoadStructs(dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, n int
		want  bool
		what  string
	}{
		{0, 8, true, "the pointer of a slice"},
		{8, 8, true, "its length"},
		{16, 8, false, "its capacity"},
		{0, 4, false, "half a pointer"},
		{24, 8, true, "an integer"},
		{24, 4, true, "its low half"},
		{28, 4, false, "its high half"},
		{32, 4, true, "a float"},
		{32, 8, false, "a float and what follows"},
		{36, 1, true, "a bool"},
		{37, 1, false, "what fills up after it"},
		{40, 32, true, "an array"},
		{44, 4, true, "an element"},
		{44, 32, false, "more than is left of it"},
		{42, 4, false, "parts of two elements"},
		{72, 8, true, "a pointer"},
		{80, 8, false, "what is behind the struct"},
		{24, 0, false, "an instruction of unknown size"},
	} {
		if got := hasField("S", c.at, c.n); got != c.want {
			t.Errorf("%d bytes at %d, %s: %t, want %t", c.n, c.at, c.what, got, c.want)
		}
	}
	if f, at := fieldOf("S", "Edges"); at != 72 || f.Name() != "Edges" {
		t.Errorf("Edges is at %d, want 72", at)
	}
}
