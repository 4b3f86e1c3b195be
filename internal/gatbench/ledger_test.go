package gatbench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// tableArgs are those of a small table that keeps its results in a file.
func tableArgs(path, seeds string, more ...string) []string {
	return append([]string{"table", "--json", "--datasets", "cora", "--models", "mlp", "--epochs", "3", "--seeds", seeds, "--resume", path}, more...)
}

// A table that was cut short goes on with the seeds it has not trained, and ends
// as one that was not.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	count := func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n"))
	}
	tasktest.Results(t, tableArgs(path, "2")...)
	if n := count(); n != 2 {
		t.Fatalf("the file has %d lines after two seeds", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	status := Run(cli.Env{Ctx: ctx, Out: &out, ErrOut: &errOut}, tableArgs(path, "4"))
	if want := "gatbench: interrupted after 0 rows and 2 of 4 seeds of the next; run the same command again to continue from " + path + "\n"; status != cli.Failed || errOut.String() != want {
		t.Errorf("status %d, error %q, want %q", status, errOut.String(), want)
	}
	resumed := tasktest.Results(t, tableArgs(path, "4")...)
	if n := count(); n != 4 {
		t.Errorf("the file has %d lines after four seeds", n)
	}
	whole := tasktest.Results(t, tableArgs(filepath.Join(t.TempDir(), "other"), "4")...)
	for _, name := range []string{"test_accuracy_mean", "test_accuracy_std", "test_accuracy_low", "test_accuracy_high", "seeds"} {
		if resumed[0][name] != whole[0][name] {
			t.Errorf("%s: %v resumed, %v at once", name, resumed[0][name], whole[0][name])
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := tasktest.Results(t, tableArgs(path, "4")...)
	if after, _ := os.ReadFile(path); again[0]["total_ms"] != resumed[0]["total_ms"] || !bytes.Equal(before, after) {
		t.Error("what was known was trained again")
	}
	tasktest.Results(t, tableArgs(path, "1", "--select", "loss")...)
	if n := count(); n != 5 {
		t.Errorf("the file has %d lines after a seed with other settings", n)
	}
}

// A file that table has not kept is not overwritten, and the error says where
// and what is wrong.
func TestLedgerForeign(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	tasktest.Results(t, tableArgs(good, "1")...)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	line := string(text)
	for name, tt := range map[string]struct{ text, want string }{
		"text":     {"seed,epoch\n", "line 1 is no result that table has kept: seed stands there, want a value"},
		"empty":    {line + "\n" + line, "line 2 is no result that table has kept: it ends where a value is wanted: it is empty or cut"},
		"cut":      {line[:len(line)/2], "line 1 is no result that table has kept: it ends inside "},
		"twice":    {strings.TrimSpace(line) + line, "line 1 is no result that table has kept: something follows its value"},
		"field":    {strings.Replace(line, `"Dataset"`, `"Data"`, 1), `line 1 is no result that table has kept: "recipe"."Data": there is no member of that name`},
		"rule":     {strings.Replace(line, `"Select":"last"`, `"Select":"best"`, 1), "line 1 is no result that table has kept: --select best"},
		"accuracy": {strings.Replace(line, `"test_accuracy":`, `"test_accuracy":3`, 1), "line 1 is no result that table has kept: its test accuracy is 3"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, status := tasktest.Gatbench(t, tableArgs(path, "1")...)
		if status != cli.Failed || stdout != "" || !strings.HasPrefix(stderr, "gatbench: "+path+": "+tt.want) {
			t.Errorf("%s: status %d, output %q, error %q", name, status, stdout, stderr)
		}
		if !strings.Contains(stderr, "name another file or remove it") {
			t.Errorf("%s: no advice in %q", name, stderr)
		}
		if left, _ := os.ReadFile(path); string(left) != tt.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"recipe":{"Dataset":"cora","Splits":"planetoid","Seed":0,"Preset":"paper","Model":"mlp","Hidden":16,"Heads":1,"OutHeads":1,"Layers":2,"Dropout":0.5,"ValueDrop":false,"Residual":false,"LR":0.01,"WeightDecay":0.0005,"Decayed":"first-weights","Start":"glorot","Select":"accuracy","Epochs":3,"Patience":0,"Batch":0},"summary":{"test_accuracy":0.5}}`))
	f.Add([]byte(`{"recipe":{"Epochs":-1}}`))
	f.Add([]byte(`{}{`))
	f.Fuzz(func(t *testing.T, line []byte) {
		path := filepath.Join(t.TempDir(), "kept")
		if err := os.WriteFile(path, line, 0o666); err != nil {
			t.Fatal(err)
		}
		g := tableLedger(path)
		if g.Open() == nil {
			g.Close()
		}
		for r := range g.Of {
			if err := r.Check(); err != nil {
				t.Errorf("read %+v, which cannot be: %v", r, err)
			}
		}
	})
}
