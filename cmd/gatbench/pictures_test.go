package main

import (
	"encoding/csv"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Points of an ellipse in five dimensions have its axes as their components.
func TestPrincipal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	long := []float64{0.5, 0.5, 0.5, 0.5, 0}
	short := []float64{0.5, -0.5, 0.5, -0.5, 0}
	x := tensor.New(200, 5)
	a, b := make([]float64, 200), make([]float64, 200)
	for i := range a {
		a[i], b[i] = 5*rng.NormFloat64(), rng.NormFloat64()
		for j := range 5 {
			x.Row(i)[j] = tensor.Float(7 + a[i]*long[j] + b[i]*short[j])
		}
	}
	points := principal(x)
	for axis, want := range [][]float64{a, b} {
		got := make([]float64, len(points))
		for i, p := range points {
			got[i] = p[axis]
		}
		if c := math.Abs(correlation(got, want)); c < 0.99 {
			t.Errorf("component %d agrees with its axis by %.3f", axis, c)
		}
	}
	for _, p := range principal(tensor.New(4, 3)) {
		if p != [2]float64{} {
			t.Errorf("nothing has the component %v", p)
		}
	}
}

func correlation(x, y []float64) float64 {
	mx, _ := meanStd(x)
	my, _ := meanStd(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func TestErrorsByDegree(t *testing.T) {
	k, _ := taskOf(t, "gat")
	logits := tensor.New(len(k.Labels), k.Classes)
	wrong := map[int32]bool{k.split.Test[0]: true, k.split.Test[500]: true}
	for v, c := range k.Labels {
		if wrong[int32(v)] {
			c = (c + 1) % int32(k.Classes)
		}
		logits.Row(v)[c] = 1
	}
	nodes, errs, low := 0, 0, -1
	for _, b := range errorsByDegree(k, logits) {
		if b.low <= low || b.high < b.low || b.nodes == 0 {
			t.Errorf("bin %+v after degree %d", b, low)
		}
		nodes, errs, low = nodes+b.nodes, errs+b.wrong, b.high
	}
	if nodes != 1000 || errs != 2 {
		t.Errorf("%d nodes and %d errors, want 1000 and 2", nodes, errs)
	}
}

// Ticks lie at round numbers, each with a label of its own.
func TestRoundTicks(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 200, "50 100 150 200"}, {1, 30, "10 20 30"}, {0, 24.2, "0 5 10 15 20"}, {7, 99, "20 40 60 80"},
		{1.87, 2.01, "1.90 1.95 2.00"}, {-0.079, 0.081, "-0.05 0.00 0.05"}, {-1e-4, 2e-4, "-0.0001 0.0000 0.0001 0.0002"}, {2e6, 6e6, "2000000 3000000 4000000 5000000 6000000"},
	} {
		var got []string
		for _, tick := range (roundTicks{}).Ticks(tt.lo, tt.hi) {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("from %g to %g: %s, want %s", tt.lo, tt.hi, s, tt.want)
		}
	}
}

// The words of a legend end before the edge in a font that is a sixth wider, too.
func TestPlaceLegend(t *testing.T) {
	p := newPanel("", "x", "y")
	p.Legend.Add("Reinforcement Learning", dot{colour(0)})
	c, err := draw.NewFormattedCanvas(panelWidth, panelHeight, "svg")
	if err != nil {
		t.Fatal(err)
	}
	placeLegend(p, draw.New(c))
	area := p.DataCanvas(draw.New(c))
	words := p.Legend.Rectangle(area).Size().X
	if left := area.Size().X - p.Legend.XOffs; left < 7*words/6 || left > 1.3*words {
		t.Errorf("%.0f points for words of %.0f", left, words)
	}
}

func TestPictures(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	_, stderr, status := gatbench(t, "train", "--epochs", "2", "--plot", file("p.png"), "--nodes", "30,1358",
		"--attention", strings.Join([]string{file("a.csv"), file("a.svg"), file("a.png")}, ","))
	if status != succeeded || stderr != "" {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	for _, name := range []string{"p.png", "a.png"} {
		f, err := os.Open(file(name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil || img.Bounds().Dx() < 800 || img.Bounds().Dy() < 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	svg, err := os.ReadFile(file("a.svg"))
	if err != nil || !strings.Contains(string(svg), "<svg") || !strings.Contains(string(svg), "node 30, layer 2: attention") {
		t.Errorf("a.svg: %v, %.200s", err, svg)
	}
	attentionSumsToOne(t, file("a.csv"))
}

// attentionSumsToOne reads a file of --attention: what a node attends to in a
// layer by a head is shares of one.
func attentionSumsToOne(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[strings.Join([]string{row[0], row[2], row[3]}, "/")] += v
	}
	if len(sums) != 2*(8+1) {
		t.Errorf("%d nodes and heads, want 18", len(sums))
	}
	for of, sum := range sums {
		if math.Abs(sum-1) > 1e-4 {
			t.Errorf("the attention of node/layer/head %s sums to %g", of, sum)
		}
	}
}
