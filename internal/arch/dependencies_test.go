package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+([a-z0-9.-]+\.[a-z]+/\S+) v\S+`)

// A dependency costs everybody who uses edgewise, so each has to be accounted
// for where contributors look.
func TestDependenciesAreExplained(t *testing.T) {
	mod, doc := read(t, "go.mod"), read(t, "CONTRIBUTING.md")
	for _, m := range requirement.FindAllStringSubmatch(mod, -1) {
		if !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(m[1]) + ` \|( [^|\n]+ \|){4}$`).MatchString(doc) {
			t.Errorf("%s is in go.mod without a row in CONTRIBUTING.md that says what it is for, who keeps it, its licence and what it weighs", m[1])
		}
	}
}

func TestRequirement(t *testing.T) {
	const mod = "module example.com/m\n\ngo 1.26\n\nrequire example.com/a v1.2.3\n\nrequire (\n\texample.com/b/v2 v2.0.0\n\tgolang.org/x/c v0.1.0 // indirect\n)\n"
	var got []string
	for _, m := range requirement.FindAllStringSubmatch(mod, -1) {
		got = append(got, m[1])
	}
	if s := strings.Join(got, " "); s != "example.com/a example.com/b/v2 golang.org/x/c" {
		t.Errorf("got %s", s)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
