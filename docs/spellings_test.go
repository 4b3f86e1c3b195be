package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What a page for those who come from another framework has in its columns of edgewise are lines
// of tests, which say what comes of them.

// is fails the test unless got is what is wanted.
func is(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

var (
	tableRow = regexp.MustCompile(`(?m)^\|.*\|$`)
	codeSpan = regexp.MustCompile("`([^`]+)`")
)

// TestPagesCompile finds every edgewise spelling of a page among the lines of its tests, and
// what the notes of DGL's mention in them: those of PyG's name PyG's own options too.
func TestPagesCompile(t *testing.T) {
	for _, page := range []struct {
		name  string
		tests []string
		notes bool
		least int // spellings that it has
	}{
		{"library/from-dgl.md", []string{"fromdgl_test.go", "fromdgl_more_test.go", "fromdgl_models_test.go"}, true, 280},
		{"library/from-pyg.md", []string{"frompyg_test.go", "frompyg_models_test.go"}, false, 110},
		{"library/from-gonum.md", []string{"fromgonum_test.go"}, false, 50},
	} {
		doc := text(t, page.name)
		var src strings.Builder
		lines := map[string]bool{}
		for _, name := range page.tests {
			part := text(t, name)
			src.WriteString(part)
			for l := range strings.Lines(part) {
				lines[strings.TrimSuffix(strings.TrimSpace(l), ",")] = true
			}
		}
		spelt := 0
		for _, row := range tableRow.FindAllString(doc, -1) {
			cells := strings.Split(row, "|")[2:] // without the other's
			if !page.notes {
				cells = cells[:1]
			}
			for i, cell := range cells {
				for _, code := range codeSpan.FindAllStringSubmatch(cell, -1) {
					switch spelt++; {
					case i == 0 && !lines[code[1]]:
						t.Errorf("%s: no line of %q is %s", page.name, page.tests, code[1])
					case !strings.Contains(src.String(), code[1]): // a note
						t.Errorf("%s: %q do not have %s", page.name, page.tests, code[1])
					}
				}
			}
		}
		if spelt < page.least {
			t.Errorf("%s: %d spellings", page.name, spelt)
		}
	}
}

// text is what a file of this folder holds.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
