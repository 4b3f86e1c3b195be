package demo

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// A picture that cannot be written does not lose the model, and is an error.
func TestModelWithoutPicture(t *testing.T) {
	dir := t.TempDir()
	s := &Stage{
		Ctx: t.Context(), Out: report.NewPrinter(io.Discard), Progress: report.NewProgress(io.Discard),
		Picture: filepath.Join(dir, "none", "p.svg"), Save: filepath.Join(dir, "m.safetensors"),
	}
	err := s.Show(Demo{Name: "test", Run: func(s *Stage) error {
		if err := s.draw([]picture.Panel{&picture.Chart{}}); err != nil {
			return err
		}
		return s.keep(&struct{ W *grad.Param }{grad.NewParam(1, 2)})
	}})
	if err == nil {
		t.Error("no word of the picture")
	}
	if _, err := os.Stat(s.Save); err != nil {
		t.Errorf("the model is lost: %v", err)
	}
}
