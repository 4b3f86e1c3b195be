package stage

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// A picture that cannot be written does not lose the model, and is an error.
func TestModelWithoutPicture(t *testing.T) {
	dir := t.TempDir()
	s := quiet(t)
	s.Picture, s.Save = filepath.Join(dir, "none", "p.svg"), filepath.Join(dir, "m.safetensors")
	err := s.Show(Demo{Name: "test", Act: Func(func(s *Stage) error {
		s.Draw([]picture.Panel{&picture.Chart{}})
		return s.Keep(&struct{ W *grad.Param }{grad.NewParam(1, 2)})
	})})
	if err == nil {
		t.Error("no word of the picture")
	}
	if _, err := os.Stat(s.Save); err != nil {
		t.Errorf("the model is lost: %v", err)
	}
}

// What a demo draws is of its seed, its part and its step alone: neighbouring seeds share nothing,
// and no step draws what another part does.
func TestStreams(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(12) {
		s := &Stage{Seed: seed}
		for _, part := range []string{"weights", "steps", "test", "validation", "order", "dropout"} {
			for step := range uint64(500) {
				what := fmt.Sprintf("seed %d, %s %d", seed, part, step)
				stream := s.Stream(part, step)
				if other, ok := seen[stream]; ok {
					t.Fatalf("%s draws what %s does", what, other)
				}
				seen[stream] = what
			}
		}
	}
}

// No demo makes a seed by sums: of seeds that are neighbours step k of one is step k+1 of another.
func TestSeedsAreHashed(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(raw), "\n") {
			uses := strings.Contains(line, "s.Seed") || strings.Contains(line, "l.Seed")
			if uses && !strings.HasSuffix(f, "_test.go") && !strings.Contains(line, "mix(s.Seed)") && !strings.Contains(line, `values["seed"]`) {
				t.Errorf("%s:%d takes the seed as it is: %s", f, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// quiet is a stage that nobody looks at.
func quiet(t *testing.T) *Stage {
	return &Stage{Ctx: t.Context(), Out: report.NewPrinter(io.Discard), Progress: report.NewProgress(io.Discard)}
}

// Training begins anew, with other draws, until a network costs little enough, or there is none
// left; the best is kept. With --epochs there is one.
func TestBestOf(t *testing.T) {
	for _, c := range []struct {
		costs     []float64
		epochs    int
		net, runs int
		good      bool
		says      string
	}{
		{[]float64{0.1, 9, 9}, 0, 1, 1, true, ""},
		{[]float64{9, 0.1, 9}, 0, 2, 2, true, "has not learnt: the loss on held-out sequences is 9,"},
		{[]float64{9, 7, 8}, 0, 2, 3, false, "number 2"},
		{[]float64{9, 0.1, 9}, 5, 1, 1, false, ""},
		{[]float64{math.NaN(), 7, 0.2}, 0, 3, 3, true, "NaN"},
	} {
		var out strings.Builder
		s := quiet(t)
		s.Out, s.Epochs = report.NewPrinter(&out), c.epochs
		seeds := map[uint64]bool{}
		best, err := BestOf(s, 3, 0.5, func(s *Stage) (Learnt[int], error) {
			seeds[s.Seed] = true
			return Learnt[int]{Net: len(seeds), Cost: c.costs[len(seeds)-1]}, nil
		})
		if err != nil || best.Net != c.net || best.Try != c.net || best.good != c.good || len(seeds) != c.runs {
			t.Errorf("costs %v, --epochs %d: %+v of %d, want network %d of %d", c.costs, c.epochs, best, len(seeds), c.net, c.runs)
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, c.says) || c.says == "" && text != "" {
			t.Errorf("costs %v: it says %q, want %q", c.costs, text, c.says)
		}
	}
}
