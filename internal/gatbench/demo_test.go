package gatbench

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Every demo is listed, with what it needs.
func TestDemoList(t *testing.T) {
	out := tasktest.OK(t, "demo")
	for _, d := range demo.All() {
		if !strings.Contains(out, d.Name+" ") || !strings.Contains(out, d.About) {
			t.Errorf("%s is not listed:\n%s", d.Name, out)
		}
	}
	if lines := tasktest.Results(t, "demo", "--json"); len(lines) != len(demo.All()) || lines[0]["demo"] != demo.All()[0].Name {
		t.Errorf("for machines it lists %v", lines)
	}
}

// Every demo trains a little, says what came of it, and leaves its picture and its model;
// another run says the same, on one thread too.
func TestDemos(t *testing.T) {
	demo.Few = 25
	defer func() { demo.Few = 0 }()
	guide := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(guide, []byte(strings.Repeat("a few words, again and again\n", 130)), 0o600); err != nil {
		t.Fatal(err)
	}
	againToo := []string{"sine", "sort", "hopfield"} // of as many kinds: the first of few threads does what all do
	if sparing.Full() {
		againToo = append(againToo, "names", "sentiment", "beer")
	}
	dear := []string{"copy", "reverse", "associative-recall", "stack", "sentiment"} // each a third of a second or more, and others do the same with less
	quick := map[string]string{"names": "1", "antonyms": "60", "beer": "40", "stretch": "1", "sine": "1", "language": "3", "questions": "1", "tagging": "1", "sentiment": "1", "hopfield": "1", "sort": "1"}
	for _, d := range demo.All() {
		t.Run(d.Name, func(t *testing.T) {
			if _, read := demoWords[d.Name]; read && !sparing.Full() {
				t.Skip("TestDemoWords runs it: set EDGEWISE_FULL=1")
			}
			if slices.Contains(dear, d.Name) && !sparing.Full() {
				t.Skip("one of the dearest: set EDGEWISE_FULL=1")
			}
			epochs, isQuick := quick[d.Name]
			if !isQuick {
				if epochs = "1"; testing.Short() {
					t.Skip("it takes a second")
				}
			}
			args := []string{"demo", d.Name, "--epochs", epochs, "--seed", "3", "--json"}
			if d.Name == "language" {
				args = append(args, "--text", guide)
			}
			if d.Data != "" {
				data := os.Getenv("EDGEWISE_DATA")
				if data == "" {
					data = filepath.Join("..", "..", "..", "shared", "datasets")
				}
				if _, err := text.Find(data, d.Data); err != nil {
					t.Skipf("the dataset %s is not there: %v; set EDGEWISE_DATA to the folder that has it", d.Data, err)
				}
				args = append(args, "--data", data)
			}
			dir := t.TempDir()
			picture, model := filepath.Join(dir, "p.svg"), filepath.Join(dir, "m.safetensors")
			lines := tasktest.Results(t, append(args, "--picture", picture, "--save", model)...)
			last := lines[len(lines)-2]
			if last["event"] != "result" || last["demo"] != d.Name || lines[len(lines)-1]["event"] != "end" || len(last) < 4 {
				t.Errorf("the result is %v", last)
			}
			left(t, picture, model)
			if isQuick && slices.Contains(againToo, d.Name) {
				again := tasktest.Results(t, append(args, "--threads", "2")...)
				for i := range again[:len(again)-1] {
					same(t, lines[i], again[i])
				}
			}
		})
	}
}

// --cell and --target choose other networks than the demo's own, and what is saved says which.
func TestDemoChoices(t *testing.T) {
	demo.Few = 100
	defer func() { demo.Few = 0 }()
	data := os.Getenv("EDGEWISE_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	for name, c := range map[string]struct {
		args  []string
		saved []string // of its names of Params, or in its description
	}{
		"names":   {[]string{"--cell", "bilstm"}, []string{"Read.Back.0.U"}},
		"tagging": {[]string{"--target", "pos", "--cell", "lstm"}, []string{"Shapes"}},
	} {
		d, _ := demo.Find(name)
		if _, err := text.Find(data, d.Data); err != nil {
			t.Logf("the dataset %s is not there: set EDGEWISE_DATA to the folder that has it", d.Data)
			continue
		}
		model := filepath.Join(t.TempDir(), "m.safetensors")
		lines := tasktest.Results(t, append([]string{"demo", name, "--epochs", "1", "--data", data, "--json", "--save", model}, c.args...)...)
		last := lines[len(lines)-2]
		if acc, _ := last["test_accuracy"].(float64); last["cell"] != c.args[len(c.args)-1] || !(acc > 0.1 && acc < 1) {
			t.Errorf("%s %v: the result is %v", name, c.args, last)
		}
		raw, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.saved {
			if !strings.Contains(string(raw), w) {
				t.Errorf("%s %v: no %s in what was saved", name, c.args, w)
			}
		}
		for _, w := range []string{`"CRF.`, `"POS"`} { // neither is of a network that finds parts of speech
			if strings.Contains(string(raw), w) {
				t.Errorf("%s %v: %s in what was saved", name, c.args, w)
			}
		}
	}
}

