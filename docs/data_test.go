package docs_test

import (
	"os"
	"strings"
	"testing"
)

// The programs of these pages are those of examples which run: each of their lines stands there.
func TestProgramsOfData(t *testing.T) {
	for _, p := range []struct {
		page, example string
		blocks        int // the first ones
	}{
		{"library/data.md", "../models/example_test.go", 1},
		{"library/ranks.md", "../mpi/example_train_test.go", 1},
		{"inside/adding-a-form.md", "../datasets/form/adding_test.go", 2},
	} {
		page, err := os.ReadFile(p.page)
		if err != nil {
			t.Fatal(err)
		}
		example, err := os.ReadFile(p.example)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(page)
		for range p.blocks {
			var code string
			_, rest, _ = strings.Cut(rest, "\n```go\n")
			if code, rest, _ = strings.Cut(rest, "```"); strings.Count(code, "\n") < 10 {
				t.Fatalf("%s: there is no program in %q", p.page, code)
			}
			for line := range strings.Lines(code) {
				if !strings.Contains(string(example), line) {
					t.Errorf("%s: %s has no line %q", p.page, p.example, line)
				}
			}
		}
	}
}
