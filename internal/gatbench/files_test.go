package gatbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// No command writes over what it reads, nor two things into one file, whatever
// links lead there; and nothing runs before that is known.
func TestOutputsAreApart(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := datasets.Karate().SaveNPZ(at("d.npz")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"of", "deep"} {
		if err := os.Mkdir(at(d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"q", "s.json", "of/ind.x.allx", "of/ind.x.y"} {
		if err := os.WriteFile(at(name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("s.json", at("link")), os.Symlink("deep", at("short")), os.Symlink("new", at("dangling")), os.Link(at("s.json"), at("hard"))); err != nil {
		t.Skip(err)
	}
	read := "it would be written over the file that %s reads: name another"
	for args, want := range map[string]string{
		"train --splits D/s.json --csv D/s.json":                    "--out D/s.json: " + fmt.Sprintf(read, "--splits"),
		"train --splits D/s.json --csv D/link":                      "--out D/link: " + fmt.Sprintf(read, "--splits"),
		"train --splits D/link --save D/s.json":                     "--save D/s.json: " + fmt.Sprintf(read, "--splits"),
		"train --splits D/hard --save D/s.json":                     "--save D/s.json: " + fmt.Sprintf(read, "--splits"),
		"train --dataset D/d.npz --save D/d.npz":                    "--save D/d.npz: " + fmt.Sprintf(read, "--dataset"),
		"train --dataset D/d.npz --profile D/of/../d.npz":           "--profile D/of/../d.npz: " + fmt.Sprintf(read, "--dataset"),
		"train --dataset D/of --csv D/of/ind.x.y":                   "--out D/of/ind.x.y: " + fmt.Sprintf(read, "--dataset"),
		"train --dataset D/of/ind.x.allx --checkpoint D/of/ind.x.y": "--checkpoint D/of/ind.x.y: " + fmt.Sprintf(read, "--dataset"),
		"train --save D/x --checkpoint D/of/../x":                   "--checkpoint D/of/../x: --save has that name too",
		"train --save D/deep/x --csv D/short/x":                     "--out D/short/x: --save has that name too",
		"train --save D/new --csv D/dangling":                       "--out D/dangling: --save has that name too",
		"train --save D/log --log tensorboard:D/log":                "--log D/log: --save has that name too",
		"train --picture D/a.svg --attention D/b.csv,D/a.svg":       "--attention D/a.svg: --picture has that name too",
		"table --resume D/s.json --splits D/s.json":                 "--resume D/s.json: " + fmt.Sprintf(read, "--splits"),
		"table --datasets D/d.npz --resume D/d.npz":                 "--resume D/d.npz: " + fmt.Sprintf(read, "--datasets"),
		"data convert D/d.npz -o D/d.npz":                           "--out D/d.npz: " + fmt.Sprintf(read, "the dataset"),
	} {
		_, stderr, status := tasktest.Gatbench(t, strings.Fields(strings.ReplaceAll(args, "D/", dir+"/"))...)
		if want = "gatbench: " + strings.ReplaceAll(want, "D/", dir+"/") + "\n"; stderr != want || status != cli.Misused {
			t.Errorf("gatbench %s: status %d, error\n%swant\n%s", args, status, stderr, want)
		}
	}
}

// A saved model is not written over by what is made of it; a checkpoint is by the
// run that goes on.
func TestModelsAreKept(t *testing.T) {
	dir := t.TempDir()
	model, q := filepath.Join(dir, "m"), filepath.Join(dir, "q")
	tasktest.OK(t, "train", "--model", "mlp", "--epochs", "1", "--save", model, "--checkpoint", q)
	for args, want := range map[string]string{
		"predict DM --out DM":         "--out DM: it would be written over the file that the model reads: name another",
		"train --resume DQ --save DQ": "--save DQ: it would be written over the file that --resume reads: name another",
		"train --resume DQ --csv DQ":  "--out DQ: it would be written over the file that --resume reads: name another",
	} {
		paths := strings.NewReplacer("DM", model, "DQ", q)
		args, want = paths.Replace(args), paths.Replace(want)
		_, stderr, status := tasktest.Gatbench(t, strings.Fields(args)...)
		if stderr != "gatbench: "+want+"\n" || status != cli.Misused {
			t.Errorf("gatbench %s: status %d, error\n%swant\n%s", args, status, stderr, want)
		}
	}
	tasktest.OK(t, "train", "--resume", q, "--checkpoint", q, "--epochs", "2", "--save", model)
	if out := tasktest.OK(t, "train", "--resume", q); !strings.Contains(out, "no epochs were left to train") {
		t.Errorf("a run that is over goes on:\n%s", out)
	}
}

// Names that no file can have are found before the training.
func TestImpossibleNames(t *testing.T) {
	dir := t.TempDir()
	ring := filepath.Join(dir, "ring")
	if err := os.Symlink("ring", ring); err != nil {
		t.Skip(err)
	}
	long := filepath.Join(dir, strings.Repeat("n", 256))
	for path, want := range map[string]string{long: "file name too long", ring: "it is one of a ring of symbolic links"} {
		for _, args := range [][]string{{"train", "--json", "--save", path}, {"train", "--json", "--csv", path}, {"table", "--resume", path}} {
			stdout, stderr, status := tasktest.Gatbench(t, args...)
			if status == cli.Succeeded || stdout != "" || !strings.Contains(stderr, want) {
				t.Errorf("gatbench %.30s: status %d, output %.80q, error %q", args, status, stdout, stderr)
			}
		}
	}
	longest := filepath.Join(dir, strings.Repeat("n", 255))
	tasktest.OK(t, "train", "--model", "mlp", "--epochs", "1", "--save", longest)
}

// Two tables do not share a file: the second says who has it, and runs when the
// first has ended.
func TestLedgerIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.jsonl")
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		t.Skip(err)
	}
	_, stderr, status := tasktest.Gatbench(t, tableArgs(path, "1")...)
	if want := fmt.Sprintf("gatbench: --resume %s is in use by process %d", path, os.Getpid()); status != cli.Failed || !strings.HasPrefix(stderr, want) || !strings.Contains(stderr, "wait for it, or name another file") {
		t.Errorf("status %d, error %q", status, stderr)
	}
	if unlock(); len(tasktest.Results(t, tableArgs(path, "1")...)) != 1 {
		t.Error("the table has no row")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestComplaints(t *testing.T) {
	full := func(path string) error {
		return fmt.Errorf("save: %w", &atomicfile.Error{Path: path, Err: syscall.ENOSPC})
	}
	other := errors.New("it is late")
	plain := fmt.Errorf("two: %w, %w", other, full("a"))
	for _, c := range []struct {
		err  error
		want string
	}{
		{other, "it is late"},
		{errors.Join(other, other), "it is late"},
		{full("a"), "save: write a: " + syscall.ENOSPC.Error()},
		{errors.Join(full("a"), other, errors.Join(full("b"), full("a"))), "a and b could not be written: " + syscall.ENOSPC.Error() + "\nit is late"},
		{errors.Join(full("a"), &os.PathError{Op: "write", Path: "b", Err: syscall.ENOSPC}, &atomicfile.Error{Path: "c", Err: syscall.EROFS}),
			"a and b could not be written: " + syscall.ENOSPC.Error() + "\nwrite c: " + syscall.EROFS.Error()},
	} {
		if got := strings.Join(cli.Complaints(c.err), "\n"); got != c.want {
			t.Errorf("%v gives\n%s\nwant\n%s", c.err, got, c.want)
		}
	}
	if got := cli.Parts(plain); len(got) != 1 {
		t.Errorf("%v was taken apart: %v", plain, got)
	}
}
