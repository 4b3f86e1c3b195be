package gatbench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/peers"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/runs"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trace"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/lanes"
)

func TestBenchMisuse(t *testing.T) {
	tests := []struct{ args, want string }{
		{"gem", `there is no benchmark "gem"; did you mean "gemm"? gatbench bench --list names them all`},
		{"exp/2084", `there is no benchmark "exp/2084"; did you mean "exp/2048"? gatbench bench --list names them all`},
		{"ex", `there is no benchmark "ex"; did you mean "exp"? gatbench bench --list names them all`},
		{"exp/[", `"exp/[" is not a pattern: syntax error in pattern`},
		{"--threads=-1", `--threads -1: it must be at least 1, or 0 for all there are`},
	}
	for _, tt := range tests {
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"bench"}, strings.Fields(tt.args)...)...)
		if want := "gatbench: " + tt.want; !strings.HasPrefix(stderr, want) || stdout != "" || status != cli.Misused {
			t.Errorf("bench %s: status %d, output %q, error\n%swant status 2 and\n%s", tt.args, status, stdout, stderr, want)
		}
	}
}

func TestBenchList(t *testing.T) {
	stdout, stderr, status := tasktest.Gatbench(t, "bench", "--list", "exp")
	if stdout != "exp/2048\nexp/1048576\n" || stderr != "" || status != cli.Succeeded {
		t.Errorf("status %d, output %q, error %q", status, stdout, stderr)
	}
}

// What cannot be drawn is refused before anything is timed.
func TestBenchPictureMisuse(t *testing.T) {
	dir := t.TempDir()
	svg, tsv := filepath.Join(dir, "p.svg"), filepath.Join(dir, "out.tsv")
	for args, want := range map[string]string{
		"--beside " + tsv:                             "name the picture by --picture FILE.svg",
		"sparse --picture " + dir + "/p.jpg":          "its name must end in .svg or .png",
		"exp --plot":                                  "--plot: it shows a sweep; name sparse, or length, and nothing else",
		"sparse --plot --json":                        "--plot: it shows a picture to people",
		"exp --picture " + svg:                        "name sparse, or length, and nothing else",
		"--picture " + svg:                            "name sparse, or length, and nothing else",
		"sparse --picture " + dir + "/none/p.svg":     "there is no folder",
		"exp --picture " + svg + " --beside " + tsv:   "leave names, --graph and --size out",
		"--size cora --beside x.tsv --picture " + svg: "leave names, --graph and --size out",
		"--beside " + svg + " --picture " + svg:       "it would be written over the file that --beside reads",
	} {
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"bench"}, strings.Fields(args)...)...)
		if !strings.Contains(stderr, want) || stdout != "" || status != cli.Misused {
			t.Errorf("bench %s: status %d, output %q, error\n%swant status 2 and %q", args, status, stdout, stderr, want)
		}
	}
	if _, stderr, status := tasktest.Gatbench(t, "bench", "--beside", tsv, "--picture", svg); status != cli.Failed || !strings.Contains(stderr, "out.tsv") {
		t.Errorf("of a table that is not there: status %d, %s", status, stderr)
	}
}

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
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"bench"}, strings.Fields(args)...)...)
		if got := strings.Join(strings.Fields(stderr), " "); !strings.Contains(got, want) || stdout != "" || status != cli.Misused {
			t.Errorf("bench %s: status %d, output %q, error\n%swant status 2 and %q", args, status, stdout, stderr, want)
		}
	}
	if err := os.WriteFile(kept, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{kept: "line 1: it is no record of loops", dir + "/none.json": "none.json", dir: "is a folder"} {
		if _, stderr, status := tasktest.Gatbench(t, "bench", "--from", path); status != cli.Failed || !strings.Contains(stderr, want) {
			t.Errorf("--from %s: status %d, %s", path, status, stderr)
		}
	}
}

// benched runs the command's part below it, on one thread and in no time, and returns what it prints.
func benched(t *testing.T, s runs.Settings) (string, error) {
	t.Helper()
	s.Threads, s.Source, s.Read = 1, peers.Trainings, peers.ReadGraph
	s.Budget = bench.Budget{WarmUps: 1, AtLeast: 2, AtMost: 3, Enough: time.Microsecond, Limit: time.Second}
	var out bytes.Buffer
	err := runs.Run(cli.Env{Ctx: t.Context(), Out: &out, ErrOut: new(bytes.Buffer)}, s)
	return out.String(), err
}

