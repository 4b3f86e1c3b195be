package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, s := range []string{
		"", "Neural_Networks", "Überwachtes Lernen", "神经网络", "a b", `"quoted" \ back`, "na\u00efve", "e\u0301", "می\u200cخواهم", "🙂", "\ufffd",
	} {
		if got := Text(s); got != s {
			t.Errorf("%q is shown as %q", s, got)
		}
	}
	for s, want := range map[string]string{
		"\x1b[2J":              `"\x1b[2J"`,
		"a\nnext: rm -r":       `"a\nnext: rm -r"`,
		"a\rb\tc\x00\x07\x7f":  `"a\rb\tc\x00\a\x7f"`,
		"\u009b2J":             `"\u009b2J"`, // one character that begins a sequence
		"a\xff\xfeb":           `"a\xff\xfeb"`,
		"txt.\u202egnp":        `"txt.\u202egnp"`,
		"\u2066a\u2069":        `"\u2066a\u2069"`,
		"a\u2028b\u200e\ufeff": `"a\u2028b\u200e\ufeff"`,
		"ü\x1b":                `"ü\x1b"`,
	} {
		if got := Text(s); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for s, want := range map[string]string{
		"open x: no such file":           "open x: no such file",
		"open \x1b]0;x\x07: no\n":        `open \x1b]0;x\a: no`,
		"one\ntwo\n":                     "one\n  two",
		"a\xffb\u202ec\td\u009be \ufffd": `a\xffb\u202ec d\u009be ` + "\ufffd",
	} {
		if got := Lines(s); got != want {
			t.Errorf("%q is shown as %q, want %q", s, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	want := "a\x1b\n\u009b\u202e\U000E0001\x7f\u2028ü"
	b, err := json.Marshal(map[string]string{"name": want})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	safe := JSON(append(b, '\n'))
	if err := json.Unmarshal(safe, &got); err != nil || got["name"] != want || !strings.HasSuffix(string(safe), "}\n") {
		t.Errorf("%s is %q, error %v", safe, got, err)
	}
	if !harmless(strings.TrimSuffix(string(safe), "\n")) {
		t.Errorf("%q is harmful", safe)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "äö": 2, "a\u0308": 1, "神经": 4, "한": 2, "🙂": 2, "±–": 2} {
		if got := Width(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
		if got := Pad(s, 5); Width(got) != max(5, want) || !strings.HasPrefix(got, s) {
			t.Errorf("%q is padded to %q", s, got)
		}
	}
	for _, tt := range []struct {
		s    string
		most int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"神经网络", 5, "神经…"}, {"神经网络", 4, "神…"}, {"ab", 1, "…"}, {"ab", 0, ""}} {
		if got := Fit(tt.s, tt.most); got != tt.want || Width(got) > tt.most {
			t.Errorf("%q in %d columns is %q, want %q", tt.s, tt.most, got, tt.want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\x1b[2J\xff\u202e\nb")
	f.Fuzz(func(t *testing.T, s string) {
		for _, shown := range []string{Text(s), strings.ReplaceAll(Lines(s), "\n", "")} {
			for _, r := range shown {
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || !utf8.ValidString(shown) {
					t.Fatalf("%q is shown as %q", s, shown)
				}
			}
		}
		if Width(Fit(s, 7)) > 7 {
			t.Errorf("%q in 7 columns is %q", s, Fit(s, 7))
		}
	})
}
