package attention_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/decoders.md is that of the examples.
func TestDecodersGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/decoders.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_decoders_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/models/decoders.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), "\n"+b[1]) {
			t.Errorf("docs/models/decoders.md quotes what is not in example_decoders_test.go:\n%s", b[1])
		}
	}
}
