package gatbench

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/suite"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
)

var (
	// said matches a command of this program in a page, or of gatbench-mpi, which a launcher starts: in code, or a line of a block.
	said = regexp.MustCompile("(?m)(?:`|^ *(?:[$] |[A-Z_]+=\\S+ )*)(?:(?:mpiexec|mpirun|srun) (?:\\S+ )*?)?(?:\\./|go run \\./cmd/)?gatbench(-mpi)? ([a-z][^`\\n]*)")
	// words are those of a shell's line, without what the shell does with them.
	words = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	// flag matches a flag in code or in a command.
	flag = regexp.MustCompile("[`\\s]--([a-z-]+)")
	// something is what a reader puts a word of his own for.
	something = regexp.MustCompile(`^[A-Z]{1,8}$`)
	// unfinished matches the errors about a command that a page speaks of and does not call.
	unfinished = regexp.MustCompile(`^(expected |missing flags)`)
)

// arguments returns those of a command as a page has it, and whether a shell could be given it.
func arguments(line string) (args []string, whole bool) {
	for _, w := range words.FindAllString(line, -1) {
		if strings.Contains("#|>&;", w[:1]) || strings.HasPrefix(w, "2>") {
			break
		}
		w = strings.Trim(w, `'"`)
		switch {
		case strings.ContainsAny(w, "…$") || strings.Contains(w, "..."):
			return nil, false
		case w == "NAME" && slices.Equal(args, []string{"demo"}):
			w = "adding"
		case something.MatchString(w) && len(args) > 0 && strings.HasPrefix(args[len(args)-1], "--"):
			w = "1"
		}
		args = append(args, w)
	}
	return args, true
}

// pagesOf returns the files that match each of the patterns, which begin at the root of the repository.
func pagesOf(t *testing.T, patterns ...string) []string {
	t.Helper()
	var pages []string
	for _, pattern := range patterns {
		some, err := filepath.Glob("../../" + pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(some), err)
		}
		pages = append(pages, some...)
	}
	return pages
}

// comment is what stands before a line of a Go comment, and remark the words behind a command there.
var comment, remark = regexp.MustCompile(`(?m)^//[ \t]?`), regexp.MustCompile(`(?m)  .*$`)

// pageText returns what a page or the comments of a Go file say, a command a line.
func pageText(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(page) == ".go" {
		text = remark.ReplaceAll(comment.ReplaceAll(text, nil), nil)
	}
	return strings.ReplaceAll(string(text), "\\\n", " ")
}

// Every command that a page shows is one that this program takes, and has no flag that --help hides.
func TestCommandsOfDocs(t *testing.T) {
	pages := pagesOf(t, "README.md", "CONTRIBUTING.md", "docs/*.md", "docs/use/*.md", "docs/models/*.md", "docs/library/*.md", "docs/inside/*.md", // notes have the commands of their day
		"cmd/gatbench/peers/*.md", "cmd/gatbench/doc.go", "mpi/cmd/gatbench-mpi/doc.go", "examples/*.md", "examples/*/*.go")
	all := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{})
	never, commands := neverShown(t), 0
	for _, page := range pages {
		text := pageText(t, page)
		for _, m := range flag.FindAllStringSubmatch(text, -1) {
			if instead := never[m[1]]; instead != "" && !strings.Contains(page, "peers") {
				t.Errorf("%s: %s", page, instead)
			}
		}
		for _, m := range said.FindAllStringSubmatch(text, -1) {
			args, whole := arguments(m[2])
			if !whole {
				continue
			}
			commands++
			if err := taken(args, all); err != nil {
				t.Errorf("%s: gatbench %s: %v", page, m[2], err)
			}
			if m[1] != "" && !slices.Contains(shared, args[0]) {
				t.Errorf("%s: gatbench-mpi %s: ranks share no such command", filepath.Base(page), m[2])
			}
		}
	}
	if commands < 100 {
		t.Errorf("%d commands were found", commands)
	}
}

// taken returns an error for arguments that the program refuses before it does anything.
func taken(args []string, all []bench.Benchmark) error {
	var line commandLine
	parser, err := newParser(&line, args, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil && !unfinished.MatchString(err.Error()) {
		return err
	}
	if failed := (*kong.ParseError)(nil); errors.As(err, &failed) {
		parsed = failed.Context
	}
	if err := shown(parsed.Selected(), args); err != nil {
		return err
	}
	for _, pattern := range line.Bench.Patterns {
		if strings.ToLower(pattern) != pattern {
			return nil // a name with a part of the reader's
		}
	}
	settings := line.Bench.settings()
	settings.All = all
	_, err = settings.Chosen()
	return err
}

// shown returns an error for a word that a verb takes and --help does not show: a hidden flag, or another name of one that is shown.
func shown(verb *kong.Node, args []string) error {
	for ; verb != nil; verb = verb.Parent {
		for _, arg := range args {
			name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			for _, f := range verb.Flags {
				switch {
				case !strings.HasPrefix(arg, "--"):
				case f.Name == name && f.Hidden:
					return fmt.Errorf("--%s is hidden: %s", name, f.Help)
				case slices.Contains(f.Aliases, name):
					return fmt.Errorf("--%s is another name: write --%s", name, f.Name)
				}
			}
		}
		if verb.Hidden && slices.Contains(args, verb.Name) {
			return fmt.Errorf("%s is hidden: write %s", verb.Name, verb.Parent.FullPath())
		}
	}
	return nil
}

// neverShown returns the flags that the program takes and that no verb shows, with what to write instead.
func neverShown(t *testing.T) map[string]string {
	t.Helper()
	defer func(was bool) { cli.Joins = was }(cli.Joins)
	cli.Joins = true // gatbench-mpi shows what gatbench hides
	var line commandLine
	parser, err := newParser(&line, nil)
	if err != nil {
		t.Fatal(err)
	}
	never, visible := map[string]string{}, map[string]bool{}
	for _, verb := range parser.Model.Leaves(false) {
		for _, f := range verb.Flags {
			for _, name := range f.Aliases {
				never[name] = fmt.Sprintf("--%s is another name: write --%s", name, f.Name)
			}
			if f.Hidden {
				never[f.Name] = fmt.Sprintf("--%s is hidden: %s", f.Name, f.Help)
			} else {
				visible[f.Name] = true
			}
		}
	}
	maps.DeleteFunc(never, func(name, _ string) bool { return visible[name] })
	return never
}

// What a page must not show is noticed.
func TestCommandsRefused(t *testing.T) {
	all := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{})
	for _, name := range []string{"csv", "models", "datasets"} {
		if neverShown(t)[name] == "" {
			t.Errorf("--%s is shown", name)
		}
	}
	for line, ok := range map[string]bool{
		"bench gemm exp": true, "bench nothing": false, "bench gemm nothing": false, "train --nothing 1": false,
		"train --epochs N # a comment": true, "train --epochs two": false, "nothing": false, "eval": true,
		"train karate": true, "train --dataset karate": false, "eval m --dataset karate": true, "train --csv a.csv": false, "train --out=a.csv": true,
		"explain m --node 1 --csv=a.csv": false, "table --models gat": false, "table --model gat": true, "table --datasets karate": false, "predict m --splits own": false,
	} {
		args, _ := arguments(line)
		if err := taken(args, all); (err == nil) != ok {
			t.Errorf("gatbench %s: %v", line, err)
		}
	}
}
