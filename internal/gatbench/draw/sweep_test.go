package draw

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// A kernel of several widths has a table of its own, with graphs by their degrees and columns by
// their widths in whatever order they come; kernels of one width share a table.
func TestSweep(t *testing.T) {
	s := Sweep{
		{"copy_u_sum", "dense", 300, "128", 128, 40, ""}, {"copy_u_sum", "dense", 300, "16", 16, 50, ""}, {"copy_u_sum", "sparse", 5.5, "16", 16, 60.4, ""},
		{"edge_softmax", "dense", 300, "8 heads", 64, 70, ""}, {"gat_attention", "dense", 300, "8x8", 64, 80, ""},
	}
	panels := s.panels()
	if len(panels) != 1 || len(panels[0]) != 2 {
		t.Fatalf("the panels are %v", panels)
	}
	sum, others := panels[0][0].(*picture.Heat), panels[0][1].(*picture.Heat)
	if !slices.Equal(sum.Rows, []string{"sparse, 5.5", "dense, 300"}) || !slices.Equal(sum.Columns, []string{"16", "128"}) {
		t.Errorf("rows %q, columns %q", sum.Rows, sum.Columns)
	}
	if v := sum.Values; v[0][0] != 60.4 || !math.IsNaN(v[0][1]) || v[1][0] != 50 || v[1][1] != 40 || sum.Words[0][0] != "60" || sum.Words[0][1] != "" || sum.Top != 100 || sum.Ratios {
		t.Errorf("the values are %v, in words %q", v, sum.Words)
	}
	if text := s.Text(80, false); !strings.Contains(text, "copy_u_sum: per cent of") || !strings.Contains(text, "\nsparse, 5.5 ▒60\n") {
		t.Errorf("in a terminal it is\n%s", text)
	}
	if !slices.Equal(others.Columns, []string{"edge_softmax, 8 heads", "gat_attention, 8x8"}) || others.Values[0][1] != 80 {
		t.Errorf("the others are %+v", others)
	}
}

// Beside others cells are ratios, and say which other it is.
func TestSweepBeside(t *testing.T) {
	s := Sweep{{"copy_u_sum", "g", 5, "16", 16, 0.885, "dgl"}, {"copy_u_sum", "g", 5, "64", 64, 1.5, "torch"}}
	h := s.panels()[0][0].(*picture.Heat)
	if !h.Ratios || len(h.Legend) != 2 || !slices.Equal(h.Words[0], []string{"0.89 dgl", "1.50 torch"}) {
		t.Errorf("%+v", h)
	}
	if text := s.Text(80, false); !strings.Contains(text, "0.89 dgl") || !strings.Contains(text, "    0.25 ██▒▒  ▒▒██ 4\n") {
		t.Errorf("the text is\n%s", text)
	}
	for _, form := range []string{"svg", "png"} {
		path := filepath.Join(t.TempDir(), "p."+form)
		if err := s.Write(path); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || form == "svg" && !strings.Contains(string(text), ">0.89 dgl<") || len(text) < 1000 {
			t.Errorf("%v, the %s has %d bytes", err, form, len(text))
		}
	}
}
