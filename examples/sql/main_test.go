package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The example prints what its last comment says, but for figures and classes, which another processor may round otherwise.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	run(context.Background(), &out)
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(source), "// Output:\n//\n//\t")
	want = strings.ReplaceAll(want, "\n//\t", "\n")
	varies := regexp.MustCompile(`(yes|no) |0\.\d+`)
	if got := out.String(); varies.ReplaceAllString(got, "#") != varies.ReplaceAllString(want, "#") {
		t.Errorf("it prints\n%s, want\n%s", got, want)
	}
	_, after, _ := strings.Cut(out.String(), "test accuracy ")
	first, _, _ := strings.Cut(after, "\n")
	if a, err := strconv.ParseFloat(first, 64); err != nil || a < 0.8 {
		t.Errorf("the accuracy is %q, want 0.8 at least", first)
	}
}
