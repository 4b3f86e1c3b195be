package reading

import (
	"fmt"
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

const (
	ownLabelled = "fruit\t\u0301\nfruit\tapple pie\nfruit\tpear tart\nfruit\tplum\ntool\thammer\r\n\ntool\tiron saw\ntool\tapple saw\n"
	ownStories  = "1 Ada went to the quay.\n2 Bob went to the mill.\n3 Where is Ada?\tquay\t1\n4 Ada went to the ford.\r\n5 Where is Ada? \tford\t4\n1 Bob went to the ford.\n2 Where is Bob?\tford\t1\n"
	ownTagged   = "Grubs NNS B-NP\neat VBP B-VP\nold JJ B-NP\nleaves NNS I-NP\n\nOld JJ I-NP\nleaves NNS I-NP\r\nfall VBP I-VP\n. . O\n"
)

// Each demo learns from a file of one's own, and prints its words.
func TestOwnFiles(t *testing.T) {
	labelled, stories, tagged := written(t, "l.tsv", ownLabelled), written(t, "s.txt", ownStories), written(t, "t.txt", ownTagged)
	for name, c := range map[string]struct {
		demo stage.Demo
		act  stage.Act
		says string
	}{
		"names":     {Names, names{Cell: "gru", Train: labelled, Test: labelled}, "fruit"},
		"questions": {Questions, questions{Readout: "mean", Train: labelled, Test: labelled}, "apple"},
		"tagging":   {Tagging, tagging{Cell: "bilstm", Target: "chunks", Train: tagged, Test: tagged}, "leaves"},
		"pos":       {Tagging, tagging{Cell: "lstm", Target: "pos", Train: tagged, Test: tagged}, "leaves"},
		"babi":      {BAbI, babi{Tasks: []int{1, 2}, Train: stories, Test: stories}, "quay"},
		"reading":   {Reading, readingFlags{Net: "bidaf", Train: stories, Test: stories}, "quay"},
		"coattend":  {Reading, readingFlags{Net: "coattention", Train: stories, Test: stories}, "quay"},
	} {
		out, numbers, err := runs(t, c.demo, c.act)
		if err != nil || len(numbers) == 0 || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, %v, it says %s", name, err, numbers, out)
		}
	}
}

// What cannot be read is an error that names the file and the line.
func TestOwnFilesRefused(t *testing.T) {
	labelled, stories, tagged := written(t, "l.tsv", ownLabelled), written(t, "s.txt", ownStories), written(t, "t.txt", ownTagged)
	for i, c := range []struct{ kind, bad, want string }{
		{"labelled", "", "there is nothing in it"},
		{"labelled", "\n\n", "there is nothing in it"},
		{"labelled", "a\tx\na\ty\n", `have the label "a"`},
		{"labelled", "a\tx\nb y\n", "line 2: \"b y\" has no tab"},
		{"labelled", "a\tx\n\tb\n", "line 2: \"\\tb\" has no label"},
		{"labelled", "a\tx\nb\t\r\n", "line 2: "},
		{"labelled", "a\tx\nb\t\xff\n", "line 2"},
		{"stories", "", "there is nothing in it"},
		{"stories", "1 Ada went.\n", "there is nothing in it"},
		{"stories", "1 Ada went.\n3 Where?\tx\t1\n", "line 2: \"3\" is not the number"},
		{"stories", "1 Ada went.\n2 Where?\tx\t7\n", "line 2: the fact \"7\""},
		{"stories", "1 Ada \xff.\n", "line 1"},
		{"stories", "1 Ada went.\n2 ?\tquay\t1\n", "line 2: the question has no words"},
		{"stories", "1 Where?\tquay\t\n", "line 1: no statement stands before"},
		{"tagged", "", "there is nothing in it"},
		{"tagged", "Grubs NNS\n", "line 1: \"Grubs NNS\" has 2 fields"},
		{"tagged", "Grubs NNS B-NP\neat VBP V\n", "line 2: \"V\" is no chunk tag"},
		{"tagged", "\xff NNS O\n", "line 1"},
	} {
		bad := written(t, fmt.Sprintf("bad%d", i), c.bad)
		for part := range 2 {
			if strings.Contains(c.want, "have the label") && part == 1 {
				continue // what is tried may have one label
			}
			pair := func(good string) (a, b string) {
				if part == 0 {
					return bad, good
				}
				return good, bad
			}
			demos := map[string]func() error{}
			with := func(name string, d stage.Demo, act stage.Act) {
				demos[name] = func() error { _, _, err := runs(t, d, act); return err }
			}
			switch c.kind {
			case "labelled":
				a, b := pair(labelled)
				with("names", Names, names{Train: a, Test: b})
				with("questions", Questions, questions{Train: a, Test: b})
			case "stories":
				a, b := pair(stories)
				with("babi", BAbI, babi{Train: a, Test: b})
				with("reading", Reading, readingFlags{Net: "plain", Train: a, Test: b})
			case "tagged":
				a, b := pair(tagged)
				with("tagging", Tagging, tagging{Cell: "lstm", Train: a, Test: b})
			}
			for name, run := range demos {
				if err := run(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("bad%d", i)) {
					t.Errorf("%s, file %d of %q: the error is %v, want %q", name, part, c.bad, err, c.want)
				}
			}
		}
	}
}

// A file alone is refused, and so are tasks beside it and a file that would be written over.
func TestOwnFilesGoTogether(t *testing.T) {
	path := written(t, "s.txt", ownStories)
	for want, act := range map[string]stage.Checker{
		"--train and --test go together": names{Train: path},
		"one file to learn from":         questions{Test: path},
		"leave one of them out":          readingFlags{Train: path, Test: path, Tasks: []int{1}},
		"bAbI has the tasks 1 to 20":     readingFlags{Tasks: []int{21}},
	} {
		if err := act.Check(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
