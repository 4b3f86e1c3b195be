package node

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
)

// The report names the files that were written, and no others.
func TestReportNamesWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	karate, epochs := "karate", 2
	f := &task.Flags{Seeds: 1, SettingFlags: task.SettingFlags{Dataset: &karate, Epochs: &epochs}, OutputFlags: task.OutputFlags{
		Out: filepath.Join(dir, "e.csv"), Picture: filepath.Join(dir, "p.svg"), Attention: []string{filepath.Join(dir, "a.csv")},
	}}
	var out, errOut bytes.Buffer
	e := cli.Env{Ctx: context.Background(), Out: &out, ErrOut: &errOut}
	c, err := Task{}.Recipe(e, f)
	if err == nil {
		err = c.Open(e)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Picture, f.Attention[0] = filepath.Join(dir, "gone", "p.svg"), filepath.Join(dir, "gone", "a.csv")
	err = c.Train(e)
	if err == nil || !strings.Contains(err.Error(), "p.svg") || !strings.Contains(err.Error(), "a.csv") {
		t.Errorf("the error is %v, want one that names both files", err)
	}
	if text := out.String(); !strings.Contains(text, "epochs in "+f.Out) || strings.Contains(text, "gone") {
		t.Errorf("the report says\n%s", text)
	}
}
