package gatbench

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func TestPictures(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	dataset, nodes := "karate", "30,5" // few discs are drawn soon
	if sparing.Full() {
		dataset, nodes = "cora", "30,1358" // and one node of very many edges
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--dataset", dataset, "--splits", "random", "--epochs", "2", "--picture", file("p.png"), "--nodes", nodes,
		"--attention", strings.Join([]string{file("a.csv"), file("a.svg"), file("a.png")}, ","))
	if status != cli.Succeeded || stderr != "" {
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

// The picture of a network that has hardly been trained shows that its attention is
// uniform: every edge has the width of the scale, and the numbers say so.
func TestUniformAttentionLooksUniform(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.svg")
	_, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "1", "--lr", "1e-9", "--attention", file, "--nodes", "30")
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(status, stderr, err)
	}
	wordsApart(t, svg)
	for _, want := range []string{">uniform: 14.3 %<", " × uniform, entropy 99.9 % of uniform&#39;s<"} {
		if n := strings.Count(string(svg), want); n != 2 {
			t.Errorf("%q is there %d times, want one a layer", want, n)
		}
	}
	const width = 1.6                                               // of the scale, in points
	rings, _, below := bytes.Cut(svg, []byte(">node 30, layer 1<")) // the tables of heads
	if !below {
		t.Error("there are no tables of heads")
	}
	lines := regexp.MustCompile(`<polyline [^>]*stroke-width="([^"]*)"`).FindAllSubmatch(rings, -1)
	if len(lines) != 2*(6+1) {
		t.Fatalf("%d lines, want six edges and a scale a layer", len(lines))
	}
	for _, m := range lines {
		if got, err := strconv.ParseFloat(string(m[1]), 64); err != nil || math.Abs(got-width) > 0.1*width {
			t.Errorf("a line is %s wide, of even attention %g", m[1], width)
		}
	}
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.svg")
	if _, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "3", "--picture", path); status != cli.Succeeded {
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
