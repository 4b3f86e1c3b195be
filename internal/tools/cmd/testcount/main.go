// Testcount reads the output of go test -json and says what was tested: a line
// for each package, the whole output of what failed, and as its last line
//
//	N passed, N failed, N skipped
//
// which counts tests, subtests, examples and fuzz seeds. Its exit status is 1
// if one of them or a build failed, if the input ends in the middle of a
// package, or if no test ran at all.
//
// With -times FILE it adds a line to that file for each test of a second or more:
// its seconds, its package and its name.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	times := flag.String("times", "", "a `file` to which the tests of a second and more are added")
	flag.Parse()
	if err := timed(*times); err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
		os.Exit(1)
	}
}

// timed is run of the standard input, with the times in a file if one is named.
func timed(path string) (err error) {
	if path == "" {
		return run(os.Stdin, os.Stdout, io.Discard)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(run(os.Stdin, os.Stdout, f), f.Close())
}

// event is a line of go test -json, as cmd/test2json describes it.
type event struct {
	Action     string
	Package    string
	Test       string
	Output     string
	Elapsed    float64 // seconds, of what has ended
	ImportPath string  // of a build's output
}

// report gathers what the events say.
type report struct {
	w, times                io.Writer
	passed, failed, skipped int
	broken                  int                            // packages that failed, for whatever reason
	open                    map[string]bool                // packages that began and have not ended
	output                  map[[2]string]*strings.Builder // by package and test
}

func run(in io.Reader, w, times io.Writer) error {
	r := &report{w: w, times: times, open: map[string]bool{}, output: map[[2]string]*strings.Builder{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(w, lines.Text()) // the go command itself, in plain text
			continue
		}
		r.take(e)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.open)) {
		r.broken++
		fmt.Fprintf(w, "CUT   %s\n%s", pkg, r.all(pkg))
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.verdict()
}

func (r *report) verdict() error {
	switch {
	case r.failed+r.broken > 0:
		return fmt.Errorf("%d tests failed, in %d packages", r.failed, r.broken)
	case r.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.w, e.Output)
	case e.Action == "build-fail":
		fmt.Fprintf(r.w, "BUILD %s\n", e.ImportPath)
	case e.Action == "output":
		r.buffer(e.Package, e.Test).WriteString(e.Output)
	case e.Action == "start":
		r.open[e.Package] = true
	case e.Test != "":
		r.test(e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		r.ended(e)
	}
}

func (r *report) test(e event) {
	if e.Elapsed >= 1 && !strings.Contains(e.Test, "/") {
		fmt.Fprintf(r.times, "%7.1f  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	switch e.Action {
	case "pass":
		r.passed++
		delete(r.output, [2]string{e.Package, e.Test})
	case "skip":
		r.skipped++
		delete(r.output, [2]string{e.Package, e.Test})
	case "fail":
		r.failed++
	}
}

func (r *report) ended(e event) {
	delete(r.open, e.Package)
	if e.Action == "fail" {
		r.broken++
		fmt.Fprintf(r.w, "FAIL  %s\n%s", e.Package, r.all(e.Package))
	} else if last := lastLine(r.buffer(e.Package, "").String()); last != "" {
		fmt.Fprintln(r.w, last)
	}
	for key := range r.output {
		if key[0] == e.Package {
			delete(r.output, key)
		}
	}
}

func (r *report) buffer(pkg, test string) *strings.Builder {
	key := [2]string{pkg, test}
	if r.output[key] == nil {
		r.output[key] = new(strings.Builder)
	}
	return r.output[key]
}

// all returns what is kept of a package's output: that of the tests that failed
// or never ended, then the package's own.
func (r *report) all(pkg string) string {
	var tests []string
	for key := range r.output {
		if key[0] == pkg && key[1] != "" {
			tests = append(tests, key[1])
		}
	}
	slices.Sort(tests)
	var b strings.Builder
	for _, t := range append(tests, "") {
		b.WriteString(r.buffer(pkg, t).String())
	}
	return b.String()
}

// lastLine returns the line that go test closes a package with.
func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
