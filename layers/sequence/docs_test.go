package sequence_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/sequences.md is that of the examples: each block's lines are there, one
// below the other.
func TestGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/sequences.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 10 {
		t.Fatalf("docs/models/sequences.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), "\n"+b[1]) {
			t.Errorf("docs/models/sequences.md quotes what is not in example_guide_test.go:\n%s", b[1])
		}
	}
}
