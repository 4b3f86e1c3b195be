package gatbench

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

var (
	// absent is what a command of a guide names where the data is the reader's.
	absent = regexp.MustCompile(`\bDIR\b|facts\.tsv|shop\.(csv|safetensors)|asked\.csv`)
	// shell matches a block of commands.
	shell = regexp.MustCompile("(?s)```sh\n(.*?)```")
)

// The commands of the guides that lead through tasks run, one after the other as they stand there.
func TestGuidesRun(t *testing.T) {
	for page, least := range map[string]int{"molecules": 3, "links": 7, "knowledge": 5} {
		t.Run(page, func(t *testing.T) {
			guide, err := os.ReadFile("../../docs/use/" + page + ".md")
			if err != nil {
				t.Fatal(err)
			}
			tasktest.Nowhere(t)
			t.Chdir(t.TempDir())
			ran := 0
			for _, block := range shell.FindAllStringSubmatch(string(guide), -1) {
				for line := range strings.Lines(block[1]) {
					if !absent.MatchString(line) && follow(t, strings.TrimSpace(line)) {
						ran++
					}
				}
			}
			if ran < least {
				t.Errorf("%d commands ran, want %d", ran, least)
			}
		})
	}
}

// follow does what a line of a guide says: a command of this program, of one epoch and small, or a
// file that printf writes.
func follow(t *testing.T, line string) (command bool) {
	t.Helper()
	if rest, ok := strings.CutPrefix(line, "printf '"); ok {
		text, to, _ := strings.Cut(rest, "' > ")
		if err := os.WriteFile(filepath.Base(to), []byte(strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		return false
	}
	rest, ok := strings.CutPrefix(line, "gatbench ")
	if !ok {
		return false
	}
	args, _ := arguments(rest)
	if args[0] == "train" {
		args = append(args, "--epochs", "1", "--hidden", "4")
		for _, several := range []string{"--seeds", "--folds"} {
			if i := slices.Index(args, several); i > 0 {
				args[i+1] = "2" // several are as many as ten
			}
		}
		if slices.Contains(args, "link") && !slices.Contains(args, "--dataset") && !slices.Contains(args, "--save") {
			args = append(args, "--dataset", "karate") // Cora has six thousand times as many pairs; a saved model is asked about its nodes
		}
	}
	if stdout, stderr, status := tasktest.Gatbench(t, args...); status != cli.Succeeded {
		t.Errorf("%s: status %d, error %q, output\n%s", line, status, stderr, stdout)
	}
	return true
}
