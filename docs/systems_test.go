package docs_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The table of systems has a line for each of 28, whose demos are files of package demo.
// TestLinks sees that its files and tests are there.
func TestSystems(t *testing.T) {
	page, err := os.ReadFile("models/systems.md")
	if err != nil {
		t.Fatal(err)
	}
	demos, err := os.ReadFile("use/demos.md")
	if err != nil {
		t.Fatal(err)
	}
	n, name := 0, regexp.MustCompile("`([a-z0-9-]+)`")
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 10 || !strings.HasPrefix(line, "| "+strconv.Itoa(n+1)+" |") {
			continue
		}
		n++
		for _, m := range name.FindAllStringSubmatch(cells[6], -1) {
			if !strings.Contains(string(demos), "| `"+m[1]+"` |") {
				t.Errorf("system %d has the demo %s, of which demos.md has no line", n, m[1])
			}
		}
	}
	if n != 28 {
		t.Errorf("there are lines of %d systems, want 28", n)
	}
}
