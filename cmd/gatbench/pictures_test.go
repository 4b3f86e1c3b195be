package main

import (
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
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
	if err != nil || !strings.Contains(string(svg), "node 30, layer 2: attention") {
		t.Errorf("a.svg: %v, %.200s", err, svg)
	}
	wordsApart(t, svg)
	attentionSumsToOne(t, file("a.csv"))
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.svg")
	if _, stderr, status := gatbench(t, "train", "--epochs", "3", "--plot", path); status != succeeded {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wordsApart(t, svg)
	for _, want := range []string{
		">GAT on Cora: loss<", ">training, with dropout<", ">model: epoch ", ">accuracy<", ">hidden layer, by class<",
		">Reinforcement Learning<", ">errors by degree<", ">5–8<", ">(206)<", ">wrong test nodes, per cent<",
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(string(svg), "<circle"); n != 2708+7 {
		t.Errorf("%d discs, want one a node and one a class", n)
	}
}

// svgText is a piece of text in SVG.
type svgText struct {
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Size   float64 `xml:"font-size,attr"`
	Length float64 `xml:"textLength,attr"`
	Anchor string  `xml:"text-anchor,attr"`
	Turn   string  `xml:"transform,attr"`
	Words  string  `xml:",chardata"`
}

// box returns where the text is.
func (s svgText) box() picture.Box {
	before := map[string]float64{"": 0, "middle": s.Length / 2, "end": s.Length}[s.Anchor]
	if s.Turn != "" {
		return picture.Box{Left: s.X - 0.7*s.Size, Top: s.Y + before - s.Length, Right: s.X, Bottom: s.Y + before}
	}
	return picture.Box{Left: s.X - before, Top: s.Y - 0.7*s.Size, Right: s.X - before + s.Length, Bottom: s.Y}
}

// wordsApart reads a picture, none of whose words may leave it or overlap.
func wordsApart(t *testing.T, svg []byte) {
	t.Helper()
	var doc struct {
		ViewBox string    `xml:"viewBox,attr"`
		Text    []svgText `xml:"text"`
	}
	if err := xml.Unmarshal(svg, &doc); err != nil {
		t.Fatal(err)
	}
	var x, y, width, height float64
	if _, err := fmt.Sscan(doc.ViewBox, &x, &y, &width, &height); err != nil || len(doc.Text) < 10 {
		t.Fatalf("%v, %d texts on %q", err, len(doc.Text), doc.ViewBox)
	}
	for i, s := range doc.Text {
		b := s.box()
		if b.Left < 0 || b.Top < 0 || b.Right > width || b.Bottom > height {
			t.Errorf("%q is cut off: %v", s.Words, b)
		}
		for _, other := range doc.Text[:i] {
			if overlap(b, other.box()) {
				t.Errorf("%q and %q overlap: %v, %v", s.Words, other.Words, b, other.box())
			}
		}
	}
}

func overlap(a, b picture.Box) bool {
	return a.Left < b.Right && b.Left < a.Right && a.Top < b.Bottom && b.Top < a.Bottom
}

// The numbers around a node neither overlap nor lie on the nodes.
func TestRing(t *testing.T) {
	for n := 1; n <= 16; n++ {
		r := ring{picture.Point{X: 200, Y: 150}, 75, n}
		var boxes []picture.Box
		for i := range n {
			at, anchor := r.outside(i)
			length := picture.Letters{Size: 7.5}.Width("19716: 100 %")
			boxes = append(boxes, svgText{X: at.X, Y: at.Y + 2.7, Size: 7.5, Length: length, Anchor: []string{"", "middle", "end"}[anchor]}.box())
		}
		for i, b := range boxes {
			for j := range n {
				d := r.at(j)
				node := picture.Box{Left: d.X - 5, Top: d.Y - 5, Right: d.X + 5, Bottom: d.Y + 5}
				if overlap(b, node) || i != j && overlap(b, boxes[j]) {
					t.Errorf("of %d nodes, number %d is on node or number %d", n, i, j)
				}
			}
			if far := math.Hypot(b.Middle().X-r.at(i).X, b.Middle().Y-r.at(i).Y); far > 40 {
				t.Errorf("of %d nodes, number %d is %.0f points away", n, i, far)
			}
		}
	}
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
