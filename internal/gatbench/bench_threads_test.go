package gatbench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/lanes"
)

// Flags that do not fit are refused before anything is run.
func TestTraceMisuse(t *testing.T) {
	dir := t.TempDir()
	svg, kept := filepath.Join(dir, "p.svg"), filepath.Join(dir, "r.json")
	for args, want := range map[string]string{
		"exp --trace " + dir + "/p.jpg":                  "its name must end in .svg or .png for a picture, or in .json to keep the record; - writes no file",
		"exp --trace " + dir + "/none/p.svg":             "there is no folder",
		"exp --trace " + dir:                             "its name must end in",
		"--trace " + svg:                                 "name what to record",
		"exp --json --trace " + svg:                      "--trace FILE.json keeps the record",
		"exp --list --trace " + svg:                      "it prints names and does nothing",
		"exp --isolate --trace " + svg:                   "--isolate: --trace records in this process",
		"sparse --picture " + svg + " --trace " + kept:   "--trace draws another picture",
		"exp --at 8":                                     "--at 8: it says what --trace FILE lists and draws",
		"exp --growth 16:11":                             "--growth 16:11: it says what --trace FILE predicts",
		"exp --trace - --at 0":                           "--at 0: it must be 1 to 1024",
		"exp --trace - --growth 11":                      "write a number of threads and how many times as much as one they do, such as 16:11",
		"exp --trace - --growth 4:5":                     "--growth 4:5: write",
		"exp --trace - --growth 4:NaN":                   "--growth 4:NaN: write",
		"gem --trace -":                                  `did you mean "gemm"`,
		"layer --trace " + svg:                           "a picture shows 12: name fewer, or keep all in a .json file",
		"exp --from " + kept:                             "what was recorded is shown and nothing is run",
		"--from " + kept + " --trace " + dir + "/a.json": "is such a file already",
		"--from " + svg + " --trace " + svg:              "it would be written over the file that --from reads",
		"--from " + kept + " --json":                     "--json: --from prints tables",
		"scale exp":                                      "scale: it has names of its own; give it alone",
		"scale --dim 8":                                  "scale: its sizes are fixed",
		"scale --isolate":                                "scale: it runs each name on several numbers of threads",
		"scale --trace " + svg:                           "scale times many numbers of threads; name what to record",
	} {
		stdout, stderr, status := Gatbench(t, append([]string{"bench"}, strings.Fields(args)...)...)
		if got := strings.Join(strings.Fields(stderr), " "); !strings.Contains(got, want) || stdout != "" || status != cli.Misused {
			t.Errorf("bench %s: status %d, output %q, error\n%swant status 2 and %q", args, status, stdout, stderr, want)
		}
	}
	if err := os.WriteFile(kept, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{kept: "line 1: it is no record of loops", dir + "/none.json": "none.json", dir: "is a folder"} {
		if _, stderr, status := Gatbench(t, "bench", "--from", path); status != cli.Failed || !strings.Contains(stderr, want) {
			t.Errorf("--from %s: status %d, %s", path, status, stderr)
		}
	}
}

// What is recorded is listed, and drawn or kept; what was kept is shown again.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	kept, picture := filepath.Join(dir, "r.json"), filepath.Join(dir, "p.svg")
	first, err := benched(t, benchCommand{Patterns: []string{"gemm_packed", "exp"}, Trace: kept})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gemm_packed/64x128x512, recorded on 1 thread: ", "\nexp/2048, recorded on 1 thread: ", "what loses most on 16 threads", " sees work after 0.25 µs", "record in " + kept + "\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the output lacks %q:\n%s", want, first)
		}
	}
	four := 4
	again, err := benched(t, benchCommand{From: kept, Trace: picture, At: &four, Growth: "4:3"})
	if err != nil || strings.Count(again, " recorded on 1 thread: ") != 2 || !strings.Contains(again, "what loses most on 4 threads") ||
		!strings.Contains(strings.Join(strings.Fields(again), " "), "A chunk takes 11.1 % longer for each other thread at work.") || !strings.HasSuffix(again, "picture in "+picture+"\n") {
		t.Errorf("%v, and it is shown as\n%s", err, again)
	}
	text, err := os.ReadFile(picture)
	if err != nil || !strings.Contains(string(text), ">gemm_packed/64x128x512<") || !strings.Contains(string(text), ">4 threads, predicted: ") || strings.Contains(string(text), ">8 threads") {
		t.Errorf("%v, the picture is\n%s", err, text)
	}
	only, err := benched(t, benchCommand{From: kept})
	if head, _, _ := strings.Cut(only, "\n"); err != nil || !strings.HasPrefix(first, head) {
		t.Errorf("%v, without a picture:\n%s", err, only)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, the folder has %v", err, entries)
	}
}

