package lanes_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/lanes"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// look shows what the threads do in a layer. It is quoted in docs/inside/threads.md; TestThreadsPage compares.
func look(w io.Writer, picture string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	g := random.Uniform(rng, 2000, 20000)
	layer := &layers.GATConv{In: 64, Out: 16, Heads: 4} // yours
	layer.Init(rng)
	x := tensor.New(2000, 64)
	x.Uniform(rng, -1, 1)
	t := grad.NewTape(1)
	step := func() {
		t.Reset()
		t.Backward(layer.Forward(t, g, grad.Const(x)).Sum())
	}
	step() // makes the memory that later steps use again

	r := lanes.Median(9, step, 4, 16)
	r.Name = "my layer"
	if err := r.WriteTable(w, 16, lanes.Measure()); err != nil {
		return err
	}
	f, err := os.Create(picture)
	if err != nil {
		return err
	}
	defer f.Close()
	return lanes.Draw(f, "svg", []*lanes.Record{r}, lanes.Measure(), 4, 16)
}

func TestLook(t *testing.T) {
	var table bytes.Buffer
	picture := filepath.Join(t.TempDir(), "lanes.svg")
	if err := look(&table, picture); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(picture)
	if err != nil || !strings.Contains(string(text), ">my layer<") || !strings.Contains(string(text), ">16 threads, predicted: ") {
		t.Errorf("%v, the picture has %d bytes", err, len(text))
	}
	for _, want := range []string{"my layer, recorded on ", "fused.gatForward", " from rules."} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

// What docs/inside/threads.md quotes is what stands here.
func TestThreadsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/inside/threads.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 1 || !strings.Contains(string(code), "\n"+blocks[0][1]) {
		t.Errorf("the page has %d blocks of code, the first of which must stand in example_test.go", len(blocks))
	}
}