// graphForms writes a graph of three nodes in the forms that are read, and returns the path of
// each and how many edges it has.
func graphForms(t *testing.T) map[string]int {
	t.Helper()
	dir := t.TempDir()
	forms := map[string]int{"karate": 156}
	write := func(name, text string, edges int) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		forms[path] = edges
		return path
	}
	const matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.5\n2 1 -1\n3 2 4\n3 3 7\n"
	write("own.mtx", matrix, 6) // with its diagonal
	write("pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n", 2)
	write("full.mtx", "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n", 3)
	write("rows.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.5\n2 1 1e3\n", 2)
	write("a[b.txt", "0 1\n1 2\n", 2)
	write("named.csv", "source,target\na,b\nb,c\nc,a\n", 3)
	write("pair_edges.csv", "source,target\na,b\nb,c\n", 2)
	delete(forms, write("pair_nodes.csv", "id,label\na,x\nb,y\nc,x\n", 0))
	write("drawn.dot", "digraph { a -> b; b -> c; c -> a }\n", 3)
	write("drawn.graphml", `<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>`, 1)
	write("shop.csv", "user,item\nann,tea\nbob,tea\nbob,cup\n", 3)
	write("facts/train.txt", "a\tlikes\tb\nb\tlikes\tc\n", 2)
	delete(forms, filepath.Join(dir, "facts", "train.txt"))
	write("facts/test.txt", "a\tlikes\tc\n", 1)
	delete(forms, filepath.Join(dir, "facts", "test.txt"))
	forms[filepath.Join(dir, "facts")] = 2
	write("folder/list.txt", "0 1\n1 2\n2 0\n", 3)
	forms[filepath.Join(dir, "folder")] = 3
	write("many.jsonl", `{"edges":[[0,1]],"label":0}`+"\n"+`{"edges":[[0,1],[1,2]],"label":1}`+"\n", 3) // one after the other

	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	_, err := gz.Write([]byte(matrix))
	if err == nil {
		err = gz.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write("packed.mtx.gz", packed.String(), 6)
	packed.Reset()
	z := zip.NewWriter(&packed)
	w, err := z.Create("list.txt")
	if err == nil {
		_, err = w.Write([]byte("0 1\n1 2\n"))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write("archive.zip", packed.String(), 2)
	saved := filepath.Join(dir, "saved.npz")
	if err := datasets.Karate().SaveNPZ(saved); err != nil {
		t.Fatal(err)
	}
	forms[saved] = 156
	return forms
}

// Kernels are timed on a graph in any form that is read, under the name of its file. A matrix
// keeps its diagonal.
func TestBenchGraph(t *testing.T) {
	tasktest.Nowhere(t)
	for path, edges := range graphForms(t) {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		out, err := benched(t, runs.Settings{Graph: path, Names: []string{"u_mul_e_sum/" + name + "/64"}, JSON: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if l := tasktest.Objects(t, out); len(l) != 1 || l[0]["params"].(map[string]any)["edges"] != float64(edges) || l[0]["params"].(map[string]any)["graph"] != name {
			t.Errorf("%s: want %d edges, got %s", path, edges, out)
		}
	}
}

// What is no graph, or has nothing to time, is refused with what to do.
func TestBenchGraphMisuse(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.mtx":   "%%MatrixMarket matrix coordinate real general\n3 4 0\n",
		"zeros.mtx":   "%%MatrixMarket matrix array real general\n1 2\n0\n0\n",
		"none.mtx":    "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
		"huge.mtx":    "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 0\n",
		"complex.mtx": "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n",
		"short.mtx":   "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 3.0\n",
		"loop.txt":    "1 1\n",
		"none.txt":    "",
		"bad.npz":     "PK",
		"odd.xlsx":    "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o777); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		graph  string
		status int
		want   string
	}{
		{"empty.mtx", cli.Failed, "empty.mtx: it is 3 × 4 and has no elements that are not zero: the kernels need at least one"},
		{"zeros.mtx", cli.Failed, "zeros.mtx: it is 1 × 2 and has no elements that are not zero"},
		{"none.mtx", cli.Failed, "none.mtx: it is 0 × 0 and has no elements that are not zero"},
		{"huge.mtx", cli.Failed, "that is not believed"},
		{"complex.mtx", cli.Failed, "complex.mtx: line 1: its elements are complex"},
		{"short.mtx", cli.Failed, "short.mtx: line 3: the file ends after 1 of 3 elements"},
		{"loop.txt", cli.Failed, "loop.txt: it has 1 node and no edges: the kernels need at least one"},
		{"none.txt", cli.Failed, "none.txt: there are no edges in it"},
		{"bad.npz", cli.Failed, "bad.npz"},
		{"odd.xlsx", cli.Failed, "odd.xlsx: such tables are not read: save them as CSV"},
		{"nowhere.mtx", cli.Failed, "nowhere.mtx"},
		{"nothing", cli.Failed, "there is no dataset in it that is known"},
	}
	for _, tt := range tests {
		path := filepath.Join(dir, tt.graph)
		stdout, stderr, status := tasktest.Gatbench(t, "bench", "spmm", "--graph", path)
		if status != tt.status || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, output %q, error\n%s", tt.graph, status, stdout, stderr)
		}
	}
	if _, stderr, status := tasktest.Gatbench(t, "bench", "spmm", "--graph", "karat"); status != cli.Misused || !strings.Contains(stderr, `did you mean "karate"?`) {
		t.Errorf("a wrong name: status %d, error %q", status, stderr)
	}
	if _, stderr, status := tasktest.Gatbench(t, "bench", "sprase", "--graph", "karate"); status != cli.Misused || !strings.Contains(stderr, `did you mean "sparse"?`) {
		t.Errorf("a wrong group: status %d, error %q", status, stderr)
	}
}

// A line of a training says what came of it, and follows the flags.
func TestBenchTraining(t *testing.T) {
	lines := tasktest.Objects(t, tasktest.OK(t, "bench", "--json", "--epochs", "3", "--seed", "5", "train/cora"))
	if len(lines) != 1 || lines[0]["op"] != "citation/gat" || lines[0]["reps"] != 3.0 {
		t.Fatalf("got %v", lines)
	}
	if p := lines[0]["params"].(map[string]any); p["epochs"] != 3.0 || p["seed"] != 5.0 || p["dataset"] != "cora" {
		t.Errorf("the params are %v", p)
	}
	extra := lines[0]["extra"].(map[string]any)
	for _, name := range []string{"last_loss", "last_test_acc", "best_val_acc", "best_val_test_acc", "epoch_median_ms"} {
		if v, _ := extra[name].(float64); !(v > 0) {
			t.Errorf("%s is %v", name, extra[name])
		}
	}
	if step := lines[0]["median_ms"].(float64); extra["epoch_median_ms"].(float64) < step {
		t.Errorf("an epoch of %v ms has a step of %v", extra["epoch_median_ms"], step)
	}
	again := tasktest.Objects(t, tasktest.OK(t, "bench", "--json", "--epochs", "3", "--seed", "5", "--threads", "2", "train/cora"))
	if got := again[0]["extra"].(map[string]any)["last_loss"]; got != extra["last_loss"] {
		t.Errorf("the last loss is %v, and %v on two threads", extra["last_loss"], got)
	}
	other := tasktest.Objects(t, tasktest.OK(t, "bench", "--json", "--epochs", "3", "--seed", "6", "train/cora"))
	if got := other[0]["extra"].(map[string]any)["last_loss"]; got == extra["last_loss"] {
		t.Error("another seed gives the same loss")
	}
}

// A name is itself alone, though others begin with it.
func TestBenchTrainingNames(t *testing.T) {
	for pattern, want := range map[string]string{
		"train/cora":         "train/cora\n",
		"train/cora/sage":    "train/cora/sage\n",
		"train/p*":           "train/pubmed\ntrain/photo\ntrain/proteins\n",
		"train/*/gcn":        "train/cora/gcn\ntrain/citeseer/gcn\ntrain/pubmed/gcn\ntrain/photo/gcn\ntrain/cs/gcn\n",
		"read":               "read/cora\nread/citeseer\nread/pubmed\nread/mutag\nread/proteins\n",
		"ablation/*/dropout": "ablation/cora/dropout\nablation/citeseer/dropout\nablation/pubmed/dropout\n",
	} {
		if got := tasktest.OK(t, "bench", "--list", pattern); got != want {
			t.Errorf("%s: got\n%swant\n%s", pattern, got, want)
		}
	}
}

// Reading says which file is missing.
func TestBenchReading(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, stderr, status := tasktest.Gatbench(t, "bench", "read/pubmed"); status != cli.Failed || !strings.Contains(stderr, "no files of pubmed") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if _, stderr, status := tasktest.Gatbench(t, "bench", "--epochs=-1", "read"); status != cli.Misused || stderr != "gatbench: --epochs -1: it must be at least 1, or 0 for 200\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// A line of a training has the step, and the epoch that contains it.
func TestTrainBenchmark(t *testing.T) {
	if testing.Short() || !sparing.Full() {
		t.Skip("trains for 200 epochs: set EDGEWISE_FULL=1; TestBenchTraining has three of them")
	}
	out, err := benched(t, runs.Settings{Names: []string{"train/cora"}, JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	var l bench.Line
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		t.Fatal(err)
	}
	if l.Op != "citation/gat" || l.Reps != trainings.PeersEpochs || l.Extra.EpochMS <= l.MedianMS {
		t.Errorf("got %s", out)
	}
}

// Of a training an epoch is recorded, as long as the training may be, and not what is before the first.
func TestTraceOfATraining(t *testing.T) {
	loops := func(name string, epochs int) int {
		kept := filepath.Join(t.TempDir(), "r.json")
		out, err := benched(t, runs.Settings{Names: []string{name}, Trace: trace.Settings{File: kept}, Epochs: epochs})
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
