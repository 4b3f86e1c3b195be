package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// quick is a budget for tests.
var quick = budget{warmUps: 1, atLeast: 2, atMost: 3, enough: time.Microsecond, limit: time.Second}

// small are benchmarks that take no time, one of each kind.
func small() []benchmark {
	return []benchmark{
		fmaBenchmark(1), copyBenchmark(levels[0], 1),
		gemmBenchmark("gemm", [3]int{5, 7, 3}, 1), gemmBenchmark("gemm_ta", [3]int{5, 7, 3}, 1),
		gemmBenchmark("gemm_packed", [3]int{4, 8, 16}, 1),
		expBenchmark(64, 1), addBenchmark(64, 1), axpyBenchmark(64, 1), sumBenchmark(64, 1), softmaxBenchmark(3, 5, 1),
		dropoutBenchmark(128, 1), wideDropoutBenchmark(8, 1), adamBenchmark(64, 1), forkJoinBenchmark(1),
	}
}

// bench runs the command on small and returns what it prints.
func bench(t *testing.T, c benchCommand) (string, error) {
	t.Helper()
	if c.all == nil {
		c.all = small()
	}
	c.budget, c.Threads = quick, 1
	var out bytes.Buffer
	err := c.Run(env{t.Context(), &out, new(bytes.Buffer)})
	return out.String(), err
}

func names(bs []benchmark) string {
	var out []string
	for _, b := range bs {
		out = append(out, b.name)
	}
	return strings.Join(out, " ")
}

