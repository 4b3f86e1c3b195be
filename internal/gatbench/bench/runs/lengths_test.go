package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// Lengths are drawn, and nothing else that is timed name by name.
func TestLengthsAreDrawn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lengths.svg")
	all := []bench.Benchmark{{Name: "length/short/8x4", Op: "length/short", Lanes: 1, Params: map[string]any{"t": 8, "threads": 1}, Prepare: func() bench.Work { return bench.Work{Call: func() {}} }}}
	out, err := benched(t, Settings{Names: []string{"length"}, All: all, Picture: path, Budget: bench.Budget{WarmUps: 1, AtLeast: 3, AtMost: 3}})
	if err != nil || !strings.Contains(out, "picture in "+path) {
		t.Fatalf("%v\n%s", err, out)
	}
	if drawn, err := os.ReadFile(path); err != nil || !strings.Contains(string(drawn), "<svg") {
		t.Errorf("the picture is %.40s: %v", drawn, err)
	}
	if _, err := benched(t, Settings{Names: []string{"lengthy"}, Picture: path}); err == nil {
		t.Error("another name is drawn")
	}
}
