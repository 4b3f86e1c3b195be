package sample_test

import (
	"os"
	"strings"
	"testing"
)

// The lines of docs/use/training.md that make batches are those of ExampleLoader.
func TestTrainingDoc(t *testing.T) {
	doc, err := os.ReadFile("../docs/use/training.md")
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
		t.Fatal("docs/use/training.md has no block that begins with the loader")
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

// testDoc holds the programs of a page to a file that runs them.
func testDoc(t *testing.T, page, file string) {
	t.Helper()
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(doc), "```go\n")
	if len(parts) < 4 {
		t.Fatalf("%s has %d pieces of a program", page, len(parts)-1)
	}
	for _, p := range parts[1:] {
		if code, _, _ := strings.Cut(p, "```"); !strings.Contains(string(example), code) {
			t.Errorf("the example of %s has no lines\n%s", page, code)
		}
	}
}
