package train_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

// TestFullDisk keeps the old checkpoint, leaves nothing beside it and says which
// file it was. The run's epochs are returned all the same. A limit on the size of
// files stands for a disk that is full; it binds a process, so there is one more.
func TestFullDisk(t *testing.T) {
	if path := os.Getenv("EDGEWISE_TEST_FULL"); path != "" {
		onFullDisk(t, path)
		return
	}
	path := saved(t, nil)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	child.Env = append(os.Environ(), "EDGEWISE_TEST_FULL="+path)
	if out, err := child.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS: TestFullDisk")) {
		t.Errorf("%v\n%s", err, out)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the old file is not what it was")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func onFullDisk(t *testing.T, path string) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	f := newFit(newLogistic())
	f.Checkpoint = path
	h, err := f.Run(t.Context())
	saveErr := train.Save(path, &struct {
		W *grad.Param `json:"-"`
	}{grad.NewParam(500)})
	for _, err := range []error{err, saveErr} {
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path) {
			t.Errorf("error is %v", err)
		}
	}
	if h == nil || len(h.Epochs) != 30 {
		t.Errorf("the history is %v", h)
	}
	f = newFit(newLogistic())
	f.Checkpoint, f.Every = path, 3
	h, err = f.Run(t.Context())
	if err == nil || strings.Count(err.Error(), path) != 1 || len(h.Epochs) != 3 {
		t.Errorf("a checkpoint every 3 epochs: after %d epochs, %v", len(h.Epochs), err)
	}
}
