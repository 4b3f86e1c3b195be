package gatbench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// A saved model finds its data from another folder, and says what it took.
func TestModelFindsItsData(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", "")
	root, elsewhere := t.TempDir(), t.TempDir()
	for _, dir := range []string{"data", "runs/one"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	if err := datasets.Karate().SaveNPZ("data/own.npz"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/s.json", []byte(`{"train":[0,1,33],"val":[2,3],"test":[4,5]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	tasktest.OK(t, "train", "--model", "mlp", "--epochs", "2", "--dataset", "data/own.npz", "--splits", "data/s.json", "--save", "runs/one/m", "--checkpoint", "runs/one/q")
	want := tasktest.OK(t, "eval", "--json", "runs/one/m")

	said := func(dir string) string {
		note := ""
		for _, f := range []string{"dataset own.npz", "splits s.json"} {
			flag, name, _ := strings.Cut(f, " ")
			note += "gatbench: the --" + flag + " data/" + name + " of " + "FILE" + " is not here; reading " + filepath.Join(dir, name) + "\n"
		}
		return note
	}
	check := func(file, note string, more ...string) {
		t.Helper()
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"eval", "--json", file}, more...)...)
		got := strings.Replace(stdout, `"file":"`+file, `"file":"runs/one/m`, 1)
		got = strings.Replace(got, filepath.ToSlash(filepath.Join(root, "data")), "data", 1) // of --dataset
		if status != cli.Succeeded || got != want || stderr != strings.ReplaceAll(note, "FILE", file) {
			t.Errorf("status %d, error\n%swant\n%soutput %s want %s", status, stderr, note, got, want)
		}
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("runs/one")
	check("m", said(filepath.Join(real, "data")))
	t.Chdir(elsewhere)
	model := filepath.Join(root, "runs", "one", "m")
	check(model, said(filepath.Join(root, "data")))
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("m", data, 0o666); err != nil { // alone
		t.Fatal(err)
	}
	check("m", said(filepath.Join(root, "data")), "--data", filepath.Join(root, "data"))
	check("m", "", "--dataset", filepath.Join(root, "data", "own.npz"), "--splits", filepath.Join(root, "data", "s.json"))
	_, stderr, status := tasktest.Gatbench(t, "eval", "m")
	if want := "gatbench: m: its --dataset data/own.npz is not here, nor by the model, nor in a folder of datasets: say where it is with --dataset, or its folder with --data\n"; status != cli.Failed || stderr != want {
		t.Errorf("status %d, error %q, want %q", status, stderr, want)
	}
}

// A run goes on where its data has moved to.
func TestResumeMovedData(t *testing.T) {
	t.Setenv("EDGEWISE_DATA", "")
	t.Chdir(t.TempDir())
	if err := datasets.Karate().SaveNPZ("own.npz"); err != nil {
		t.Fatal(err)
	}
	args := []string{"--model", "mlp", "--splits", "random", "--dataset", "own.npz"}
	tasktest.OK(t, append([]string{"train", "--epochs", "4", "--checkpoint", "whole"}, args...)...)
	tasktest.OK(t, append([]string{"train", "--epochs", "2", "--checkpoint", "q"}, args...)...)
	if err := os.Rename("own.npz", "other.npz"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := tasktest.Gatbench(t, "train", "--resume", "q"); status != cli.Failed || !strings.Contains(stderr, "q: its --dataset own.npz is not here") {
		t.Errorf("status %d, error %q", status, stderr)
	}
	tasktest.OK(t, "train", "--resume", "q", "--checkpoint", "q", "--epochs", "4", "--dataset", "other.npz")
	whole, errA := os.ReadFile("whole")
	q, errB := os.ReadFile("q")
	if errA != nil || errB != nil || string(whole) != string(q) {
		t.Errorf("the run ends with another file (%v, %v)", errA, errB)
	}
}

// What a model names is taken only if it is a file or a folder.
func TestModelNamesADevice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	if err := datasets.Karate().SaveNPZ(filepath.Join(dir, "null")); err != nil {
		t.Fatal(err)
	}
	tasktest.OK(t, "train", "--model", "mlp", "--dataset", "karate", "--splits", "random", "--epochs", "1", "--save", path)
	m, err := models.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m.Recipe = bytes.Replace(m.Recipe, []byte(`"Dataset":"karate"`), []byte(`"Dataset":"`+os.DevNull+`"`), 1)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := tasktest.Gatbench(t, "eval", path)
	if want := "gatbench: " + path + ": its --dataset: " + os.DevNull + ": it is a device"; status != cli.Failed || !strings.HasPrefix(stderr, want) {
		t.Errorf("status %d, error %q, want %q", status, stderr, want)
	}
}
