package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/demo"
	"github.com/edgewise-ml/edgewise/datasets/text"
)

// Every demo is listed, with what it needs.
func TestDemoList(t *testing.T) {
	out := ok(t, "demo")
	for _, d := range demo.All() {
		if !strings.Contains(out, d.Name+" ") || !strings.Contains(out, d.About) {
			t.Errorf("%s is not listed:\n%s", d.Name, out)
		}
	}
	if lines := results(t, "demo", "--json"); len(lines) != len(demo.All()) || lines[0]["demo"] != demo.All()[0].Name {
		t.Errorf("for machines it lists %v", lines)
	}
}

// Every demo trains a little, says what came of it, and leaves its picture and its model;
// another run says the same, on one thread too.
func TestDemos(t *testing.T) {
	fewTexts = 100
	defer func() { fewTexts = 0 }()
	guide := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(guide, []byte(strings.Repeat("a few words, again and again\n", 130)), 0o600); err != nil {
		t.Fatal(err)
	}
	quick := map[string]string{"names": "1", "antonyms": "60", "beer": "40", "stretch": "1", "sine": "1", "language": "3", "questions": "1", "tagging": "1", "sentiment": "1", "hopfield": "1", "sort": "1"}
	for _, d := range demo.All() {
		t.Run(d.Name, func(t *testing.T) {
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
			lines := results(t, append(args, "--picture", picture, "--save", model)...)
			last := lines[len(lines)-2]
			if last["event"] != "result" || last["demo"] != d.Name || lines[len(lines)-1]["event"] != "end" || len(last) < 4 {
				t.Errorf("the result is %v", last)
			}
			for _, f := range []string{picture, model} {
				if info, err := os.Stat(f); err != nil || info.Size() < 500 {
					t.Errorf("%s: %v", filepath.Base(f), err)
				}
			}
			if isQuick && slices.Contains([]string{"names", "sine", "sentiment", "beer", "sort", "hopfield"}, d.Name) {
				again := results(t, append(args, "--threads", "1")...)
				for i := range again[:len(again)-1] {
					same(t, lines[i], again[i])
				}
			}
		})
	}
}

// What people read of the demos that read datasets: how good it is, and some of the texts
// with what was found.
func TestDemoWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second")
	}
	fewTexts = 100
	defer func() { fewTexts = 0 }()
	data := os.Getenv("EDGEWISE_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "datasets")
	}
	for name, want := range map[string][]string{
		"questions": {"test accuracy", "How far is it from Denver to Aspen ?", "taken for (across)"},
		"tagging":   {"F1 of the phrases", "noun phrases", "Rockwell"},
		"sentiment": {"of five kinds", "├─ ", "└─ "},
		"translate": {"BLEU = ", "perplexity of a word", "read →", "of the attention to the test captions"},
		"multi30k":  {"BLEU = ", "perplexity of a word", "epoch 1"},
	} {
		d, _ := demo.Find(name)
		if _, err := text.Find(data, d.Data); err != nil {
			t.Logf("the dataset %s is not there: set EDGEWISE_DATA to the folder that has it", d.Data)
			continue
		}
		out := ok(t, "demo", name, "--epochs", "1", "--data", data)
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
		`did you mean "adding"`:  {"demo", "ading"},
		"--text is for the demo": {"demo", "sine", "--text", "x"},
		"it must end in .svg":    {"demo", "sine", "--picture", "x.pdf"},
		"--epochs -1":            {"demo", "sine", "--epochs=-1"},
		"--threads -1":           {"demo", "sine", "--threads=-1"},
		"are for the demo hop":   {"demo", "sine", "--capacity"},
		"a share from 0 to 0.5":  {"demo", "hopfield", "--noise", "0.7"},
		"there is no folder":     {"demo", "sine", "--save", "no/such/folder/x"},
		"--text":                 {"demo", "language", "--text", os.DevNull},
		"it takes":               {"demo", "language", "--text", small},
	} {
		_, stderr, status := gatbench(t, args...)
		if status == succeeded || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}
