package link

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/fact"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// A saved model of links is as good as it was, and scores pairs and the likeliest new links.
func TestSavedLinks(t *testing.T) {
	for _, model := range []string{modelGAE, "vgae"} {
		file := filepath.Join(t.TempDir(), "links.safetensors")
		lines := tasktest.Results(t, "train", "--task", "link", "--model", model, "--dataset", "karate", "--json", "--epochs", "6", "--hidden", "4", "--seed", "3", "--save", file)
		s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		for _, key := range []string{"model", "dataset", "val_auc", "test_auc", "test_average_precision", "test_mrr", "test_hits_at_1", "test_hits_at_3", "test_hits_at_10"} {
			if s[key] != e[key] {
				t.Errorf("%s: %s was %v and is %v", model, key, s[key], e[key])
			}
		}
		if text := tasktest.OK(t, "eval", file); !strings.Contains(text, "graph autoencoder on Karate\n") || !strings.Contains(text, "\ntest ") {
			t.Errorf("eval prints\n%s", text)
		}
		likeliestLinks(t, file)
	}
}

// likeliestLinks checks what predict says of the links of a node of the karate club.
func likeliestLinks(t *testing.T, file string) {
	t.Helper()
	d := datasets.Karate()
	linked := map[float64]bool{}
	for _, u := range d.Graph.Sources(3) {
		linked[float64(u)] = true
	}
	of := func(args ...string) (targets, scores []float64) {
		for _, line := range tasktest.Results(t, append([]string{"predict", "--json", file, "--nodes", "3"}, args...)...) {
			v, err := strconv.ParseFloat(line["target"].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			targets, scores = append(targets, v), append(scores, line["score"].(float64))
			if line["event"] != "predict" || line["source"] != "3" || (line["known"] != "") != linked[v] {
				t.Errorf("the line %v, and the nodes linked to 3 are %v", line, linked)
			}
		}
		if !slices.IsSortedFunc(scores, func(a, b float64) int { return int(b - a) }) {
			t.Errorf("scores %v do not fall", scores)
		}
		return targets, scores
	}
	all, scores := of("--known", "--top", "100")
	fresh, _ := of()
	if want := slices.DeleteFunc(slices.Clone(all), func(v float64) bool { return linked[v] })[:10]; len(all) != 33 || !slices.Equal(fresh, want) {
		t.Errorf("%d links, and the likeliest new ones %v, want %v", len(all), fresh, want)
	}
	pairs := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(pairs, []byte("source\ttarget\n3\t"+asText(all[4])+"\n"+asText(all[0])+"\t3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if lines := tasktest.Results(t, "predict", "--json", file, "--pairs", pairs); len(lines) != 2 || lines[0]["score"] != scores[4] || lines[1]["score"] != scores[0] {
		t.Errorf("pairs %v, want the scores %v and %v", lines, scores[4], scores[0])
	}
	out := filepath.Join(t.TempDir(), "links.csv")
	tasktest.OK(t, "predict", file, "--pairs", pairs, "--out", out)
	if text, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(text), "source,target,score,probability,known\n3,"+asText(all[4])+",") {
		t.Errorf("%s, %v", text, err)
	}
}

func asText(v float64) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// Nodes with names are called by them.
func TestPairsOfNamedNodes(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("source,target\n")
	for i := range 12 {
		for _, j := range []int{1, 2, 3} {
			b.WriteString("n" + string(rune('a'+i)) + ",n" + string(rune('a'+(i+j)%12)) + "\n")
		}
	}
	table, file, pairs := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "pairs.csv")
	for path, text := range map[string]string{table: b.String(), pairs: "na,nb\nnc,ni\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tasktest.OK(t, "train", "--task", "link", "--dataset", table, "--epochs", "2", "--hidden", "4", "--save", file)
	lines := tasktest.Results(t, "predict", file, "--json", "--pairs", pairs)
	if len(lines) != 2 || lines[0]["source"] != "na" || lines[0]["target"] != "nb" || lines[0]["known"] == "" || lines[1]["target"] != "ni" || lines[1]["known"] != "" {
		t.Errorf("%v", lines)
	}
	if err := os.WriteFile(pairs, []byte("na,nb\nna,nz\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := tasktest.Gatbench(t, "predict", file, "--pairs", pairs); status != cli.Failed || !strings.Contains(stderr, `pairs.csv: line 2: there is no node "nz"; is it "n`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestSavedLinksMisuse(t *testing.T) {
	dir := t.TempDir()
	file, pairs := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "p.csv")
	tasktest.OK(t, "train", "--task", "link", "--dataset", "karate", "--epochs", "1", "--hidden", "4", "--save", file)
	for head, want := range map[string]string{ // a first line that names the columns, or perhaps does
		"Source,Target": "", "node_1,node_2": "", "ID 1,ID 2": "", "user_id,item_id": "",
		"giver,taker": `p.csv: line 1: there is no node "giver": they are numbered from 0 to 33; if this line names the columns, call them source and target`,
	} {
		if err := os.WriteFile(pairs, []byte(head+"\n3,4\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, status := tasktest.Gatbench(t, "predict", file, "--pairs", pairs)
		if (status == cli.Succeeded) != (want == "") || !strings.Contains(stderr, want) || want == "" && strings.Count(stdout, "\n") != 2 {
			t.Errorf("%s: status %d, %s, %s, want %s", head, status, stdout, stderr, want)
		}
	}
	if err := os.WriteFile(pairs, []byte("3,4\n5,34\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"predict M":                           "is a model of links: name pairs to score with --pairs FILE, or nodes",
		"predict M --nodes 3 --pairs P":       "--pairs and --nodes: --pairs names pairs and --nodes asks for new ones",
		"predict M --nodes 34":                `--nodes: there is no node "34": they are numbered from 0 to 33`,
		"predict M --nodes 3 --top 0":         "--top 0: it must be at least 1",
		"predict M --pairs P":                 `p.csv: line 2: there is no node "34": they are numbered from 0 to 33`,
		"predict M --pairs P --out P":         "--out " + pairs + ": it would be written over the file that --pairs reads",
		"predict M --pairs nothing.csv":       "nothing.csv",
		"predict M --nodes 3 --query a,b,?":   "--query: it is for models of facts",
		"predict M --nodes 3 --splits random": "--splits: links are divided by the seed of the training",
		"eval M --dataset cora":               "(trained on Karate), used on Cora: nodes have 1433 features, and the model was made for 34: use data whose columns are those of its training",
		"eval M --split-number 1":             "--split-number: links are divided by the seed",
		"explain M --node 3":                  "is a model of links, and explain needs a model of nodes",
		"predict nothing.safetensors --top 3": "nothing.safetensors: there is no such file; gatbench train DATA --save FILE writes a model",
		"eval M --dataset nothing/at/all.csv": "nothing/at/all.csv",
	} {
		words := strings.Fields(args)
		for i, w := range words {
			switch w {
			case "M":
				words[i] = file
			case "P":
				words[i] = pairs
			}
		}
		if _, stderr, status := tasktest.Gatbench(t, words...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
}

// What a file says of a model of links or of facts that cannot be is an error, before memory
// is taken for it.
func TestHostileLinkModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	gae, facts := Kipf(), fact.RotatE("rotate")
	gae.Features = task.FormRaw
	wide := gae
	wide.Hidden = 1 << 17
	none := gae
	none.Test = 0
	odd := facts
	odd.Hidden = 3
	for _, c := range []struct {
		model any
		want  string
	}{
		{&Autoencoder{Task: task.Link, Recipe: gae, In: 1 << 23}, "numbers, more than its"},
		{&Autoencoder{Task: task.Link, Recipe: gae}, "0 features"},
		{&Autoencoder{Task: task.Link, Recipe: wide, In: 3}, "--hidden 131072"},
		{&Autoencoder{Task: task.Link, Recipe: none, In: 3}, "shares 0.05 and 0 of the links"},
		{&fact.Network{Task: task.Facts, Recipe: facts, Count: 1 << 27, Relations: 3}, "numbers, more than its"},
		{&fact.Network{Task: task.Facts, Recipe: facts, Count: 1 << 30, Relations: 3}, "1073741824 entities"},
		{&fact.Network{Task: task.Facts, Recipe: odd, Count: 3, Relations: 3}, "--hidden 3"},
	} {
		if err := os.WriteFile(path, tasktest.ModelOf(c.model), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, stderr, status := tasktest.Gatbench(t, "train", "--resume", path); status == cli.Succeeded || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, path) {
			t.Errorf("%+v: status %d, %s, want %s", c.model, status, stderr, c.want)
		}
	}
}
