package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/suite"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// quick is a budget for tests.
var quick = bench.Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}

// small are benchmarks that take next to no time, two of them of the machine.
func small(t *testing.T) []bench.Benchmark {
	t.Helper()
	all, out := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{}), []bench.Benchmark(nil)
	for _, name := range []string{"machine/fma/1", "machine/copy/l1/1", "gemm_packed/64x128x512", "exp/2048", "par/forkjoin"} {
		b, err := bench.Choose(all, name)
		if err != nil || len(b) != 1 {
			t.Fatalf("%s selects %d benchmarks, %v", name, len(b), err)
		}
		out = append(out, b...)
	}
	return out
}

// benched runs the command, on small unless it has others or a graph, and returns what it prints.
func benched(t *testing.T, c Settings) (string, error) {
	t.Helper()
	if c.All == nil && c.Graph+c.Size == "" {
		c.All = small(t)
	}
	c.Budget, c.Threads = quick, 1
	var out bytes.Buffer
	err := Run(cli.Env{Ctx: t.Context(), Out: &out, ErrOut: new(bytes.Buffer)}, c)
	return out.String(), err
}

// cancelling ends a context at the first write, or later.
type cancelling struct {
	bytes.Buffer
	cancel func()
	before int // writes
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.before--; c.before < 0 {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// A table has the rows in order, and what they are compared with below them; which the rows
// are that were asked for, all says, without what it measures of the machine.
func TestBenchTable(t *testing.T) {
	out, err := benched(t, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, b := range bench.WithoutMachine(small(t)) {
		next := strings.Index(out, "\n"+b.Name+" ")
		if next <= at {
			t.Errorf("%s is missing or out of order:\n%s", b.Name, out)
		}
		at = next
	}
	for _, want := range []string{"kernels: " + cpu.Path(), "this machine, 1 thread: fma ", "\nnext: gatbench bench sparse\n"} {
		if !strings.Contains(out[at:], want) {
			t.Errorf("the rows are not followed by %q:\n%s", want, out)
		}
	}
	if !strings.Contains(out, " % fma") || strings.Contains(out, "machine/") {
		t.Errorf("a row has no limit, or there are rows of the machine:\n%s", out)
	}
}

// A table measures the machine even if it was not asked for; JSON does not. Rows of the machine
// are there for who asks for them.
func TestBenchMachine(t *testing.T) {
	out, err := benched(t, Settings{Names: []string{"exp"}})
	if err != nil || strings.Contains(out, "machine/") || !strings.HasPrefix(out, "name ") || !strings.Contains(out, "\nexp/2048 ") || strings.Contains(out, "gemm/") || !strings.Contains(out, "fma ") {
		t.Errorf("%v, table\n%s", err, out)
	}
	out, err = benched(t, Settings{Names: []string{"machine", "exp"}})
	if err != nil || !strings.Contains(out, "\nmachine/fma/1 ") || strings.Count(out, "machine/copy/l1/1 ") != 1 || !strings.Contains(out, "\nexp/2048 ") {
		t.Errorf("%v, table\n%s", err, out)
	}
	out, err = benched(t, Settings{Names: []string{"exp"}, JSON: true})
	if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"op":"exp"`) {
		t.Errorf("%v, lines\n%s", err, out)
	}
}

// A run of everything says first how much that is and what is shorter.
func TestBenchEverything(t *testing.T) {
	for _, patterns := range [][]string{nil, {"exp"}} {
		var stderr bytes.Buffer
		c := Settings{Names: patterns, Threads: 1, Budget: quick, All: small(t)}
		if err := Run(cli.Env{Ctx: t.Context(), Out: new(bytes.Buffer), ErrOut: &stderr}, c); err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(stderr.String(), "gatbench: 3 names ") && strings.Contains(stderr.String(), "gatbench bench sparse\n"); got != (patterns == nil) {
			t.Errorf("bench %v says %q", patterns, stderr.String())
		}
	}
}

// What cannot be timed ends a run that asks for it, and is reported at the end of a run of
// everything, as data that is not here is.
func TestBenchMissing(t *testing.T) {
	tasktest.Nowhere(t)
	for _, patterns := range [][]string{nil, {"read/mutag", "exp"}} {
		all := suite.All(bench.Choice{Threads: 1}, trainings.Trainings{})
		missing, err := bench.Choose(all, "read/mutag")
		if err != nil || len(missing) != 1 {
			t.Fatal(missing, err)
		}
		c := Settings{Names: patterns, All: append(missing, small(t)...)}
		out, err := benched(t, c)
		if err == nil || !strings.Contains(err.Error(), "read/mutag: no files of mutag") || strings.Contains(err.Error(), "1 of 4 names") != (patterns == nil) {
			t.Errorf("bench %v: %v", patterns, err)
		}
		if strings.Contains(out, "\nexp/2048 ") != (patterns == nil) {
			t.Errorf("bench %v prints\n%s", patterns, out)
		}
	}
}

func TestBenchJSON(t *testing.T) {
	out, err := benched(t, Settings{JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := tasktest.Objects(t, out)
	if len(lines) != len(small(t)) {
		t.Fatalf("%d lines for %d benchmarks", len(lines), len(small(t)))
	}
	for i, b := range small(t) {
		l := lines[i]
		for _, field := range strings.Fields("peer version op params median_ms min_ms reps peak_rss_mib extra") {
			if _, ok := l[field]; !ok {
				t.Errorf("%s: no %s", b.Name, field)
			}
		}
		median, least, reps := l["median_ms"].(float64), l["min_ms"].(float64), l["reps"].(float64)
		if l["peer"] != "edgewise" || !(least > 0) || median < least || reps < 2 || reps > 3 {
			t.Errorf("%s: got %v", b.Name, l)
		}
	}
	gemm := lines[2]
	want := map[string]any{"m": 64.0, "k": 128.0, "n": 512.0, "threads": 1.0}
	for name, v := range want {
		if gemm["params"].(map[string]any)[name] != v {
			t.Errorf("the product's params are %v, want %v", gemm["params"], want)
		}
	}
}

// Isolated results come from the line that another process prints.
func TestBenchIsolated(t *testing.T) {
	var asked []string
	c := Settings{JSON: true, Isolate: true, Names: []string{"exp"}, self: func(_ context.Context, args ...string) ([]byte, error) {
		asked = args
		return json.Marshal(bench.Line{Peer: "edgewise", Op: "exp", MedianMS: 2, MinMS: 1, Reps: 7})
	}}
	out, err := benched(t, c)
	if err != nil || strings.Join(asked, " ") != "bench --json --threads=1 exp/2048" {
		t.Fatalf("asked for %q, %v", asked, err)
	}
	if l := tasktest.Objects(t, out); len(l) != 1 || l[0]["reps"] != 7.0 || l[0]["median_ms"] != 2.0 {
		t.Errorf("got %v", l)
	}
	c.self = func(context.Context, ...string) ([]byte, error) { return []byte("killed"), nil }
	if out, err := benched(t, c); out != "" || err == nil || !strings.HasPrefix(err.Error(), `exp/2048: its process printed "killed"`) {
		t.Errorf("got %q, %v", out, err)
	}
}

// A cancelled run has whole rows of what was done, what they are compared with, and an error.
func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := small(t)
	c := Settings{Threads: 1, Budget: quick, All: all, Names: []string{"machine", "exp", "par"}}
	out := &cancelling{cancel: cancel, before: 2} // the head and a row
	err := Run(cli.Env{Ctx: ctx, Out: out, ErrOut: new(bytes.Buffer)}, c)
	if err == nil || err.Error() != "interrupted after 2 of 4 benchmarks" {
		t.Errorf("got the error %v", err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) < 5 || !strings.HasPrefix(lines[2], all[1].Name) || lines[3] != "" || !strings.HasPrefix(lines[4], "this machine, 1 thread: fma ") {
		t.Errorf("the partial table is\n%s", out.String())
	}
}

func TestBenchChoice(t *testing.T) {
	tests := []struct {
		c    Settings
		want string
	}{
		{Settings{Heads: new(-1)}, "--heads -1: it must be at least 1"},
		{Settings{Dims: []int{0}}, "--dim 0: it must be at least 1"},
		{Settings{Size: "9x9", Dims: []int{16, math.MaxInt}}, "at most 65536 columns"},
		{Settings{Size: "9x9", Heads: new(math.MaxInt), Dims: []int{math.MaxInt}}, "at most 65536 columns"},
		{Settings{Size: "9x9", Heads: new(300), Dims: []int{300, 1}}, "at most 65536 columns"},
		{Settings{Size: "9x0"}, "NODESxEDGES"},
		{Settings{Graph: "a.npz", Size: "cora"}, "leave one of them out"},
		{Settings{Size: "huge"}, "--size huge"},
	}
	for _, c := range tests {
		if _, err := c.c.choice(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want an error with %q", c.c, err, c.want)
		}
	}
	c, err := (&Settings{Size: "50x60", Heads: new(2), Dims: []int{4, 6}}).choice()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := list(&out, suite.All(c, trainings.Trainings{})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "copy_u_sum/50x60/2x4\ncopy_u_sum/50x60/2x6\n") || strings.Contains(out.String(), "copy_u_sum/arxiv") {
		t.Errorf("chosen were\n%s", out.String())
	}
}

func TestSelfArgs(t *testing.T) {
	c := Settings{Size: "cora", Heads: new(4), Data: "d", Dims: []int{8, 16}}
	got := strings.Join(c.selfArgs("gemm"), " ")
	for _, want := range []string{"--size=cora", "--heads=4", "--data=d", "--dim=8", "--dim=16"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	if !strings.HasPrefix(got, "bench --json --threads=") || !strings.HasSuffix(got, " gemm") || strings.Contains(got, "--epochs") {
		t.Errorf("arguments %q", got)
	}
}
