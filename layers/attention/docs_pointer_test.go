package attention_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/pointer.md is that of the example.
func TestPointerGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/pointer.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_pointer_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 4 {
		t.Fatalf("docs/models/pointer.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(example), "\n"+b[1]) {
			t.Errorf("docs/models/pointer.md quotes what is not in example_pointer_test.go:\n%s", b[1])
		}
	}
}
