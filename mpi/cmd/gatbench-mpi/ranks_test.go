//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampled is a training whose epochs have seven batches.
const sampled = "train --json --dataset cora --splits 60/20/20 --batch 256 --fanout 5,5 --hidden 4 --patience 0 --no-baseline --threads 1"

// TestTrain: R ranks print what one process prints that accumulates R batches, to the bit, however few batches there are.
func TestTrain(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		few := "train --json --dataset karate --splits 60/20/20 --batch 20 --epochs 3 --no-baseline --threads 1"
		for _, tt := range []struct {
			size int
			line string
		}{{1, sampled + " --epochs 3"}, {2, sampled + " --epochs 3"}, {3, sampled + " --epochs 3"}, {3, few}} {
			dir := t.TempDir()
			got := said(t, must(t, dir, byRanks(t, launcher, tt.size, tt.line)...))
			want := said(t, must(t, dir, alone(t, tt.line+fmt.Sprintf(" --accumulate %d", tt.size))...))
			if got != want || !strings.Contains(got, `"epoch":3`) {
				t.Errorf("%d ranks say\n%s\nand one process\n%s", tt.size, got, want)
			}
			only(t, dir)
		}
	})
}

// TestSaved: a model of ranks is measured and asked as any other, by ranks and by one process.
func TestSaved(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		dir := t.TempDir()
		must(t, dir, byRanks(t, launcher, 2, sampled+" --epochs 3 --save m")...)
		for _, line := range []string{"eval m", "predict m --json", "predict m --nodes 3,5,2000"} {
			want := must(t, dir, alone(t, line)...)
			for _, size := range []int{2, 3} {
				if got := must(t, dir, byRanks(t, launcher, size, line)...); got != want || want == "" {
					t.Errorf("%s: %d ranks say\n%s\nand one process\n%s", line, size, got, want)
				}
			}
		}
		must(t, dir, byRanks(t, launcher, 2, "predict m --embeddings ranks.csv")...)
		must(t, dir, alone(t, "predict m --embeddings one.csv")...)
		if bytesOf(t, dir, "ranks.csv") != bytesOf(t, dir, "one.csv") {
			t.Error("two ranks embed in another way")
		}
		only(t, dir, "m", "ranks.csv", "one.csv")
	})
}

// TestRefused: what cannot be is said once the ranks have met, or where they cannot meet.
func TestRefused(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		dir := t.TempDir()
		for rank := range 2 {
			plantGraph(t, filepath.Join(dir, fmt.Sprint(rank), "g"), rank)
		}
		must(t, dir, alone(t, sampled+" --epochs 2 --checkpoint c")...)
		if err := os.WriteFile(filepath.Join(dir, "cut"), []byte(bytesOf(t, dir, "c")[:2000]), 0o666); err != nil {
			t.Fatal(err)
		}
		program := binary(t)
		other, err := copyOf("other", "\n")
		if err != nil {
			t.Fatal(err)
		}
		two := func(first, second string) []string {
			return strings.Fields(launcher + " -n 1 " + first + " : -n 1 " + second)
		}
		train, flags := program+" train --dataset karate --epochs 1", "train --dataset g --splits 60/20/20 --epochs 1"
		for _, tt := range []struct {
			name    string
			command []string
			status  int
			says    string
		}{
			{"flags", two(train, train+" --seed 3"), 2, "gatbench: the command line: start all ranks with the same flags: not the same for all ranks: rank 0 (process "},
			{"binaries", two(train, strings.Replace(train, program, other, 1)), 2, "gatbench: the program: copy one binary to all hosts: not the same for all ranks: rank 0 (process "},
			{"data", two("-wdir 0 "+program+" "+flags, "-wdir 1 "+program+" "+flags), 2, "gatbench: --dataset g: not the same for all ranks: rank 0 (process "},
			{"no such flag", byRanks(t, launcher, 2, "train --bogus"), 2, "unknown flag --bogus"},
			{"no such command", byRanks(t, launcher, 2, "table"), 2, "gatbench: table is not shared among processes"},
			{"no such data", byRanks(t, launcher, 2, "train --dataset nowhere"), 2, "nowhere"},
			{"a checkpoint cut short", byRanks(t, launcher, 2, "train --resume cut"), 1, "cut: safetensors: "},
			{"a model cut short", byRanks(t, launcher, 2, "eval cut"), 1, "it is cut short"},
		} {
			stdout, stderr, status := start(t, dir, nil, tt.command...).end()
			if status == 0 || !strings.Contains(stderr, tt.says) || stdout != "" && !strings.Contains(stdout, "BAD TERMINATION") {
				t.Errorf("%s: status %d\n%s\n%s\nwant\n%s", tt.name, status, stdout, stderr, tt.says)
			}
			if n := strings.Count(stderr, tt.says); n > 1 && tt.name != "no such command" {
				t.Errorf("%s is said %d times:\n%s", tt.name, n, stderr)
			}
			if strings.Contains(stderr, "has died") {
				t.Errorf("%s: a rank has died:\n%s", tt.name, stderr)
			}
		}
	})
}

// plantGraph makes a folder of a small graph, of which each rank has another.
func plantGraph(t *testing.T, dir string, rank int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"edges.csv": "source,target\n" + strings.Repeat("a,b\nb,c\nc,d\n", 9) + fmt.Sprintf("d,%d\n", rank),
		"nodes.csv": "id,label\na,x\nb,y\nc,x\nd,y\n0,x\n1,y\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoMPI: a rank that finds no library, or that of another launcher, says so.
func TestNoMPI(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		line := "train --dataset karate --epochs 1"
		_, stderr, status := start(t, t.TempDir(), []string{"EDGEWISE_MPI=/nowhere/libmpi.so"}, byRanks(t, launcher, 2, line)...).end()
		if status == 0 || !strings.Contains(stderr, "the library that EDGEWISE_MPI names cannot be used: /nowhere/libmpi.so") {
			t.Errorf("status %d\n%s", status, stderr)
		}
		for _, l := range launchers {
			other := mpiexec(l.says)
			if other == "" || other == launcher {
				continue
			}
			version, _, _ := start(t, t.TempDir(), []string{asking + "=1"}, byRanks(t, other, 1, "")...).end()
			_, file, _ := strings.Cut(version, "(")
			file, _, _ = strings.Cut(file, ")")
			_, stderr, status := start(t, t.TempDir(), []string{"EDGEWISE_MPI=" + file}, byRanks(t, launcher, 2, line)...).end()
			if status == 0 || !strings.Contains(stderr, file) || !strings.Contains(stderr, " starts programs of ") {
				t.Errorf("%s: status %d\n%s", version, status, stderr)
			}
		}
	})
}
