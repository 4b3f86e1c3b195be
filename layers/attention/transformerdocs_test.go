package attention_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/transformers.md is that of the examples, here and of package convert.
func TestTransformersGuide(t *testing.T) {
	doc, err := os.ReadFile("../../docs/models/transformers.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_transformer_test.go")
	if err != nil {
		t.Fatal(err)
	}
	converted, err := os.ReadFile("../../convert/example_transformer_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples = append(examples, converted...)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 4 {
		t.Fatalf("docs/models/transformers.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), "\n"+b[1]) {
			t.Errorf("docs/models/transformers.md quotes what is not in any example_transformer_test.go:\n%s", b[1])
		}
	}
}
