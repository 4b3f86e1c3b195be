package graph_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/library/transforms.md is that of the examples of this package.
func TestTransformsGuide(t *testing.T) {
	doc, err := os.ReadFile("../docs/library/transforms.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := ""
	for _, file := range []string{"example_derived_test.go", "diffusion_test.go", "contract_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples += string(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) != 7 {
		t.Fatalf("docs/library/transforms.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(examples, "\n"+b[1]) {
			t.Errorf("docs/library/transforms.md quotes what is not in an example:\n%s", b[1])
		}
	}
}
