package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/usage"
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/train"
)

// peakMost is what reading a small file may add to the memory of a process, in MiB.
const peakMost = 200.0 * 1e6 / (1 << 20)

// hangs is when a process is ended that does not come back. It is no measure of
// speed.
const hangs = time.Minute

// bomb is a file that is made to fill a memory.
type bomb struct {
	name, reader, file string
	make               func() []byte
	want               string // in the error; empty: it can be read
}

// mlp is a model to be loaded.
type mlp struct {
	In int
	W  *grad.Param `json:"-"`
}

// bombReaders are all the ways in which a file of another's can be read.
var bombReaders = map[string]func(path string) error{
	"none":    func(string) error { return nil },
	"dataset": func(path string) error { _, err := datasets.Read(path); return err },
	"graphs":  func(path string) error { _, err := datasets.ReadGraphs(path); return err },
	"graph":   func(path string) error { _, err := datasets.ReadGraph(path); return err },
	"matrix":  func(path string) error { _, err := datasets.ReadMatrix(path); return err },
	"splits": func(path string) error {
		d, err := cora.Load()
		if err == nil {
			_, err = choice{splits: path}.file(d, goalOf(d))
		}
		return err
	},
	"ledger": func(path string) error { _, err := openLedger(path); return err },
	"model":  func(path string) error { _, err := loadNetwork(path); return err },
	"load":   func(path string) error { return train.Load(path, &mlp{W: grad.NewParam(2, 2)}) },
	"config": func(path string) error { return train.LoadConfig(path, new(mlp)) },
	"resume": func(path string) error {
		m := &mlp{W: grad.NewParam(2, 2)}
		return (&train.Checkpoint{Model: m, Optimiser: &train.Adam{LR: 1}, Tape: grad.NewTape(1), History: new(train.History)}).Load(path)
	},
	"train": func(path string) error {
		var said strings.Builder
		if run(env{context.Background(), io.Discard, &said}, strings.Fields("train --epochs 2 --splits random --dataset "+path)) != succeeded {
			return fmt.Errorf("%s", said.String())
		}
		return nil
	},
}

// dearBombs are among the dearest, and others try the same readers and limits
// with less: only the whole gate, which sets EDGEWISE_FULL, has them.
var dearBombs = []string{
	"parallel edges of JSON", "features of one node in JSON", "nodes of XML", "keys of XML", "table of a million columns", "words of edges in gzip",
	"chain in DOT, as it is", "attributes in DOT", "comments of 50 MB", "header of 65,000 tensors", "papers of words", "citations",
	"links that say something", "edges in a folder", "questions of TREC", "trees of SST",
	"facts of 300,000 entities", "sales to 300,000 users", "words of edges", "chain in DOT", "features of nothing in JSON", "paper of 2 million words",
	"state dict of 100,000 names", "text of 20 MB in JSON",
	"graphs of nothing as lines", "words with tags", "number of 90 MB in JSON", "numbers in order", "line of words", "captions",
	"parallel edges of a table", "names by a memo", "as many columns as are believed", "facts of new names", "stories of bAbI",
	"rows of a table of texts", "header of 100,000 tensors", "words of a tokeniser", "empty lines", "edges in zstd, 1.2 GB",
	".gz in a .zip, 1.2 GB", ".gz in a .tar, 80 MB", "edges between far nodes", "dense matrix in gzip, as it is", "papers of nothing",
	"pages of nothing", "times of edges", "60,000 columns of edges", "comment in DOT of 20 MB", "4 million nodes, as a graph",
	"5 million parallel edges", "5 million edges, both directions", "10 rows of 600,000 zeros", "parallel edges of TUDataset",
}

// blast is what came of reading a bomb in a process of its own.
type blast struct {
	PeakMiB float64
	Err     string
	cpu     time.Duration // of the whole process
}

// bombIn and bombReader tell the test's own program to read a file, in place of
// testing.
const bombIn, bombReader = "EDGEWISE_TEST_BOMB", "EDGEWISE_TEST_BOMB_READER"

// detonate reads a file, says what it took, and ends the process.
func detonate(reader, path string) {
	b := blast{}
	if err := bombReaders[reader](path); err != nil {
		b.Err = err.Error()
	}
	b.PeakMiB = usage.PeakMiB()
	if err := json.NewEncoder(os.Stdout).Encode(b); err != nil {
		os.Exit(failed)
	}
	os.Exit(succeeded)
}

// explode reads a file in a process of its own.
func explode(t *testing.T, reader, path string) blast {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(ctx, self, "-test.run=^TestBombs$")
	child.Env = append(os.Environ(), bombIn+"="+path, bombReader+"="+reader)
	out, err := child.Output()
	var b blast
	if err != nil || json.Unmarshal(out, &b) != nil {
		t.Errorf("reading %s ended with %v: %.300s", path, err, out)
		return b
	}
	b.cpu = child.ProcessState.UserTime() + child.ProcessState.SystemTime()
	return b
}

// No small file costs more than 200 MB, whatever it is made of and whoever reads
// it. Each is read in a process of its own, whose peak is compared with that of one
// that reads nothing. With -v the test prints the table.
func TestBombs(t *testing.T) {
	if path, ok := os.LookupEnv(bombIn); ok {
		detonate(os.Getenv(bombReader), path)
	}
	if testing.Short() {
		t.Skip("a process for each file, and under the race detector other memory")
	}
	if usage.PeakMiB() == 0 {
		t.Skip("this system does not say how much memory a process has had")
	}
	bombs := allBombs()
	if !sparing.Full() {
		bombs = slices.DeleteFunc(bombs, func(b bomb) bool { return slices.Contains(dearBombs, b.name) })
	}
	lines := make([]string, len(bombs))
	empty := explode(t, "none", "").PeakMiB
	t.Run("all", func(t *testing.T) {
		for i, b := range bombs {
			t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				text := b.make()
				path := filepath.Join(t.TempDir(), b.file)
				if err := os.WriteFile(path, text, 0o666); err != nil {
					t.Fatal(err)
				}
				got := explode(t, b.reader, path)
				peak := got.PeakMiB - empty
				if peak > peakMost {
					t.Errorf("a file of %d bytes takes %.0f MiB, error %q", len(text), peak, got.Err)
				}
				if b.want == "" && got.Err != "" || !strings.Contains(got.Err, b.want) {
					t.Errorf("error %.500q, want one with %q", got.Err, b.want)
				}
				said := strings.ReplaceAll(got.Err, filepath.Dir(path)+string(filepath.Separator), "")
				lines[i] = fmt.Sprintf("%-34s %-8s %10d %9.0f %7d  %.150s", b.name, b.reader, len(text), peak*(1<<20)/1e6, got.cpu.Milliseconds(), said)
			})
		}
	})
	t.Logf("\n%-34s %-8s %10s %9s %7s  %s\n%s", "bomb", "read as", "bytes", "peak MB", "CPU ms", "error", strings.Join(lines, "\n"))
}