// The options that make a demo show something else train a little, say it, and leave a picture and a
// model. On two threads it is the same.
func TestDemoOptions(t *testing.T) {
	demo.Few = 25
	defer func() { demo.Few = 0 }()
	data := os.Getenv("EDGEWISE_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	for line, member := range map[string]string{
		"recall --cell residual": "by_length", "recall --cell full-peephole": "gamma", "recall --explode": "explode",
		"antonyms --cell rnn": "rnn", "beer --blind": "greedy", "han --chain": "chosen", "luong --score scaled": "test_bleu",
		"selfatt --window 3 --positions halves": "test_accuracy", "selfatt --mask": "apart", "lookup --threads 1": "dropped",
	} {
		words := strings.Fields(line)
		args := append([]string{"demo"}, append(words, "--epochs", "1", "--json", "--seed", "2")...)
		if d, _ := demo.Find(words[0]); d.Data != "" && words[1] != "--mask" {
			if _, err := text.Find(data, d.Data); err != nil {
				t.Logf("the dataset %s is not there: set EDGEWISE_DATA to the folder that has it", d.Data)
				continue
			}
			args = append(args, "--data", data)
		}
		dir := t.TempDir()
		picture, model := filepath.Join(dir, "p.svg"), filepath.Join(dir, "m.safetensors")
		lines := tasktest.Results(t, append(args, "--picture", picture, "--save", model)...)
		left(t, picture, model)
		if last := lines[len(lines)-2]; last["event"] != "result" || last[member] == nil {
			t.Errorf("%s: the result is %v, want %s in it", line, last, member)
		}
		if !strings.Contains(line, "--explode") && !sparing.Full() {
			continue // the others are of the same parts
		}
		again := tasktest.Results(t, append(args, "--threads", "2")...)
		for i := range again[:len(again)-1] {
			same(t, lines[i], again[i])
		}
	}
}

// Data that is empty, or of another kind than the demo can learn from, is refused with what
// is wrong, and not with a panic.
func TestDemoBadData(t *testing.T) {
	tree, three := "(3 (2 a) (4 b))\n", "(3 (2 a) (2 c) (4 b))\n"
	folders := map[string]map[string]string{
		"names":     {"Dwarvish.txt": "Gimli\nBalin\n"},
		"tagging":   {"train.txt": "The DT B-NP\n", "test.txt": ""},
		"questions": {"train.txt": "", "test.txt": "NUM:count How many ?\n"},
		"sentiment": {"train.txt": tree + three, "dev.txt": tree, "test.txt": tree},
		"multi30k":  {"train.de": "", "train.en": "", "val.de": "", "val.en": "", "test_2016_flickr.de": "a", "test_2016_flickr.en": "b"},
		"han":       {"qa1_a_train.txt": "", "qa1_a_test.txt": ""},
	}
	for name, want := range map[string]string{
		"names": "2 names of 1 kinds, a kind a file; it takes ten names, and two kinds", "tagging": "1 texts to learn and 0 to try",
		"questions": "0 texts to learn and 1 to try", "sentiment": "tree 2, (3 (2 a) (2 c) (4 b)): node 0 has three children",
		"multi30k": "0 texts to learn and 1 to try", "han": "0 texts to learn and 0 to try; it takes some of each",
	} {
		d, _ := demo.Find(name)
		data := t.TempDir()
		folder := filepath.Join(data, d.Data)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range folders[name] {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, stderr, status := tasktest.Gatbench(t, "demo", name, "--data", data)
		if status != cli.Failed || !strings.Contains(stderr, want) || !strings.Contains(stderr, folder) {
			t.Errorf("%s: status %d, %q, want %q and the folder", name, status, stderr, want)
		}
	}
}

// left fails unless a demo has left a picture and a model.
func left(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() < 400 {
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
}

// demoWords are some of the words of the demos that read datasets.
var demoWords = map[string][]string{
	"questions": {"test accuracy", "How far is it from Denver to Aspen ?", "taken for (across)"},
	"tagging":   {"F1 of the phrases", "noun phrases", "Rockwell"},
	"sentiment": {"of five kinds", "├─ ", "└─ "},
	"translate": {"BLEU = ", "perplexity of a word", "read →", "of the attention to the test captions"},
	"multi30k":  {"BLEU = ", "perplexity of a word", "epoch 1"},
}

// What people read of the demos that read datasets: how good it is, and some of the texts
// with what was found. They leave their picture and their model.
func TestDemoWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second")
	}
	demo.Few = 25
	defer func() { demo.Few = 0 }()
	data := os.Getenv("EDGEWISE_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	for name, want := range demoWords {
		d, _ := demo.Find(name)
		if _, err := text.Find(data, d.Data); err != nil {
			t.Logf("the dataset %s is not there: set EDGEWISE_DATA to the folder that has it", d.Data)
			continue
		}
		dir := t.TempDir()
		picture, model := filepath.Join(dir, "p.svg"), filepath.Join(dir, "m.safetensors")
		out := tasktest.OK(t, "demo", name, "--epochs", "1", "--data", data, "--picture", picture, "--save", model)
		left(t, picture, model)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s does not say %q:\n%s", name, w, out)
			}
		}
		for line := range strings.Lines(out) {
			if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
				t.Errorf("%s prints blanks at the end of %q", name, line)
			}
		}
	}
}

