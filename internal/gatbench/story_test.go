package gatbench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// fenced is a block of code of a page, with the language that it names.
var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// figure is a number, which may differ between processors, with the blanks before it.
var figure = regexp.MustCompile(` *-?\d+(\.\d+)?`)

// The story of docs/use/tables.md can be lived: its commands run one after the other in a folder of the
// example, and each prints the lines that the page shows after it, but for figures.
func TestStoryOfTables(t *testing.T) {
	page, err := os.ReadFile("../../docs/use/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("../../datasets/testdata")
	if err != nil {
		t.Fatal(err)
	}
	tasktest.Nowhere(t)
	t.Chdir(t.TempDir())
	if err := os.CopyFS(".", os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	story, _, _ := strings.Cut(string(page), "\n## The rules")
	printed, commands := "", 0
	for _, b := range fenced.FindAllStringSubmatch(story, -1) {
		switch language, text := b[1], strings.ReplaceAll(b[2], "\\\n", " "); language {
		case "sh":
			printed = ""
			for line := range strings.Lines(text) {
				args, whole := arguments(strings.TrimPrefix(strings.TrimSpace(line), "gatbench "))
				if !whole {
					t.Fatalf("the page has a command that cannot be run: %s", line)
				}
				stdout, stderr, status := tasktest.Gatbench(t, args...)
				if status != cli.Succeeded {
					t.Fatalf("%sstatus %d\n%s", line, status, stderr)
				}
				printed += stdout + stderr
				commands++
			}
		case "":
			rest := figure.ReplaceAllString(printed, " #")
			for line := range strings.Lines(text) {
				want := strings.TrimSpace(figure.ReplaceAllString(line, " #"))
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Errorf("the page shows\n%sand the commands before it print\n%s", line, printed)
					break
				}
				rest = after
			}
		}
	}
	if commands < 5 {
		t.Errorf("%d commands were found", commands)
	}
}
