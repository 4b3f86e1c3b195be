package gatbench

import (
	"bytes"
	"context"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"path/filepath"
	"strings"
	"testing"
)

// The report names the files that were written, and no others.
func TestReportNamesWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	k, err := openTask("", "karate", false, choice{splits: splitsRandom})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecipe("quick", "gat", "karate")
	if err != nil {
		t.Fatal(err)
	}
	r.Epochs = 2
	c := &trainCommand{Seeds: 1, outputFlags: outputFlags{
		CSV: filepath.Join(dir, "e.csv"), Plot: filepath.Join(dir, "gone", "p.svg"), Attention: []string{filepath.Join(dir, "gone", "a.csv")},
	}}
	var out, errOut bytes.Buffer
	err = c.all(cli.Env{Ctx: context.Background(), Out: &out, ErrOut: &errOut}, k, r)
	if err == nil || !strings.Contains(err.Error(), "p.svg") || !strings.Contains(err.Error(), "a.csv") {
		t.Errorf("the error is %v, want one that names both files", err)
	}
	if text := out.String(); !strings.Contains(text, "epochs in "+c.CSV) || strings.Contains(text, "gone") {
		t.Errorf("the report says\n%s", text)
	}
}