// --plot shows each panel of the picture once, and the last line is a command that the program takes.
func TestDemoPlot(t *testing.T) {
	out := tasktest.OK(t, "demo", "beer", "--epochs", "2", "--plot")
	if strings.Count(out, "where each word looks") != 1 || strings.Count(out, "loss\n") != 1 || !strings.Contains(out, "epoch\n") {
		t.Errorf("the panels are not there once each:\n%s", out)
	}
	for _, args := range [][]string{{"beer", "--epochs", "2"}, {"hopfield", "--noise", "0.3", "--seeds", "2"}} {
		lines := strings.Split(strings.TrimSpace(tasktest.OK(t, append([]string{"demo"}, args...)...)), "\n")
		next, found := strings.CutPrefix(lines[len(lines)-1], "next: gatbench ")
		if !found {
			t.Errorf("%q ends with %q", args, lines[len(lines)-1])
		}
		if err := taken(strings.Fields(next), nil); err != nil {
			t.Errorf("%q advises %q: %v", args, next, err)
		}
	}
}

// same reports where two lines differ.
func same(t *testing.T, a, b map[string]any) {
	t.Helper()
	for name, v := range a {
		if w := b[name]; !reflect.DeepEqual(v, w) {
			t.Errorf("%s: %v, and in another run %v", name, v, w)
		}
	}
}

// What cannot be is refused before any work is done.
func TestDemoMisuse(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small")
	if err := os.WriteFile(small, []byte("few"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`did you mean "adding"`:                      {"demo", "ading"},
		"--text is for the demo":                     {"demo", "sine", "--text", "x"},
		"it must end in .svg":                        {"demo", "sine", "--picture", "x.pdf"},
		`must be one of "gru","rnn","lstm","bilstm"`: {"demo", "names", "--cell", "ltsm"},
		"--cell is for the demos names, tagging, recall and antonyms, not for sine": {"demo", "sine", "--cell", "lstm"},
		`must be one of "chunks","pos"`:                                             {"demo", "tagging", "--target", "tags"},
		"--noise is for the demo hopfield: name the demo, too":                      {"demo", "--noise", "0.3"},
		"there is no demo \"ading\"":                                                {"demo", "ading", "--noise", "0.3"},
		"demo sine --help lists":                                                    {"demo", "sine", "--nothing"},
		"--plot is for people":                                                      {"demo", "sine", "--plot", "--json"},
		"the demo salesman reads no dataset":                                        {"demo", "salesman", "--data", "x"},
		"with --train the demo reads your files":                                    {"demo", "names", "--train", small, "--test", small, "--data", "x"},
		"--epochs -1":                                                               {"demo", "sine", "--epochs=-1"},
		"--threads -1":                                                              {"demo", "sine", "--threads=-1"},
		"--capacity is for the demo hopfield, not for sine":                         {"demo", "sine", "--capacity"},
		"a share from 0 to 0.5":                                                     {"demo", "hopfield", "--noise", "0.7"},
		"--explode is of simple RNNs: leave out --cell chrono":                      {"demo", "recall", "--explode", "--cell", "chrono"},
		"--mask is of a graph, which has no places":                                 {"demo", "selfatt", "--mask", "--window", "3"},
		"--window -1: it must be at least 1":                                        {"demo", "selfatt", "--window=-1"},
		"there is no folder":                                                        {"demo", "sine", "--save", "no/such/folder/x"},
		"--text":                                                                    {"demo", "language", "--text", os.DevNull},
		"it takes":                                                                  {"demo", "language", "--text", small},
	} {
		_, stderr, status := tasktest.Gatbench(t, args...)
		if status == cli.Succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}
