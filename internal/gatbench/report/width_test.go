package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" a  b\n":                       "a  b", // blanks may be part of a value
		strings.Repeat("é", 90) + " x":  strings.Repeat("é", 90) + "\nx",
		strings.Repeat("é", 78) + " x":  strings.Repeat("é", 78) + " x",
		strings.Repeat("é", 78) + " xy": strings.Repeat("é", 78) + "\nxy",
		strings.Repeat("é", 78) + "  x": strings.Repeat("é", 78) + "\nx",
		strings.Repeat("神", 39) + " 经":  strings.Repeat("神", 39) + "\n经", // of two columns each
		strings.Repeat("神", 38) + " 经":  strings.Repeat("神", 38) + " 经",
		strings.Repeat("a", 78) + " " + bold + "b" + normal: strings.Repeat("a", 78) + " " + bold + "b" + normal, // takes a column
		"one\n  two": "one\n  two",
		"one\n  " + strings.Repeat("two ", 20) + "two": "one\n  " + strings.TrimSpace(strings.Repeat("two ", 19)) + "\n  two two",
	} {
		if got := wrap(text, 80); got != want {
			t.Errorf("wrap(%q) is %q, want %q", text, got, want)
		}
	}
}

// No width breaks what has to stay on a line, and every line that could be shorter is short enough.
func TestWrapKeepsWhole(t *testing.T) {
	const text = `the accuracy is 81.4 % in 1.24 ms, or 0.83 ± 0.01 ` + bold + `75.1 %` + normal + ` with --lr 0.005 and --heads 8; "my graphs/the first.npz" is ` +
		`/a/long/path/that/no/line/holds/at/all/because/it/is/longer.npz (gatbench train --dataset cora --lr 0.01 --inductive), then gatbench data fetch cora, ` +
		`or go run ./cmd/gatbench eval m.safetensors --json; 神经网络 神经网络`
	units := []string{
		"81.4 %", "1.24 ms,", "0.83 ± 0.01", "75.1 %", "--lr 0.005", "--heads 8;", `"my graphs/the first.npz"`, "/a/long/path/that/no/line/holds/at/all/because/it/is/longer.npz",
		"(gatbench train --dataset cora --lr 0.01 --inductive),", "gatbench data fetch cora,", "go run ./cmd/gatbench eval m.safetensors --json;",
	}
	for _, width := range []int{40, 60, 80, 120, 200} {
		got := wrap(text, width)
		if strings.ReplaceAll(got, "\n", " ") != text {
			t.Errorf("%d columns change the text: %q", width, got)
		}
		for _, u := range units {
			if !strings.Contains(got, u) {
				t.Errorf("%d columns break %q:\n%s", width, u, got)
			}
		}
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			if plain.Width(unformatted.Replace(line)) > width && len(whole(strings.Split(line, " "))) > 1 {
				t.Errorf("%d columns have a line of %d: %q", width, plain.Width(unformatted.Replace(line)), line)
			}
			if i > 0 {
				next := whole(strings.Split(line, " "))[0]
				if plain.Width(unformatted.Replace(lines[i-1]))+1+plain.Width(unformatted.Replace(next)) <= width {
					t.Errorf("%d columns break too early before %q", width, next)
				}
			}
		}
	}
}

func TestProse(t *testing.T) {
	of := func(n int) func() int { return func() int { return n } }
	for _, tt := range []struct {
		terminal func() int
		columns  string
		want     int
	}{
		{nil, "", 80}, {of(120), "", 120}, {of(300), "", 300}, {of(60), "", 60}, {of(20), "", 40}, {of(120), "100", 100}, {nil, "100", 100},
		{of(120), "0", 120}, {of(120), "-5", 120}, {of(120), "wide", 120}, {nil, "7", 40},
	} {
		if got := prose(tt.terminal, func(string) string { return tt.columns }); got != tt.want {
			t.Errorf("COLUMNS=%s on a terminal %v: %d columns, want %d", tt.columns, tt.terminal != nil, got, tt.want)
		}
	}
}

// A message is a line of a log, and on a terminal as wide as that; what it names is harmless in both.
func TestMessage(t *testing.T) {
	t.Setenv("COLUMNS", "")
	text := strings.Repeat("word ", 30) + "a\x1b[2J"
	var log, screen strings.Builder
	Message(&log, text)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "gatbench: word") || !strings.HasSuffix(got, `a\x1b[2J`+"\n") {
		t.Errorf("a log has %q", got)
	}
	message(&screen, func() int { return 60 }, text, nil)
	const path = "a folder/with blanks in its name/that is typed.npz"
	for _, typed := range []string{path, "--dataset=" + path} {
		var b strings.Builder
		message(&b, func() int { return 60 }, "open "+path+": no such file", []string{"train", typed, " "})
		if want := "gatbench: open\n" + path + ": no such\nfile\n"; b.String() != want {
			t.Errorf("of %q a terminal shows %q, want %q", typed, b.String(), want)
		}
	}
	lines := strings.Split(strings.TrimSuffix(screen.String(), "\n"), "\n")
	if len(lines) != 3 || len(lines[0]) > 60 || len(lines[0]) < 55 || strings.Contains(screen.String(), "\x1b") {
		t.Errorf("a terminal shows %q", lines)
	}
}

// Aligned cells stay as they are where they fit or no terminal is there, and otherwise none is broken, nor wider than the terminal.
func TestFitted(t *testing.T) {
	lines := []string{
		"nodes:",
		"age   43 numbers, 18 to 61        standardised            --column age=log",
		"town  4 words: Lund, Oslo, …      4 features, one a word  --column town=code",
		"a name that is long  1 word: yes  left out                --column none",
	}
	for _, columns := range []int{0, 80} {
		if got := Fitted(lines, columns); !slices.Equal(got, lines) {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	want := []string{
		"nodes:",
		"age   43 numbers, 18 to 61  standardised",
		"      --column age=log",
		"town  4 words: Lund, Oslo, …",
		"      4 features, one a word",
		"      --column town=code",
		"a name that is long  1 word: yes  left out",
		"      --column none",
	}
	if got := Fitted(lines, 45); !slices.Equal(got, want) {
		t.Errorf("%s, want %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A number that rounds to nothing has no sign.
func TestShownWithoutSign(t *testing.T) {
	if got := (Metric{Says: "R²"}).Shown(-0.00004); got != " 0.0000" {
		t.Errorf("%q", got)
	}
}
