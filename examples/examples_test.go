// Package examples_test builds and runs the programs of this folder.
package examples_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// programs are the examples, and what the numbers that they print must be: those that the
// expression finds are each within the bounds that follow it.
var programs = map[string][]bound{
	"gat": {
		{`test accuracy (\S+)`, 0.80, 0.86},
		{`paper \d+: \w+ \((\S+)\), labelled \w+`, 1 / 7., 1},
	},
	"message": {{`length of the gradient: (\S+), with rows of edges (\S+)`, 0.0138, 0.0144}},
	"gonum": {
		{`accuracy where the interest was not known: (\S+)`, 0.9, 1},
		{`path of length (\S+): 1000 \d+ 1006\n`, 2, 2},
		{`path of length (\S+): 1000 1001 1002 1003 1004 1005 1006\n`, 0, 6},
	},
	"tables": {
		{`test accuracy (\S+)`, 0.76, 1},
		{`c\d+,\w+,(\S+)`, 0.5, 1},
		{`(\d+) rows of (\d+) numbers`, 4, 32},
	},
	"sequence": {{`(\S+) % of \d+ words of 200 sentences`, 98, 100}},
	"large": {
		{`accuracy of the greatest feature: (\S+)`, 0.1, 0.2},
		{`accuracy of 20000 held-out nodes: (\S+)`, 0.88, 1},
		{`memory: (\d+) MB`, 150, 2000}, // more threads hold more batches,
	},
}

type bound struct {
	find        string
	least, most float64
}

// check returns an error for a number in what was printed that is out of bounds, or not there.
func (b bound) check(printed string) error {
	all := regexp.MustCompile(b.find).FindAllStringSubmatch(printed, -1)
	if len(all) == 0 {
		return fmt.Errorf("nothing is %s", b.find)
	}
	for _, m := range all {
		for _, text := range m[1:] {
			if x, err := strconv.ParseFloat(text, 64); err != nil || !(x >= b.least && x <= b.most) {
				return fmt.Errorf("%q: %s is not between %v and %v", m[0], text, b.least, b.most)
			}
		}
	}
	return nil
}

// What bounds refuse, they must be able to refuse.
func TestBounds(t *testing.T) {
	b := bound{`accuracy (\S+)`, 0.8, 0.86}
	for printed, ok := range map[string]bool{"accuracy 0.83\n": true, "accuracy 0.79\n": false, "accuracy 0.83\naccuracy 0.9\n": false, "accuracy NaN\n": false, "": false} {
		if err := b.check(printed); (err == nil) != ok {
			t.Errorf("%q: %v", printed, err)
		}
	}
}

// What another processor may print otherwise, since a rounding tips a guess, is not compared:
// numbers, which bounds check, names of classes and features, and the tags of words.
var (
	varying = regexp.MustCompile(`[A-Z]\w*_[A-Z]\w*|Theory|cooking|football|music|,(yes|no),|months|complaints|\d+(\.\d+)?`)
	tags    = regexp.MustCompile(`/(aside|doubt)`)
)

// shape is a text without what varies.
func shape(text string) string {
	return varying.ReplaceAllString(tags.ReplaceAllString(strings.TrimSpace(text), ""), "#")
}

// Each program is a file of at most 120 lines that begins with what it shows and ends with what
// it printed; and it prints that.
func TestExamples(t *testing.T) {
	found, err := filepath.Glob("*/*.go")
	found = slices.DeleteFunc(found, func(path string) bool { // a module of its own has its own test
		_, err := os.Stat(filepath.Join(filepath.Dir(path), "go.mod"))
		return err == nil
	})
	if err != nil || len(found) != len(programs) {
		t.Fatalf("%d programs and files %q: want one file each (%v)", len(programs), found, err)
	}
	lookAtSources(t)
	built := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", built+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, bounds := range programs {
		if !strings.Contains(string(list), "| `go run ./examples/"+name+"` | ["+name+"]("+name+"/main.go): ") {
			t.Errorf("README.md has no row of %s", name)
		}
		t.Run(name, func(t *testing.T) {
			want := output(t, name)
			got := run(t, filepath.Join(built, name))
			if shape(got) != shape(want) {
				t.Errorf("it prints\n%s\nand its last comment says\n%s", got, want)
			}
			for _, b := range bounds {
				for where, text := range map[string]string{"printed": got, "in the comment": want} {
					if err := b.check(text); err != nil {
						t.Errorf("%s: %v", where, err)
					}
				}
			}
		})
	}
}

// lookAtSources asks when each file that a program is made of was changed. What go build reads
// the cache of go test does not see, so without this a change of the library would run nothing.
func lookAtSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case slices.Contains([]string{".go", ".s", ".zst", ".csv", ".mod"}, filepath.Ext(path)) && !strings.HasSuffix(path, "_test.go"):
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// output checks the form of a program's file and returns what its last comment says it prints.
func output(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(name, "main.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 120 {
		t.Errorf("%s has %d lines, more than 120", path, n)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	title := strings.ToUpper(name[:1]) + name[1:] + " "
	if head := f.Doc.Text(); !strings.HasPrefix(head, title) || !strings.Contains(head, "go run ./examples/"+name) {
		t.Errorf("%s: the comment at its head does not begin with %s and say how it is run: %q", path, title, head)
	}
	last := f.Comments[len(f.Comments)-1]
	printed, ok := strings.CutPrefix(last.Text(), "Output:\n")
	if !ok || slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { return d.End() > last.Pos() }) {
		t.Fatalf("%s does not end with a comment of what it printed", path)
	}
	return printed
}

// run returns what a program prints, run where the repository begins.
func run(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
