package report

import (
	"strings"
	"testing"
)

func TestWantsColour(t *testing.T) {
	for _, tt := range []struct {
		terminal      bool
		noColor, term string
		want          bool
	}{
		{true, "", "xterm-256color", true}, {true, "1", "xterm-256color", false}, {false, "", "xterm-256color", false},
		{false, "1", "xterm-256color", false}, {true, "0", "xterm", false}, {true, "", "dumb", false},
	} {
		environment := map[string]string{"NO_COLOR": tt.noColor, "TERM": tt.term}
		if got := wantsColour(tt.terminal, func(name string) string { return environment[name] }); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
	if coloured(new(strings.Builder)) {
		t.Error("a string is no terminal")
	}
}
