package gatbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/ranktest"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/ranks"
)

// byRanks runs the command as the ranks of a job, and returns what rank 0 says.
func byRanks(t *testing.T, size int, line string) (stdout string) {
	t.Helper()
	defer par.SetThreads(par.Threads())()
	outs := make([]bytes.Buffer, size)
	for rank, err := range ranktest.Run(size, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		return dispatch(cli.Env{Ctx: t.Context(), Out: &outs[c.Rank()], ErrOut: new(bytes.Buffer), Team: team}, strings.Fields(line))
	}) {
		if err != nil {
			t.Fatalf("%s, rank %d of %d: %v", line, rank, size, err)
		}
	}
	return outs[0].String()
}

// numbersOf returns what epochs and summaries say in lines of JSON, without times and files.
func numbersOf(t *testing.T, lines string) (all []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if m["event"] == "ranks" {
			continue
		}
		for _, key := range []string{"ms", "epoch_ms", "total_ms", "peak_rss_mib", "job", "saved", "checkpoint", "batch"} {
			delete(m, key)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// TestTrainByRanks: one rank says what a process says that is alone, and R ranks what one says that accumulates R batches.
func TestTrainByRanks(t *testing.T) {
	mols := tasktest.Molecules(t)
	t.Chdir(t.TempDir())
	tests := []struct {
		name, line string
		batches    bool
	}{
		{"nodes, sampled", "train --json --dataset karate --splits 60/20/20 --epochs 4 --batch 3 --fanout 4,4 --dropout 0.2 --no-baseline", true},
		{"nodes, batch norm", "train --json --dataset karate --splits 60/20/20 --model sage --norm batch --epochs 3 --batch 4", true},
		{"nodes, gcn", "train --json --dataset karate --splits 60/20/20 --model gcn --epochs 3 --batch 4", true},
		{"nodes, at once", "train --json --dataset karate --splits 60/20/20 --epochs 12 --dropout 0.2", false},
		{"nodes, at once, all rows", "train --json --dataset karate --splits 60/20/20 --model sgc --epochs 3 --rows all --no-baseline", false},
		{"graphs", "train --json --splits random --batch 2 --hidden 8 --epochs 3 --dataset " + mols, true},
		{"graphs, folds", "train --json --folds 3 --preset paper --hidden 8 --epochs 1 --dataset " + mols, false},
		{"links", "train --json --task link --dataset karate --epochs 4", false},
		{"links, lightgcn", "train --json --task link --dataset karate --model lightgcn --batch 16 --epochs 3", false},
	}
	for _, tt := range tests {
		alone, _, status := tasktest.Gatbench(t, strings.Fields(tt.line)...)
		if status != cli.Succeeded {
			t.Fatalf("%s: status %d", tt.line, status)
		}
		if got, want := numbersOf(t, byRanks(t, 1, tt.line)), numbersOf(t, alone); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: one rank says\n%s\nand one process\n%s", tt.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, size := range []int{2, 3} {
			got := numbersOf(t, byRanks(t, size, tt.line))
			if !tt.batches {
				if again := numbersOf(t, byRanks(t, size, tt.line)); strings.Join(got, "\n") != strings.Join(again, "\n") {
					t.Errorf("%s: %d ranks say something else the second time", tt.name, size)
				}
				continue
			}
			accumulated, _, _ := tasktest.Gatbench(t, strings.Fields(tt.line+fmt.Sprintf(" --accumulate %d", size))...)
			if want := numbersOf(t, accumulated); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: %d ranks say\n%s\nand a process that accumulates\n%s", tt.name, size, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestAllNodesByRanks: a step on all nodes that ranks share has the loss of one process.
func TestAllNodesByRanks(t *testing.T) {
	line := "train --json --dataset karate --splits 60/20/20 --epochs 5 --dropout 0 --no-baseline --class-weights 1,3"
	losses := func(lines string) (all []float64) {
		for l := range strings.Lines(lines) {
			var e struct {
				Event string
				Loss  float64
			}
			if json.Unmarshal([]byte(l), &e) == nil && e.Event == "epoch" {
				all = append(all, e.Loss)
			}
		}
		return all
	}
	alone, _, _ := tasktest.Gatbench(t, strings.Fields(line)...)
	want := losses(alone)
	if len(want) != 5 {
		t.Fatalf("%d epochs", len(want))
	}
	for _, size := range []int{2, 5, 40} { // even more ranks than nodes that train
		for i, got := range losses(byRanks(t, size, line)) {
			if d := got/want[i] - 1; d > 1e-4 || d < -1e-4 {
				t.Errorf("%d ranks, epoch %d: loss %v, want %v", size, i+1, got, want[i])
			}
		}
	}
}

// TestAnswersByRanks: ranks measure, predict and embed as one process does, rank 0 alone writes, and a run goes on with another
// number of ranks.
func TestAnswersByRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	train := "train --json --dataset karate --splits 60/20/20 --batch 4 --no-baseline --save m --checkpoint c"
	byRanks(t, 2, train+" --epochs 4")
	model := read("m")
	byRanks(t, 2, train+" --epochs 2")
	byRanks(t, 2, "train --json --resume c --epochs 4 --save resumed")
	if read("resumed") != model {
		t.Error("a run that goes on ends with another model")
	}
	byRanks(t, 3, "train --json --resume c --epochs 4 --save m3")
	tasktest.Gatbench(t, "train", "--resume", "c", "--epochs", "4", "--save", "m1")
	for _, name := range []string{"m3", "m1"} {
		read(name)
	}
	for _, line := range []string{"eval m", "predict m", "predict m --nodes 3,5,9", "predict m --json"} {
		alone, _, status := tasktest.Gatbench(t, strings.Fields(line)...)
		if got := byRanks(t, 3, line); got != alone || status != cli.Succeeded {
			t.Errorf("%s: three ranks say\n%s\nand one process\n%s", line, got, alone)
		}
	}
	byRanks(t, 2, "predict m --embeddings 2.csv")
	tasktest.Gatbench(t, "predict", "m", "--embeddings", "1.csv")
	if read("2.csv") != read("1.csv") {
		t.Error("two ranks embed in another way")
	}
	if left, err := filepath.Glob(".*"); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// TestRanksDiffer: ranks with other data, flags or programs are noticed before anything is computed.
func TestRanksDiffer(t *testing.T) {
	dir := t.TempDir()
	for rank := range 2 {
		file := filepath.Join(dir, fmt.Sprint(rank), "g", "edges.csv")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		text := "source,target\n" + strings.Repeat("a,b\nb,c\nc,d\n", 9) + fmt.Sprintf("d,%d\n", rank)
		nodes := "id,label\na,x\nb,y\nc,x\nd,y\n0,x\n1,y\n"
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "nodes.csv"), []byte(nodes), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for rank, err := range ranktest.Run(2, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		if err := alike(team, []string{"train"}); err != nil {
			return err
		}
		if err := alike(team, []string{"train", fmt.Sprint(c.Rank())}); err == nil || !strings.Contains(err.Error(), "the command line: ") {
			return fmt.Errorf("other flags: %v", err)
		}
		data := filepath.Join(dir, fmt.Sprint(c.Rank()), "g")
		err = dispatch(cli.Env{Ctx: t.Context(), Out: new(bytes.Buffer), ErrOut: new(bytes.Buffer), Team: team}, []string{"train", "--dataset", data, "--splits", "60/20/20", "--epochs", "1"})
		if err == nil || !strings.Contains(err.Error(), "not the same for all ranks: rank 0 (process ") || cli.StatusOf(err) != cli.Misused {
			return fmt.Errorf("other data: %v", err)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
