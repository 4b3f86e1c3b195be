package gatbench

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/suite"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
)

var (
	// said matches a command of this program in a page, or of gatbench-mpi, which a launcher starts: in code, or a line of a block.
	said = regexp.MustCompile("(?m)(?:`|^ *(?:[$] |[A-Z_]+=\\S+ )*)(?:(?:mpiexec|mpirun|srun) (?:\\S+ )*?)?(?:\\./|go run \\./cmd/)?gatbench(-mpi)? ([a-z][^`\\n]*)")
	// words are those of a shell's line, without what the shell does with them.
	words = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
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

// Every command that a page shows is one that this program takes.
func TestCommandsOfDocs(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md", "../../docs/README.md", "../../cmd/gatbench/peers/README.md"}
	for _, folder := range []string{"use", "models", "library", "inside"} { // notes have the commands of their day
		some, err := filepath.Glob("../../docs/" + folder + "/*.md")
		if err != nil || len(some) == 0 {
			t.Fatalf("%d pages in docs/%s: %v", len(some), folder, err)
		}
		pages = append(pages, some...)
	}
	all := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{})
	commands := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range said.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			args, whole := arguments(m[2])
			if !whole {
				continue
			}
			commands++
			if err := taken(args, all); err != nil {
				t.Errorf("%s: gatbench %s: %v", filepath.Base(page), m[2], err)
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
	if _, err := parser.Parse(args); err != nil && !unfinished.MatchString(err.Error()) {
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

// What a page must not show is noticed.
func TestCommandsRefused(t *testing.T) {
	all := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{})
	for line, ok := range map[string]bool{
		"bench gemm exp": true, "bench nothing": false, "bench gemm nothing": false, "train --nothing 1": false,
		"train --epochs N # a comment": true, "train --epochs two": false, "nothing": false, "eval": true,
	} {
		args, _ := arguments(line)
		if err := taken(args, all); (err == nil) != ok {
			t.Errorf("gatbench %s: %v", line, err)
		}
	}
}
