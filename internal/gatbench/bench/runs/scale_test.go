package runs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/suite"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// oneScaled is one of the names of scale, that takes little time.
func oneScaled(t *testing.T) []bench.Benchmark {
	t.Helper()
	b, err := bench.Choose(suite.All(bench.Choice{Threads: 1}, trainings.Trainings{}), "layer/gcn/pubmed/1x64")
	if err != nil || len(b) != 1 {
		t.Fatalf("%d benchmarks, %v", len(b), err)
	}
	return b
}

// Each name is timed on 1, 2, 4 … threads and on all that are asked for, and says how it grows.
func TestScale(t *testing.T) {
	c := Settings{Names: []string{bench.Scale}, Threads: 3, Budget: quick, All: oneScaled(t)}
	var table, lines bytes.Buffer
	if err := Run(cli.Env{Ctx: t.Context(), Out: &table, ErrOut: new(bytes.Buffer)}, c); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(table.String()), " ")
	for _, want := range []string{"milliseconds on 1 to 3 threads: GOMAXPROCS ", " name 1 2 3 growth busy layer/gcn/pubmed/1x64 ", " % Threads have least work in layer/gcn/pubmed/1x64. ", " next: gatbench bench --trace - --plot layer/gcn/pubmed/1x64"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, table.String())
		}
	}
	c.JSON = true
	if err := Run(cli.Env{Ctx: t.Context(), Out: &lines, ErrOut: new(bytes.Buffer)}, c); err != nil {
		t.Fatal(err)
	}
	all := tasktest.Objects(t, lines.String())
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
	out, err := benched(t, Settings{Names: []string{bench.Scale}, All: oneScaled(t)})
	if err != nil || !strings.Contains(out, "One thread grows to nothing") || strings.Contains(out, "Threads have least work") || !strings.Contains(out, "layer/gcn/pubmed/1x64 ") {
		t.Errorf("%v\n%s", err, out)
	}
}
