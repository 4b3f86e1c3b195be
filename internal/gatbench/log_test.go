package gatbench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func TestEventsInNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "1", "--log", "tensorboard:"+file)
	if status != cli.Failed || len(stderr) < len("gatbench: --log tensorboard:"+file) || stderr[:len("gatbench: --log tensorboard:"+file)] != "gatbench: --log tensorboard:"+file {
		t.Errorf("status %d, error %q", status, stderr)
	}
}
