package runs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trace"
)

// What is recorded is listed, and drawn or kept; what was kept is shown again.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	kept, picture := filepath.Join(dir, "r.json"), filepath.Join(dir, "p.svg")
	first, err := benched(t, Settings{Names: []string{"gemm_packed", "exp"}, Trace: trace.Settings{File: kept}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gemm_packed/64x128x512, recorded on 1 thread: ", "\nexp/2048, recorded on 1 thread: ", "what loses most on 16 threads", " sees work after 0.25 µs", "record in " + kept + "\nnext: gatbench bench --from " + kept + " --plot\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the output lacks %q:\n%s", want, first)
		}
	}
	four := 4
	again, err := benched(t, Settings{Trace: trace.Settings{From: kept, File: picture, At: &four, Growth: "4:3"}})
	if err != nil || strings.Count(again, " recorded on 1 thread: ") != 2 || !strings.Contains(again, "what loses most on 4 threads") ||
		!strings.Contains(strings.Join(strings.Fields(again), " "), "A chunk takes 11.1 % longer for each other thread at work.") || !strings.HasSuffix(again, "picture in "+picture+"\nnext: gatbench bench --from "+kept+" --plot\n") {
		t.Errorf("%v, and it is shown as\n%s", err, again)
	}
	text, err := os.ReadFile(picture)
	if err != nil || !strings.Contains(string(text), ">gemm_packed/64x128x512<") || !strings.Contains(string(text), ">4 threads, predicted: ") || strings.Contains(string(text), ">8 threads") {
		t.Errorf("%v, the picture is\n%s", err, text)
	}
	only, err := benched(t, Settings{Trace: trace.Settings{From: kept}, Plot: true})
	if head, _, _ := strings.Cut(only, "\n"); err != nil || !strings.HasPrefix(first, head) || strings.Count(only, "1 thread, measured: ") != 2 || !strings.HasSuffix(only, "\nnext: gatbench bench --trace lanes.svg --from "+kept+"\n") {
		t.Errorf("%v, without a picture:\n%s", err, only)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, the folder has %v", err, entries)
	}
}

// What is interrupted says what is missing, and leaves no file.
func TestTraceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "p.svg")
	c := Settings{Names: []string{"exp", "gemm_packed"}, Trace: trace.Settings{File: path}, Threads: 1, Budget: quick, All: small(t)}
	err := Run(cli.Env{Ctx: ctx, Out: &cancelling{cancel: cancel, before: 0}, ErrOut: new(bytes.Buffer)}, c)
	if _, missing := os.Stat(path); err == nil || err.Error() != "interrupted after 1 of 2 records: "+path+" is not written" || missing == nil {
		t.Errorf("when it is interrupted: %v; picture: %v", err, missing)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	c = Settings{Names: []string{bench.Scale}, Threads: 1, Budget: quick, All: oneScaled(t)}
	if err := Run(cli.Env{Ctx: ctx, Out: &cancelling{cancel: cancel, before: 3}, ErrOut: new(bytes.Buffer)}, c); err == nil || err.Error() != "interrupted after 0 of 1 names" {
		t.Errorf("when scale is interrupted: %v", err)
	}
}
