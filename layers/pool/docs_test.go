package pool_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/use/molecules.md is that of the example.
func TestMoleculesGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/use/molecules.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_molecules_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) != 3 {
		t.Fatalf("docs/use/molecules.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(example), "\n"+b[1]) {
			t.Errorf("docs/use/molecules.md quotes what is not in the example:\n%s", b[1])
		}
	}
}
