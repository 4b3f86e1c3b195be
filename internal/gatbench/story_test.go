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

// figure is a number, which may differ between processors, with the blanks before it.
var figure = regexp.MustCompile(` *-?\d+(\.\d+)?`)

// The stories that pages begin with can be lived: their commands run one after the other in a folder of the example, and each
// prints the lines that the page shows after it, but for figures.
func TestStories(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for page, end := range map[string]string{
		"README.md": "\n## Three things", "docs/use/quickstart.md": "\n## Try other", "docs/use/tables.md": "\n## The rules", "docs/use/explaining.md": "\n## Five methods",
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, _, found := strings.Cut(pageText(t, filepath.Join(root, page)), end)
			if !found {
				t.Fatalf("it has no %q", end)
			}
			tasktest.Nowhere(t)
			inExample(t, root)
			commands, shown, printed, rest := 0, 0, "", ""
			for _, b := range block.FindAllStringSubmatch(text, -1) {
				if b[1] == "sh" || strings.HasPrefix(b[2], "$ ") {
					printed = ""
				}
				for line := range strings.Lines(b[2]) {
					typed, prompt := strings.CutPrefix(line, "$ ")
					switch m := said.FindStringSubmatch(typed); {
					case (b[1] == "sh" || prompt) && m != nil:
						printed += lived(t, m[2])
						rest = figure.ReplaceAllString(printed, " #")
						commands++
					case b[1] == "" && !prompt && commands > 0 && line != "…\n":
						want := strings.TrimSpace(figure.ReplaceAllString(strings.ReplaceAll(line, "./gatbench ", "gatbench "), " #"))
						var ok bool
						if _, rest, ok = strings.Cut(rest, want); !ok {
							t.Errorf("the page shows\n%sand the commands before it print\n%s", line, printed)
						}
						shown++
					}
				}
			}
			if commands == 0 || shown < 2 {
				t.Errorf("%d commands and %d lines of what they print were found", commands, shown)
			}
		})
	}
}

// lived returns what a command of a story prints.
func lived(t *testing.T, line string) string {
	t.Helper()
	args, whole := arguments(strings.Replace(line, "--seeds 10", "--seeds 2", 1))
	if !whole {
		t.Fatalf("the page has a command that cannot be run: %s", line)
	}
	stdout, stderr, status := tasktest.Gatbench(t, args...)
	if status != cli.Succeeded {
		t.Fatalf("%s: status %d\n%s", line, status, stderr)
	}
	return stdout + stderr
}

// inExample goes to a folder with the example's tables, and with them where a clone has them.
func inExample(t *testing.T, root string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, folder := range []string{".", "datasets/testdata"} {
		if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "datasets", "testdata"))); err != nil {
			t.Fatal(err)
		}
	}
}
