package text_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/use/text.md is that of the examples: each block's lines are there, one
// below the other.
func TestTextDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/use/text.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 6 {
		t.Fatalf("docs/use/text.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), "\n"+b[1]) {
			t.Errorf("docs/use/text.md quotes what is not in example_test.go:\n%s", b[1])
		}
	}
}
