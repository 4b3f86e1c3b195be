package link

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Users and items are named as such where another task is asked for, and links that are too few
// to be divided are counted.
func TestLinksMisread(t *testing.T) {
	data, few := tasktest.Shop(t), filepath.Join(t.TempDir(), "few.csv")
	if err := os.WriteFile(few, []byte("user,item\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"use --task link to learn recommendations":       {"train", "--task", "node", "--dataset", data},
		"its 1 links are too few":                        {"train", "--task", "link", "--dataset", few},
		"is users and items, and an .npz file holds one": {"data", "convert", data, "-o", filepath.Join(filepath.Dir(few), "x.npz")},
	} {
		if _, errOut, status := tasktest.Gatbench(t, args...); status == cli.Succeeded || !strings.Contains(errOut, want) {
			t.Errorf("%v: %s, want %q", args, errOut, want)
		}
	}
}

// TestLightGCN learns who takes what from a table of users and items, and links without
// features. A saved model is as good as it was, and recommends what is new to a user.
func TestLightGCN(t *testing.T) {
	data, model := tasktest.Shop(t), filepath.Join(t.TempDir(), "shop.safetensors")
	out, errOut, status := tasktest.Gatbench(t, "train", "--task", "link", "--dataset", data, "--hidden", "16", "--epochs", "20", "--batch", "128", "--save", model, "--json")
	if status != cli.Succeeded {
		t.Fatal(errOut)
	}
	var s, again linkSummary
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatal(err)
	}
	if s.Model != modelLightGCN || s.TestAUC < 0.75 || s.Recall < 0.5 || s.NDCG <= 0 || s.NDCG >= s.Recall {
		t.Errorf("%+v", s)
	}
	if out, errOut, status = tasktest.Gatbench(t, "eval", model, "--json"); status != cli.Succeeded {
		t.Fatal(errOut)
	}
	if err := json.Unmarshal([]byte(out), &again); err != nil || again.linkQuality != s.linkQuality || again.TestAUC != s.TestAUC {
		t.Errorf("eval says %+v of what was %+v (%v)", again, s, err)
	}
	if out, errOut, _ = tasktest.Gatbench(t, "predict", model, "--nodes", "u5", "--top", "3"); strings.Count(out, "\nu5,") != 3 || strings.Contains(out, "train") {
		t.Errorf("recommendations: %s%s", out, errOut)
	}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		if cells := strings.Split(line, ","); strings.HasPrefix(cells[1], "u") {
			t.Errorf("%q recommends no item", line)
		}
	}
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if _, errOut, status = tasktest.Gatbench(t, "predict", model, "--embeddings", rows); status != cli.Succeeded || errOut != "" {
		t.Errorf("embeddings: %s", errOut)
	}
	if text, err := os.ReadFile(rows); err != nil || strings.Count(string(text), "\nu") != 60 || !strings.Contains(string(text), "\nu5,") {
		t.Errorf("the embeddings are %.300s (%v), want a row of each of 60 users, and of items", text, err)
	}
	pairs := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(pairs, []byte("user,item\nu5,99\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errOut, _ = tasktest.Gatbench(t, "predict", model, "--pairs", pairs); !strings.Contains(errOut, "no item") {
		t.Errorf("an item that is not there: %s", errOut)
	}
	if out, errOut, _ = tasktest.Gatbench(t, "train", "--task", "link", "--model", "lightgcn", "--dataset", "karate", "--epochs", "1", "--layers", "2"); !strings.Contains(out, "LightGCN, rows of 64, 2 propagations; 34 nodes") {
		t.Errorf("karate: %s%s", out, errOut)
	}
	for want, args := range map[string][]string{
		"no features":    {"--model", "gae", "--dataset", data},
		"row of each":    {"--features", "rows", "--dataset", data},
		"--layers 65":    {"--layers", "65", "--model", "lightgcn"},
		"--batch -1":     {"--batch=-1", "--model", "lightgcn"},
		"two layers":     {"--layers", "3"},
		"all links: lea": {"--batch", "5"},
	} {
		if _, errOut, status := tasktest.Gatbench(t, append([]string{"train", "--task", "link"}, args...)...); status == cli.Succeeded || !strings.Contains(strings.Join(strings.Fields(errOut), " "), want) {
			t.Errorf("%v: %s, want %q", args, errOut, want)
		}
	}
}
