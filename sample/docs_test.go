package sample_test

import (
	"os"
	"strings"
	"testing"
)

// The lines of docs/training.md that make batches are those of ExampleLoader.
func TestTrainingDoc(t *testing.T) {
	doc, err := os.ReadFile("../docs/training.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, ok := strings.Cut(string(doc), "```go\nl := &sample.Loader{\n")
	code, _, end := strings.Cut(code, "```")
	if !ok || !end {
		t.Fatal("docs/training.md has no block that begins with the loader")
	}
	left := string(example)
	for line := range strings.Lines(code) {
		_, after, found := strings.Cut(left, line)
		if !found {
			t.Fatalf("the example has no line\n%s", line)
		}
		left = after
	}
}