func TestBenchNames(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		all, seen := benchmarks(threads, sparseChoice{}, trainChoice{}), map[string]bool{}
		for _, b := range all {
			if seen[b.name] {
				t.Errorf("%s stands twice for %d threads", b.name, threads)
			}
			seen[b.name] = true
			if got, err := choose(all, b.name); err != nil || names(got) != b.name {
				t.Errorf("%s selects %q, %v", b.name, names(got), err)
			}
			if b.params["threads"] == nil || b.op == "" || b.lanes < 1 || b.prepare == nil && b.train == nil && b.open == nil {
				t.Errorf("%s is not complete: %+v", b.name, b)
			}
		}
		for _, want := range strings.Fields(`gemm/1024x1024x1024 gemm/2708x1433x64 gemm_ta/500x19717x64
			gemm_odd/2708x1433x7 gemm_odd/511x513x509
			gemm_packed/64x128x512 exp/2048 exp/1048576 dropout/1048576 par/forkjoin machine/fma/1 machine/copy/memory/1 machine/gather/memory/1
			copy_u_sum/arxiv/128 u_mul_e_sum/pubmed/8x8 u_dot_v/arxiv/8x8 edge_softmax/arxiv/8x8 gat_attention/arxiv/8x8
			message/arxiv/64 features/cora/64 layer/gat/arxiv/8x8 layer/gatv2/arxiv/8x8
			sample/batch/1000000x10000000 sample/step/1000000x10000000 sample/step/1000000x10000000/alone train/cora train/pubmed`) {
			if !seen[want] {
				t.Errorf("there is no %s", want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	all := benchmarks(1, sparseChoice{}, trainChoice{})
	tests := []struct{ pattern, want string }{
		{"exp", "exp/2048 exp/1048576"},
		{"exp/", "exp/2048 exp/1048576"},
		{"exp/20*", "exp/2048"},
		{"[ed]*/1048576", "exp/1048576 dropout/1048576"},
		{"gemm/*x1024x1024", "gemm/1024x1024x1024 gemm/45000x1024x1024"},
		{"gemm_packed", "gemm_packed/64x128x512"},
		{"machine/copy", "machine/copy/l1/1 machine/copy/l2/1 machine/copy/l3/1 machine/copy/memory/1"},
		{"", names(all)},
	}
	for _, tt := range tests {
		if got, err := choose(all, tt.pattern); err != nil || names(got) != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.pattern, names(got), err, tt.want)
		}
	}
}

func TestBenchMisuse(t *testing.T) {
	tests := []struct{ args, want string }{
		{"gem", `there is no benchmark "gem"; did you mean "gemm"? gatbench bench --list names them all`},
		{"exp/2084", `there is no benchmark "exp/2084"; did you mean "exp/2048"? gatbench bench --list names them all`},
		{"ex", `there is no benchmark "ex"; did you mean "exp"? gatbench bench --list names them all`},
		{"exp/[", `"exp/[" is not a pattern: syntax error in pattern`},
		{"--threads=-1", `--threads -1: it must be at least 1, or 0 for all there are`},
	}
	for _, tt := range tests {
		stdout, stderr, status := gatbench(t, append([]string{"bench"}, strings.Fields(tt.args)...)...)
		if want := "gatbench: " + tt.want; !strings.HasPrefix(stderr, want) || stdout != "" || status != misused {
			t.Errorf("bench %s: status %d, output %q, error\n%swant status 2 and\n%s", tt.args, status, stdout, stderr, want)
		}
	}
}

func TestBenchList(t *testing.T) {
	stdout, stderr, status := gatbench(t, "bench", "--list", "exp")
	if stdout != "exp/2048\nexp/1048576\n" || stderr != "" || status != succeeded {
		t.Errorf("status %d, output %q, error %q", status, stdout, stderr)
	}
}

func TestBenchTable(t *testing.T) {
	out, err := bench(t, benchCommand{})
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, b := range small() {
		next := strings.Index(out, "\n"+b.name+" ")
		if next <= at {
			t.Errorf("%s is missing or out of order:\n%s", b.name, out)
		}
		at = next
	}
	for _, want := range []string{" % fma/1 ", " % copy/l1/1 ", " copy", "kernels: " + simd.Path()} {
		if !strings.Contains(out, want) {
			t.Errorf("the table has no %q:\n%s", want, out)
		}
	}
}

// A table measures the machine even if it was not asked for; JSON does not.
func TestBenchMachine(t *testing.T) {
	out, err := bench(t, benchCommand{Pattern: "exp"})
	if err != nil || !strings.Contains(out, "\nmachine/fma/1 ") || !strings.Contains(out, "\nexp/64 ") || strings.Contains(out, "gemm/") {
		t.Errorf("%v, table\n%s", err, out)
	}
	out, err = bench(t, benchCommand{Pattern: "exp", JSON: true})
	if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"op":"exp"`) {
		t.Errorf("%v, lines\n%s", err, out)
	}
}

func TestBenchJSON(t *testing.T) {
	out, err := bench(t, benchCommand{JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := objects(t, out)
	if len(lines) != len(small()) {
		t.Fatalf("%d lines for %d benchmarks", len(lines), len(small()))
	}
	for i, b := range small() {
		l := lines[i]
		for _, field := range strings.Fields("peer version op params median_ms min_ms reps peak_rss_mib extra") {
			if _, ok := l[field]; !ok {
				t.Errorf("%s: no %s", b.name, field)
			}
		}
		median, least, reps := l["median_ms"].(float64), l["min_ms"].(float64), l["reps"].(float64)
		if l["peer"] != "edgewise" || l["op"] != b.op || !(least > 0) || median < least || reps < 2 || reps > 3 {
			t.Errorf("%s: got %v", b.name, l)
		}
		extra := l["extra"].(map[string]any)
		if want := b.flops / median / 1e6; b.flops > 0 && math.Abs(extra["gflops"].(float64)-want) > 1e-9*want {
			t.Errorf("%s: %v GFLOP/s, want %v", b.name, extra["gflops"], want)
		}
	}
	gemm := lines[2]
	want := map[string]any{"m": 5.0, "k": 7.0, "n": 3.0, "threads": 1.0}
	for name, v := range want {
		if gemm["params"].(map[string]any)[name] != v {
			t.Errorf("the product's params are %v, want %v", gemm["params"], want)
		}
	}
	if gemm["op"] != "dense/gemm" || lines[3]["op"] != "dense/gemm_ta" {
		t.Errorf("the ops are %v and %v", gemm["op"], lines[3]["op"])
	}
}

// Isolated results come from the line that another process prints.
func TestBenchIsolated(t *testing.T) {
	var asked []string
	c := benchCommand{JSON: true, Isolate: true, Pattern: "exp", self: func(_ context.Context, args ...string) ([]byte, error) {
		asked = args
		return json.Marshal(benchLine{Peer: "edgewise", Op: "exp", MedianMS: 2, MinMS: 1, Reps: 7})
	}}
	out, err := bench(t, c)
	if err != nil || strings.Join(asked, " ") != "bench --json --threads=1 exp/64" {
		t.Fatalf("asked for %q, %v", asked, err)
	}
	if l := objects(t, out); len(l) != 1 || l[0]["reps"] != 7.0 || l[0]["median_ms"] != 2.0 {
		t.Errorf("got %v", l)
	}
	c.self = func(context.Context, ...string) ([]byte, error) { return []byte("killed"), nil }
	if out, err := bench(t, c); out != "" || err == nil || !strings.HasPrefix(err.Error(), `exp/64: its process printed "killed"`) {
		t.Errorf("got %q, %v", out, err)
	}
}

// A cancelled run has whole rows of what was done and an error.
func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := small()[:4]
	call := all[2].prepare().call
	all[2].prepare = func() workload { return workload{call: func() { call(); cancel() }} }
	c := benchCommand{Threads: 1, budget: quick, all: all}
	var out bytes.Buffer
	err := c.Run(env{ctx, &out, new(bytes.Buffer)})
	if err == nil || err.Error() != "interrupted after 2 of 4 benchmarks" {
		t.Errorf("got the error %v", err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[2], all[1].name) || lines[3] != "" {
		t.Errorf("the partial table is\n%s", out.String())
	}
}

func TestRepeat(t *testing.T) {
	calls := 0
	got, err := quick.repeat(t.Context(), func() { calls++; time.Sleep(time.Millisecond) })
	if err != nil || calls != 1+1+2 || len(got.ms) != 2 || got.group != 1 || got.ms[0] < 1 || got.ms[1] < got.ms[0] {
		t.Errorf("%d calls, %+v, %v", calls, got, err)
	}
	got, err = quick.repeat(t.Context(), func() {})
	if err != nil || got.group < 2 || got.median() > 1e-3 {
		t.Errorf("an empty call: %+v, %v", got, err)
	}
	even := timing{ms: []float64{1, 2, 4, 8}}
	if even.median() != 3 || even.percentile(10) != 1 || even.percentile(90) != 8 {
		t.Errorf("median %v, 10th %v, 90th %v", even.median(), even.percentile(10), even.percentile(90))
	}
}

// The limit is the one of the two that takes longer, at the best rate measured.
func TestJudge(t *testing.T) {
	c := ceilings{"machine/fma/2": 100, "machine/copy/l1/2": 10, "machine/copy/memory/2": 1}
	tests := []struct {
		flops, bytes, ms float64
		limit            string
		pct              float64
	}{
		{2e8, 1e3, 4, "fma/2", 50},
		{1e3, 4e4, 0.008, "copy/l1/2", 50},
		{0, 1e8, 400, "copy/memory/2", 25},
		{0, 0, 1, "", 0},
	}
	for _, tt := range tests {
		l := &benchLine{MedianMS: tt.ms}
		c.judge(&benchmark{flops: tt.flops, bytes: tt.bytes, lanes: 2}, l)
		if l.Extra.Limit != tt.limit || math.Abs(l.Extra.LimitPct-tt.pct) > 1e-9 {
			t.Errorf("%+v: got %.3g %% of %q", tt, l.Extra.LimitPct, l.Extra.Limit)
		}
	}
}

// The loops, and gonum, that products are compared with must compute the same
// products: they know nothing of our kernels.
func TestPlainProducts(t *testing.T) {
	for _, kind := range []string{"gemm", "gemm_ta", "gemm_packed"} {
		p := newMatMul(kind, 37, 65, 29)
		p.run()
		want := p.c.Clone()
		p.c.Fill(7)
		r := p.plain(1)
		r.call()
		if r.share != 1 || !near(p.c, want) {
			t.Errorf("%s: the loops give\n%v, want\n%v (share %v)", kind, p.c, want, r.share)
		}
		p.c.Fill(7)
		if r = p.gonum(1); r.share != 1 || r.name != "gonum" {
			t.Errorf("%s: all of gonum is %+v", kind, r)
		}
		if r.call(); !near(p.c, want) {
			t.Errorf("%s: gonum gives\n%v, want\n%v", kind, p.c, want)
		}
		for _, half := range []reference{p.plain(0.5), p.gonum(0.5)} {
			if half.call(); half.share >= 1 || half.share < 0.3 {
				t.Errorf("%s: half the product is %v of it", kind, half.share)
			}
		}
	}
}

func near(a, b *tensor.Dense) bool {
	for i, v := range a.Data {
		if d := float64(v - b.Data[i]); !(math.Abs(d) < 1e-4) {
			return false
		}
	}
	return true
}

func TestUsage(t *testing.T) {
	a := usage{ok: true, busy: 100, all: 200, own: 50}
	b := usage{ok: true, busy: 190, all: 300, own: 120}
	if got := a.others(b); got == nil || *got != 20 {
		t.Errorf("others used %v", got)
	}
	if a.others(a) != nil || a.others(usage{}) != nil {
		t.Error("a share of nothing is known")
	}
	if u := newUsage(); u.ok && !(u.peakMiB > 1 && u.all > u.busy && u.sinceStart > -1) {
		t.Errorf("got %+v", u)
	}
}

func TestShortTime(t *testing.T) {
	for ms, want := range map[float64]string{5e-4: "500 ns", 0.0123: "12.3 µs", 1.5: "1.5 ms", 2500: "2.50 s"} {
		if got := shortTime(ms); got != want {
			t.Errorf("%v ms: got %q, want %q", ms, got, want)
		}
	}
}
