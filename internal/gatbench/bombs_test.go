package gatbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
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
	"dataset": func(path string) error { _, err := datasets.Load(path); return err },
	"graphs":  func(path string) error { _, err := datasets.LoadGraphs(path); return err },
	"graph":   func(path string) error { _, err := datasets.LoadGraph(path); return err },
	"matrix":  func(path string) error { _, err := datasets.LoadMatrix(path); return err },
	"splits": func(path string) error {
		d := datasets.Karate()
		_, err := node.Choice{Splits: path}.File(d, task.GoalOf(d))
		return err
	},
	"ledger": func(path string) error { return tableLedger(path).Open() },
	"model":  func(path string) error { _, err := node.Open(path); return err },
	"load":   func(path string) error { return train.Load(path, &mlp{W: grad.NewParam(2, 2)}) },
	"config": func(path string) error { return train.LoadConfig(path, new(mlp)) },
	"resume": func(path string) error {
		m := &mlp{W: grad.NewParam(2, 2)}
		return (&train.Checkpoint{Model: m, Optimiser: &train.Adam{LR: 1}, Tape: grad.NewTape(1), History: new(train.History)}).Load(path)
	},
	"train": func(path string) error {
		var said strings.Builder
		if Run(cli.Env{Ctx: context.Background(), Out: io.Discard, ErrOut: &said}, strings.Fields("train --epochs 1 --splits random --dataset "+path)) != cli.Succeeded {
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
	"brackets of a tree", "lists in a pickle", "edges in gzip, 80 MB", "4 million empty graphs", "ledger of one line",
	"one fact many times", "nodes of TUDataset", "lists in a .pt", "zip of 66,000 members", "6 million labels of 2 nodes", "100 masks of 60,000 nodes",
	"pages of nothing", "times of edges", "60,000 columns of edges", "comment in DOT of 20 MB", "4 million nodes, as a graph",
	"5 million parallel edges", "5 million edges, both directions", "10 rows of 600,000 zeros", "parallel edges of TUDataset",
	".gz in a .tar.gz, 1.2 GB", "dense matrix in gzip", "surnames", "one sale many times", "pages of words", "60,000 empty graphs",
	"history of empty epochs",
}

// blast is what came of reading a bomb.
type blast struct {
	PeakMiB float64 // of the process so far
	Err     string
	Took    time.Duration
}

// bombsAtOnce is how many files a process reads, one after the other: to start one costs what
// most files do. None of them has passed the peak of all.
const bombsAtOnce = 24

// bombIn tells the test's own program to read files, each a reader and a path a line, in place
// of testing.
const bombIn = "EDGEWISE_TEST_BOMBS"

// detonate reads files, says what each took after a line of what the process had before, and
// ends the process.
func detonate(files string) {
	say := json.NewEncoder(os.Stdout)
	err := say.Encode(blast{PeakMiB: usage.PeakMiB()})
	for line := range strings.Lines(files) {
		reader, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		b, began := blast{}, time.Now()
		if err := bombReaders[reader](path); err != nil {
			b.Err = err.Error()
		}
		b.Took, b.PeakMiB = time.Since(began), usage.PeakMiB()
		err = errors.Join(err, say.Encode(b))
		debug.FreeOSMemory()
	}
	if err != nil {
		os.Exit(cli.Failed)
	}
	os.Exit(cli.Succeeded)
}

// explode makes files and reads them in a process of its own. It returns what came of each, and
// before that what the process had.
func explode(t *testing.T, bombs []bomb) []blast {
	t.Helper()
	dir := t.TempDir()
	var files strings.Builder
	for i, b := range bombs {
		folder := filepath.Join(dir, strconv.Itoa(i))
		path := filepath.Join(folder, b.file)
		if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(path, b.make(), 0o666)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&files, "%s\t%s\n", b.reader, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(ctx, self, "-test.run=^TestBombs$")
	child.Env = append(os.Environ(), bombIn+"="+files.String())
	out, err := child.Output()
	var blasts []blast
	for line := range bytes.Lines(out) {
		var b blast
		if json.Unmarshal(line, &b) != nil {
			break
		}
		b.Err = strings.ReplaceAll(b.Err, dir, "")
		blasts = append(blasts, b)
	}
	if n := len(blasts) - 1; n < len(bombs) {
		t.Fatalf("reading %q ended with %v: %.300s", bombs[max(0, n)].name, err, out)
	}
	return blasts
}

// No small file costs more than 200 MB, whatever it is made of and whoever reads
// it. They are read in processes of their own, whose peaks are compared with what these had
// before. With -v the test prints the table.
func TestBombs(t *testing.T) {
	if files, ok := os.LookupEnv(bombIn); ok {
		detonate(files)
	}
	if testing.Short() {
		t.Skip("processes of files, and under the race detector other memory")
	}
	if usage.PeakMiB() == 0 {
		t.Skip("this system does not say how much memory a process has had")
	}
	bombs := allBombs()
	if !sparing.Full() {
		bombs = slices.DeleteFunc(bombs, func(b bomb) bool { return slices.Contains(dearBombs, b.name) })
	}
	tables := make([]string, (len(bombs)+bombsAtOnce-1)/bombsAtOnce)
	t.Run("all", func(t *testing.T) {
		for i := range tables {
			some := bombs[i*bombsAtOnce : min(len(bombs), (i+1)*bombsAtOnce)]
			t.Run("from "+some[0].name, func(t *testing.T) {
				t.Parallel()
				tables[i] = judge(t, some, explode(t, some))
			})
		}
	})
	t.Logf("\n%-36s %-9s %9s %7s  %s\n%s", "bomb", "read as", "peak MB", "ms", "error", strings.Join(tables, ""))
}

// judge compares what came of bombs with what they may do, and returns the lines of the table.
func judge(t *testing.T, bombs []bomb, blasts []blast) (table string) {
	t.Helper()
	for i, b := range bombs {
		before, got := blasts[i], blasts[i+1]
		peak := got.PeakMiB - blasts[0].PeakMiB
		if peak > peakMost && got.PeakMiB > before.PeakMiB {
			t.Errorf("%s takes %.0f MiB, error %q", b.name, peak, got.Err)
		}
		if b.want == "" && got.Err != "" || !strings.Contains(got.Err, b.want) {
			t.Errorf("%s: error %.500q, want one with %q", b.name, got.Err, b.want)
		}
		table += fmt.Sprintf("%-36s %-9s %9.0f %7d  %.150s\n", b.name, b.reader, peak*(1<<20)/1e6, got.Took.Milliseconds(), got.Err)
	}
	return table
}
