package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files that the table of seams names are there.
func TestSeams(t *testing.T) {
	page, err := os.ReadFile("inside/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, seams, found := strings.Cut(string(page), "## Seams")
	paths := regexp.MustCompile(`[ |]((?:[a-z]+/)+[a-z0-9_]+(?:\.go)?)`).FindAllStringSubmatch(seams, -1)
	if !found || len(paths) < 15 {
		t.Fatalf("the table of seams names %d files", len(paths))
	}
	for _, m := range paths {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("the table of seams names %s, which is not there", m[1])
		}
	}
}

// What a page links to is there: a file, and where the link is the name of a test or an
// example, that function in it.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("*/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	link := regexp.MustCompile(`\[([^\]\n]*)\]\(([^)\s]+)\)`)
	function := regexp.MustCompile(`^(Test|Example)[A-Z]\w*$`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, page := range append(pages, "README.md", "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			target, _, _ := strings.Cut(m[2], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			path := filepath.Join(filepath.Dir(page), target)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[2])
				continue
			}
			if !function.MatchString(m[1]) {
				continue
			}
			if code, err := os.ReadFile(path); err != nil || !strings.Contains(string(code), "func "+m[1]+"(") {
				t.Errorf("%s: there is no %s in %s", page, m[1], m[2])
			}
		}
	}
}
