package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attending is a node whose in-edges have the weights of one head.
func attending(weights ...tensor.Float) attended {
	a := attended{node: 0}
	for i, w := range weights {
		a.edges = append(a.edges, attendedEdge{int32(i), [][]tensor.Float{{w}}})
	}
	return a
}

// Attention is compared with uniform attention in numbers and in widths, on one scale:
// that which differs by rounding looks the same, that of one edge does not.
func TestEvenness(t *testing.T) {
	half := tensor.Float(0.5)
	for _, tt := range []struct {
		a    attended
		want string
	}{
		{attending(0.25, 0.25, 0.25, 0.25), "1.00 to 1.00 × uniform, entropy 100.0 % of uniform's"},
		{attending(0.24, 0.26, 0.25, 0.25), "0.96 to 1.04 × uniform, entropy 99.9 % of uniform's"},
		{attending(half, half, 0, 0), "0.00 to 2.00 × uniform, entropy 50.0 % of uniform's"},
		{attending(1, 0, 0, 0), "0.00 to 4.00 × uniform, entropy 0.00 % of uniform's"},
		{attending(1), "a single in-edge has all of it"},
		{attended{}, "a single in-edge has all of it"},
	} {
		if got := tt.a.evenness(0).String(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.a, got, tt.want)
		}
	}
	two := attended{edges: []attendedEdge{{0, [][]tensor.Float{{1, half}}}, {1, [][]tensor.Float{{0, half}}}}}
	if got, want := two.evenness(0).String(), "0.00 to 2.00 × uniform, entropy 50.0 % of uniform's"; got != want {
		t.Errorf("two heads: %s, want %s", got, want)
	}
	even := evenness{edges: 7}
	last := 0.0
	for _, share := range []float64{0, 0.05, 1. / 7, 0.3, 0.5, 1} {
		width := even.width(share)
		if width <= last && share < 0.8 || width > mostWidth {
			t.Errorf("an edge of %.2f is %.2f wide, one of less %.2f", share, width, last)
		}
		last = width
	}
	if got := even.width(1. / 7 * (1 + 1e-6)); math.Abs(got-uniformWidth) > 1e-5 {
		t.Errorf("an edge of uniform attention is %g wide, not %g", got, uniformWidth)
	}
	if many := (evenness{edges: 480}); many.width(1./480) > uniformWidth/5 || many.key().Mark != picture.Words {
		t.Errorf("one of 480 edges is %g wide, with the key %v", many.width(1./480), many.key())
	}
}

// The picture of a network that has hardly been trained shows that its attention is
// uniform: every edge has the width of the scale, and the numbers say so.
func TestUniformAttentionLooksUniform(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.svg")
	_, stderr, status := gatbench(t, "train", "--epochs", "1", "--lr", "1e-9", "--attention", file, "--nodes", "30")
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
	lines := regexp.MustCompile(`<polyline [^>]*stroke-width="([^"]*)"`).FindAllSubmatch(svg, -1)
	if len(lines) != 2*(6+1) {
		t.Fatalf("%d lines, want six edges and a scale a layer", len(lines))
	}
	for _, m := range lines {
		if width, err := strconv.ParseFloat(string(m[1]), 64); err != nil || math.Abs(width-uniformWidth) > 0.1*uniformWidth {
			t.Errorf("a line is %s wide, of even attention %g", m[1], uniformWidth)
		}
	}
}
