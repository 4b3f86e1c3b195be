package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCounted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ways")
	if err := os.WriteFile(name, []byte("3 1000:8 1010:4\n2 1000:8\n4 1000:8 1010:4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ways, err := counted(name)
	if err != nil || len(ways) != 2 || ways["1000:8 1010:4"] != 7 || ways["1000:8"] != 2 {
		t.Errorf("%v %v", ways, err)
	}
}

func TestWayRead(t *testing.T) {
	code := map[uint64]line{0x1000: {"a", 0x1004}, 0x1004: {"b", 0x1008}, 0x1010: {"c", 0x1014}}
	var w way
	if err := w.read("1000:8 1010:4", code); err != nil || w.from != 0x1000 || !slices.Equal(w.text, []string{"a", "b", "c"}) {
		t.Errorf("%+v %v", w, err)
	}
}

// What a disassembler writes must be what the analyser reads.
func TestCleaned(t *testing.T) {
	for text, want := range map[string]string{
		"   11234: \tb.lt\t0x11200 <main.f+0x10>":                  "b.lt there",
		"   11234: \tadrp\tx27, 0x12000 <main.table>":              "adrp x27, there",
		"   11234: \tfmla\tv0.4s, v1.4s, v2.s[0]":                  "fmla v0.4s, v1.4s, v2.s[0]",
		"   11234: \tldr\tq20, [x2, #0x60]":                        "ldr q20, [x2, #0x60]",
		"   11234: \tsvc\t#0":                                      "",
		"  401000:       \trep\t\tstosq\t%rax, %es:(%rdi)":         "",
		"  401000: \tleaq\t0x10(%rip), %rax        # 0x401017 <x>": "leaq 0x10(%rip), %rax",
	} {
		m := address.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%q is no instruction", text)
		} else if got := cleaned([]byte(m[2])); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}
