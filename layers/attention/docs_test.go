package attention_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/attention.md is that of the examples, and so are the weights that it shows.
func TestAttentionGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/attention.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := ""
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		examples += "\n" + string(b)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 8 {
		t.Fatalf("docs/models/attention.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(examples, "\n"+b[1]) {
			t.Errorf("docs/models/attention.md quotes what is in no example:\n%s", b[1])
		}
	}
	for _, row := range regexp.MustCompile(`(?:[a-z]+ +)?\d\.\d\d(?: \d\.\d\d)+`).FindAllString(string(doc), -1) {
		row = strings.TrimPrefix(row, "softmax   ") // whose name is empty
		if !strings.Contains(examples, row) {
			t.Errorf("no example gives the weights %q", row)
		}
	}
}
