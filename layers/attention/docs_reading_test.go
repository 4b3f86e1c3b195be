package attention_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/reading.md is that of the examples.
func TestReadingGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/reading.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_reading_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 6 {
		t.Fatalf("docs/models/reading.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(example), "\n"+b[1]) {
			t.Errorf("docs/models/reading.md quotes what is not in example_reading_test.go:\n%s", b[1])
		}
	}
}
