package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/models"
)

// tableAfter returns the rows of the first table behind some words of a page, without its head,
// each as its cells.
func tableAfter(t *testing.T, page, words string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), words)
	if !found {
		t.Fatalf("%s does not say %q", page, words)
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		case len(rows) > 0:
			return rows[2:]
		}
	}
	return rows[2:]
}

// Each model of the table of primitives.md that says how it is a message has a row in the table
// that says where it is; and a row of that has a file, a test, and a demo, a model of gatbench
// train or an example that is there. TestLinks looks for the files and functions.
func TestModelsOfPrimitives(t *testing.T) {
	said, built := tableAfter(t, "library/primitives.md", "## One shape, many models"), tableAfter(t, "library/primitives.md", "Where each is built")
	if len(said) < 25 || len(built) < 30 {
		t.Errorf("%d models are said and %d built", len(said), len(built))
	}
	var names []string
	for _, row := range built {
		names = append(names, strings.Split(row[0], ", ")...)
	}
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	for _, row := range said {
		for _, name := range strings.Split(link.ReplaceAllString(row[0], "$1"), ", ") {
			there := false
			for _, n := range names {
				there = there || n == name || strings.HasPrefix(n, name+" (")
			}
			if !there {
				t.Errorf("%s has no row that says where it is built", name)
			}
		}
	}
	trained := slices.Concat(models.Names(), models.LinkNames(), models.FactNames())
	code, model := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile(`^gatbench train.*--model ([a-z0-9]+)$`)
	for _, row := range built {
		if len(row) != 4 || !strings.Contains(row[1], ".go") && row[1] != "the graph" || !strings.Contains(row[2], "[Test") {
			t.Errorf("%v: want a model, a file, a test and what shows it", row)
			continue
		}
		shown := code.FindAllStringSubmatch(row[3], -1)
		if len(shown) == 0 && !link.MatchString(row[3]) {
			t.Errorf("%s: nothing shows it", row[0])
		}
		for _, m := range shown {
			_, isDemo := demo.Find(m[1])
			if of := model.FindStringSubmatch(m[1]); of != nil {
				if !slices.Contains(trained, of[1]) {
					t.Errorf("%s: gatbench train has no model %s", row[0], of[1])
				}
			} else if m[1] != "gatbench train" && !isDemo {
				t.Errorf("%s: there is no demo %s", row[0], m[1])
			}
		}
	}
}
