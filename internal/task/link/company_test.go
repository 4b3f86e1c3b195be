package link

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// What is said of a link in data that was not trained on depends on no division of its links, and on no order of its rows.
func TestLinksInAnyOrder(t *testing.T) {
	tasktest.Nowhere(t)
	const shop = "../../../datasets/testdata/shop_"
	dir, model, pairs := t.TempDir(), filepath.Join(t.TempDir(), "m.safetensors"), filepath.Join(t.TempDir(), "pairs.csv")
	tasktest.OK(t, "train", "--task", "link", "--dataset", shop+"edges.csv", "--column", "email=none", "--epochs", "2", "--save", model)
	if err := os.WriteFile(pairs, []byte("c001,c226\nc092,c162\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var said []string
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, name := range []string{"nodes.csv", "edges.csv"} {
			text, err := os.ReadFile(shop + name)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			rng.Shuffle(len(lines)-1, func(i, j int) { lines[1+i], lines[1+j] = lines[1+j], lines[1+i] })
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		said = append(said, tasktest.OK(t, "predict", model, "--dataset", dir, "--pairs", pairs))
	}
	if said[0] != said[1] || !strings.Contains(said[0], ",there\n") {
		t.Errorf("rows in two orders:\n%s\n%s", said[0], said[1])
	}
}
