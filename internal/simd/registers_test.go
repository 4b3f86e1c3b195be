//go:build !noasm && !f64

package simd

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Registers 16 to 31 are of AVX-512, whatever the mnemonic is: the assembler encodes an
// instruction that names one so that other processors stop at it. A machine with AVX-512
// does not notice, so the text is looked at.
func TestOnlyKernelsFor512NameItsRegisters(t *testing.T) {
	files, err := filepath.Glob("*/*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	begin := regexp.MustCompile(`^TEXT ·(\w+)\(`)
	of512 := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7])\b`)
	kernels, wide := 0, 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		kernel := ""
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			if m := begin.FindStringSubmatch(lines.Text()); m != nil {
				kernel = m[1]
				kernels++
			}
			switch r := of512.FindString(lines.Text()); {
			case r == "":
			case strings.HasSuffix(kernel, "512"):
				wide++
			default:
				t.Errorf("%s:%d: %s names %s", name, n, kernel, r)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if kernels < 100 || wide == 0 {
		t.Errorf("read %d kernels and %d lines with registers of AVX-512: is this the assembly?", kernels, wide)
	}
}