// Of a training an epoch is recorded, as long as the training may be, and not what is before the first.
func TestTraceOfATraining(t *testing.T) {
	loops := func(name string, epochs int) int {
		kept := filepath.Join(t.TempDir(), "r.json")
		c := benchCommand{Patterns: []string{name}, Trace: kept, Epochs: epochs}
		c.all = bench.All(bench.Choice{Threads: 1, Trainings: c.trainings()})
		out, err := benched(t, c)
		if err != nil || !strings.Contains(out, name+", recorded on 1 thread: ") {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := os.Open(kept)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := lanes.Read(f)
		if err != nil || len(r) != 1 {
			t.Fatalf("%d records, %v", len(r), err)
		}
		if !slices.ContainsFunc(r[0].Loops, func(l lanes.Loop) bool { return strings.HasPrefix(l.Name, "train.") }) {
			t.Errorf("%s: no loop is that of an optimiser", name)
		}
		return len(r[0].Loops)
	}
	for _, name := range []string{"train/cora/gcn", "train/cora/gae"} { // with an evaluation, and without
		if few, more := loops(name, 6), loops(name, 9); few != more || few < 10 {
			t.Errorf("%s: an epoch of 6 has %d loops, and one of 9 has %d", name, few, more)
		}
	}
}

// What is interrupted says what is missing, and leaves no file.
func TestTraceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "p.svg")
	c := benchCommand{Patterns: []string{"exp", "gemm_packed"}, Trace: path, Threads: 1, budget: quick, all: small(t)}
	err := c.Run(cli.Env{Ctx: ctx, Out: &cancelling{cancel: cancel, before: 0}, ErrOut: new(bytes.Buffer)})
	if _, missing := os.Stat(path); err == nil || err.Error() != "interrupted after 1 of 2 records: "+path+" is not written" || missing == nil {
		t.Errorf("when it is interrupted: %v; picture: %v", err, missing)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	c = benchCommand{Patterns: []string{bench.Scale}, Threads: 1, budget: quick, all: oneScaled(t)}
	if err := c.Run(cli.Env{Ctx: ctx, Out: &cancelling{cancel: cancel, before: 3}, ErrOut: new(bytes.Buffer)}); err == nil || err.Error() != "interrupted after 0 of 1 names" {
		t.Errorf("when scale is interrupted: %v", err)
	}
}

// oneScaled is one of the names of scale, that takes little time.
func oneScaled(t *testing.T) []bench.Benchmark {
	t.Helper()
	b, err := bench.Choose(bench.All(bench.Choice{Threads: 1}), "layer/gcn/pubmed/1x64")
	if err != nil || len(b) != 1 {
		t.Fatalf("%d benchmarks, %v", len(b), err)
	}
	return b
}

// Each name is timed on 1, 2, 4 … threads and on all that are asked for, and says how it grows.
func TestScale(t *testing.T) {
	c := benchCommand{Patterns: []string{bench.Scale}, Threads: 3, budget: quick, all: oneScaled(t)}
	var table, lines bytes.Buffer
	if err := c.Run(cli.Env{Ctx: t.Context(), Out: &table, ErrOut: new(bytes.Buffer)}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(table.String()), " ")
	for _, want := range []string{"milliseconds on 1 to 3 threads: GOMAXPROCS ", " name 1 2 3 growth busy layer/gcn/pubmed/1x64 ", " % Threads have least work in layer/gcn/pubmed/1x64. "} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, table.String())
		}
	}
	c.JSON = true
	if err := c.Run(cli.Env{Ctx: t.Context(), Out: &lines, ErrOut: new(bytes.Buffer)}); err != nil {
		t.Fatal(err)
	}
	all := Objects(t, lines.String())
	if len(all) != 3 {
		t.Fatalf("there are %d lines, want one for each of 3 numbers of threads:\n%s", len(all), lines.String())
	}
	for i, l := range all {
		extra := l["extra"].(map[string]any)
		busy, last := extra["busy"].(float64)
		if threads := float64(i + 1); l["params"].(map[string]any)["threads"] != threads || extra["growth"].(float64) <= 0 || last != (threads == 3) || last && (busy <= 0 || busy > 1) {
			t.Errorf("line %d is %v", i, l)
		}
		if i == 0 && extra["growth"] != 1.0 {
			t.Errorf("one thread is %v times as fast as itself", extra["growth"])
		}
	}
}

// One thread has times and no growth.
func TestScaleOnOneThread(t *testing.T) {
	out, err := benched(t, benchCommand{Patterns: []string{bench.Scale}, all: oneScaled(t)})
	if err != nil || !strings.Contains(out, "One thread grows to nothing") || strings.Contains(out, "Threads have least work") || !strings.Contains(out, "layer/gcn/pubmed/1x64 ") {
		t.Errorf("%v\n%s", err, out)
	}
}
