package fact

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// A saved model of facts is as good as it was, and answers questions.
func TestSavedFacts(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "facts.safetensors")
	for _, model := range models.FactNames() {
		lines := tasktest.Results(t, "train", "--task", "link", "--dataset", source.Planted, "--model", model, "--json", "--epochs", "3", "--hidden", "8", "--save", file)
		s, e := lines[len(lines)-1], tasktest.Results(t, "eval", "--json", file)[0]
		for _, key := range []string{"model", "dataset", "val_mrr", "test_mrr", "test_hits_at_1", "test_hits_at_3", "test_hits_at_10"} {
			if s[key] != e[key] {
				t.Errorf("%s: %s was %v and is %v", model, key, s[key], e[key])
			}
		}
	}
	if text := tasktest.OK(t, "eval", file); !strings.Contains(text, "RotatE on planted rules\n") || !strings.Contains(text, "\ntest            60  0.") {
		t.Errorf("eval prints\n%s", text)
	}

	all := tasktest.Results(t, "predict", "--json", file, "--query", "7,second,?", "--known", "--top", "1000")
	fresh := tasktest.Results(t, "predict", "--json", file, "--query", "7,second,?", "--top", "3")
	if len(all) != 120 || len(fresh) != 3 || all[0]["rank"] != 1.0 || all[0]["head"] != "7" || all[0]["relation"] != "second" {
		t.Fatalf("%d and %d answers, the first %v", len(all), len(fresh), all[0])
	}
	known, before := 0, math.Inf(1)
	for i, line := range all {
		score := line["score"].(float64)
		if score > before {
			t.Errorf("answer %d has the score %v after %v", i, score, before)
		}
		before = score
		if line["known"] != "" {
			known++
			// of a whole fact, the rank among those that are not known
			whole := tasktest.Results(t, "predict", "--json", file, "--query", "7,second,"+line["tail"].(string))[0]
			if whole["score"] != score || whole["known"] != line["known"] || whole["rank"] != float64(i+1) {
				t.Errorf("%v, and as an answer %v", whole, line)
			}
			head := tasktest.Results(t, "predict", "--json", file, "--known", "--top", "1000", "--query", "?,second,"+line["tail"].(string))
			for _, other := range head {
				if other["head"] == "7" && math.Abs(other["score"].(float64)-score) > 1e-5*math.Abs(score) {
					t.Errorf("asked for the head the fact has the score %v, for the tail %v", other["score"], score)
				}
			}
		}
	}
	if known != 1 {
		t.Errorf("%d answers are known; of a planted relation it is one", known)
	}
}

// Entities and relations are called by their names, from a file of questions, too.
func TestQuestionsByName(t *testing.T) {
	dir := t.TempDir()
	facts, file, questions := filepath.Join(dir, "facts.tsv"), filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "q.tsv")
	text := ""
	for i := range 40 {
		text += "e" + string(rune('a'+i%8)) + "\tlikes " + string(rune('0'+i%2)) + "\te" + string(rune('a'+(i*3+i/8+1)%8)) + "\n"
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(facts, text)
	tasktest.OK(t, "train", "--task", "link", "--dataset", facts, "--model", "distmult", "--epochs", "2", "--hidden", "4", "--save", file)
	write(questions, "head\trelation\ttail\nea\tlikes 0\t?\n?\tlikes 1\teb\n")
	out := tasktest.OK(t, "predict", file, "--queries", questions, "--top", "2")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 5 || lines[0] != "head,relation,tail,rank,score,known" || !strings.HasPrefix(lines[1], `"ea","likes 0",`) || !strings.Contains(lines[4], `,"likes 1","eb",2,`) {
		t.Errorf("%s", out)
	}
	write(filepath.Join(dir, "other.tsv"), text+"ez\tlikes 0\tea\nez\tlikes 1\teb\n")
	write(questions, "ea\tlikes 0\t?\nea\tlikes 0\tex\n")
	for args, want := range map[string]string{
		"predict M":                          "is a model of facts: --query HEAD,RELATION,? or --queries FILE asks it a question",
		"predict M --query ea,b":             "--query ea,b: want HEAD,RELATION,TAIL with ? in place of head or tail",
		"predict M --query ?,b,?":            `there is no relation "b"; is it "likes `,
		"predict M --queries Q":              `q.tsv: line 2: there is no entity "ex"; is it "e`,
		"predict M --queries nothing.tsv":    "nothing.tsv",
		"predict M --query ea,b,? --nodes 3": "--nodes: it is for models of links",
		"predict M --query ea,b,? --top 0":   "--top 0: it must be at least 1",
		"predict M --queries Q --out Q":      "it would be written over the file that --queries reads",
		"eval M --splits random":             "--splits: facts are divided by the seed of the training",
		"eval M --dataset O":                 "is a model of 8 entities and 2 relations",
		"eval M --dataset nothing.tsv":       "nothing.tsv: there is no such file or folder",
	} {
		words := strings.Fields(args)
		for i, w := range words {
			words[i] = map[string]string{"M": file, "Q": questions, "O": filepath.Join(dir, "other.tsv")}[w]
			if words[i] == "" {
				words[i] = w
			}
		}
		if _, stderr, status := tasktest.Gatbench(t, words...); status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", args, status, stderr, want)
		}
	}
	if err := os.Rename(facts, filepath.Join(dir, "gone.tsv")); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := tasktest.Gatbench(t, "eval", file); status != cli.Failed || !strings.Contains(stderr, "say where it is with --dataset") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
