package draw

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/internal/picture"
)

// onCora returns a training on Cora of which nothing is known yet.
func onCora(t *testing.T) *Training {
	t.Helper()
	d, err := cora.Load()
	if err != nil {
		t.Fatal(err)
	}
	return &Training{Title: d.Name, Dataset: d, Test: d.Split.Test}
}

func TestErrorsByDegree(t *testing.T) {
	p := onCora(t)
	p.Predicted = slices.Clone(p.Labels)
	for _, v := range []int32{p.Test[0], p.Test[500]} {
		p.Predicted[v] = (p.Labels[v] + 1) % int32(p.Classes)
	}
	nodes, errs, low := 0, 0, -1
	for _, b := range p.errorsByDegree() {
		if b.low <= low || b.high < b.low || b.nodes == 0 {
			t.Errorf("bin %+v after degree %d", b, low)
		}
		nodes, errs, low = nodes+b.nodes, errs+b.wrong, b.high
	}
	if nodes != 1000 || errs != 2 {
		t.Errorf("%d nodes and %d errors, want 1000 and 2", nodes, errs)
	}
}

// The panel of the hidden layer says how many nodes it moved.
func TestHiddenPanelCountsOutliers(t *testing.T) {
	p := onCora(t)
	p.Hidden = cloud(len(p.Labels)-1, 1e6)
	note := func(ch *picture.Chart) string {
		for _, one := range ch.Series {
			if one.Mark == picture.Words {
				return one.Name
			}
		}
		return ""
	}
	got := p.hiddenPanel()
	if want := "1 node beyond the border stands on it"; note(got) != want {
		t.Errorf("the note is %q, want %q", note(got), want)
	}
	nodes := 0
	for _, one := range got.Series {
		nodes += len(one.Points)
		for _, at := range one.Points {
			if math.Abs(at.X) > 100 || math.Abs(at.Y) > 100 {
				t.Errorf("a node at %v", at)
			}
		}
	}
	if nodes != len(p.Labels) {
		t.Errorf("%d nodes are drawn of %d", nodes, len(p.Labels))
	}
	p.Hidden = cloud(len(p.Labels)-1, 0)
	if text := note(p.hiddenPanel()); text != "" {
		t.Errorf("the note of a cloud without outliers is %q", text)
	}
}

// The text of a training has its four panels.
func TestTrainingText(t *testing.T) {
	p := onCora(t)
	p.Model, p.Hidden, p.Predicted = "gat", cloud(len(p.Labels)-1, 0), slices.Clone(p.Labels)
	text := p.Text(80, false)
	for _, want := range []string{"gat on Cora: loss\n", "\naccuracy\n", "\nhidden layer, by class\n", "\nerrors by degree\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
