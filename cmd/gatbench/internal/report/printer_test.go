package report

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" a  b\n":                       "a b",
		strings.Repeat("é", 90) + " x":  strings.Repeat("é", 90) + "\nx",
		strings.Repeat("é", 78) + " x":  strings.Repeat("é", 78) + " x",
		strings.Repeat("é", 78) + " xy": strings.Repeat("é", 78) + "\nxy",
	} {
		if got := wrap(text); got != want {
			t.Errorf("wrap(%q) is %q, want %q", text, got, want)
		}
	}
}
