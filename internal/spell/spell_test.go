package spell

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "", 3},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
		{"abc", "abc", 0},
		{"gta", "gat", 1},
		{"tpok", "topk", 1},
		{"abcd", "badc", 2},
		{long, "", longest},
		{"", long, longest},
		{long, long + "y", 0},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%.20q, %.20q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"citeseer", "cora", "pubmed"}
	for name, want := range map[string]string{"corra": "cora", "CITEseer": "citeseer", "pub-med": "pubmed", "": "cora"} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("cora", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}

func TestMeant(t *testing.T) {
	for name, want := range map[string]string{"gta": "gat", "GAT": "gat", "gatt": "gat", "gcm": "gcn", "transfromer": "transformer", "trans": "transformer", "lstm": "", "gates": "gat", "best": "", "x": "", "": "", "zz": ""} {
		if got := Meant(name, []string{"gat", "gcn", "transformer"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Meant("cora", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}
