package memory_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/memory.md is that of examples.
func TestMemoryGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, file := range []string{"example_test.go", "example_ntm_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/models/memory.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(code, "\n"+b[1]) {
			t.Errorf("docs/models/memory.md quotes what is not in an example:\n%s", b[1])
		}
	}
}
