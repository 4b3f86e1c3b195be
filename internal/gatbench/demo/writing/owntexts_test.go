package writing

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// written writes a file and returns its path.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runs shows a demo with the flags of an act, for an epoch, and returns what it prints.
func runs(t *testing.T, d stage.Demo, act stage.Act) (string, stage.Numbers, error) {
	t.Helper()
	var out strings.Builder
	s := &stage.Stage{Ctx: t.Context(), Out: report.NewPrinter(&out), Progress: report.NewProgress(io.Discard), Epochs: 1, Data: t.TempDir()}
	d.Act = act
	err := s.Show(d)
	return out.String(), s.Numbers(), err
}

const ownPairs = "der Grillenfänger\tthe cricketcatcher\r\n\nein Grashalm wächst\ta blade of grass grows\n"

// Both demos learn from files of one's own, and print their words.
func TestOwnTexts(t *testing.T) {
	pairs, learnt := written(t, "p.tsv", ownPairs), written(t, "l.txt", strings.Repeat("zwölf Boxkämpfer\n", 120))
	tried := written(t, "t.txt", "zwölf Boxer\n")
	for name, c := range map[string]struct {
		demo stage.Demo
		act  stage.Act
		says []string
	}{
		"translate": {Translate, translate{Train: pairs, Test: pairs}, []string{"grillenfänger", "source words", "2 texts of 5 words or fewer"}},
		"language":  {Language, language{Train: learnt, Test: tried}, []string{learnt, "11 characters of " + tried}},
	} {
		out, numbers, err := runs(t, c.demo, c.act)
		if err != nil || len(numbers) == 0 {
			t.Errorf("%s: %v, %v", name, err, numbers)
		}
		said := strings.Join(strings.Fields(out), " ")
		for _, w := range c.says {
			if !strings.Contains(said, w) {
				t.Errorf("%s does not say %q: %s", name, w, out)
			}
		}
	}
}

// What cannot be read is an error that names the file and, where there is one, the line.
func TestOwnTextsRefused(t *testing.T) {
	pairs, long := written(t, "p.tsv", ownPairs), written(t, "l.txt", strings.Repeat("zwölf Boxkämpfer\n", 120))
	for bad, want := range map[string]string{
		"":                        "there is nothing in it",
		"\n":                      "there is nothing in it",
		"ein Halm\ta blade\neins": "line 2: \"eins\" has 0 tabs: write a text, one tab and what it becomes",
		"a\tb\tc\n":               "line 1: \"a\\tb\\tc\" has 2 tabs",
		"a\t \n":                  "line 1: \"a\\t \" has no words on one side",
		"\nein Halm\t\xff\n":      "line 2",
		"x\t" + strings.Repeat("sehr ", 501) + "": "line 1: it has 501 words",
	} {
		path := written(t, "bad.tsv", bad)
		for _, act := range []translate{{Train: path, Test: pairs}, {Train: pairs, Test: path}} {
			if _, _, err := runs(t, Translate, act); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: the error is %v, want %q", bad, err, want)
			}
		}
	}
	short, bytes := written(t, "short.txt", "x"), written(t, "bytes.txt", "ab\n\xff")
	for want, act := range map[string]language{
		short + " has 1 characters; it takes 1632":      {Train: short, Test: long},
		"--test " + short + ": it takes two characters": {Train: long, Test: short},
		bytes + ": line 2":                              {Train: long, Test: bytes},
		bytes + ": line 2, byte 1":                      {Train: bytes, Test: long},
		short + " has 1 characters; it takes 1718":      {Text: short},
	} {
		if _, _, err := runs(t, Language, act); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for want, act := range map[string]stage.Checker{
		"--train and --test go together": translate{Train: pairs},
		"and one to try":                 language{Test: long},
		"--text and --train name":        language{Text: long, Train: long, Test: long},
	} {
		if err := act.Check(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
