package picture

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"
)

// Red is below nought and blue above, the stronger the farther; what is no number is white.
func TestLeaning(t *testing.T) {
	for i := range 20 {
		v := float64(i) / 20
		low, high := Leaning(-v-0.05), Leaning(v+0.05)
		if low.R <= low.B || high.B <= high.R {
			t.Errorf("±%v are %v and %v", v+0.05, low, high)
		}
		if a, b := Leaning(v), Leaning(v+0.05); b.R >= a.R {
			t.Errorf("%v is %v, and %v is %v, no stronger", v, a, v+0.05, b)
		}
	}
	for _, v := range []float64{0, math.NaN()} {
		if Leaning(v) != White {
			t.Errorf("%v is %v", v, Leaning(v))
		}
	}
	if Leaning(math.Inf(1)) != Leaning(1) || Leaning(-7) != Leaning(-1) {
		t.Error("what is beyond the ends is not as the ends")
	}
}

// film is a tree of three words: (a (bad film)), with a place for a word of the user's.
func film(word string) *Tree {
	return &Tree{Title: "a tree", Low: "negative", High: "positive",
		Parent: []int32{-1, 0, 0, 2, 2}, Words: []string{"", "a", "", "bad", word},
		Values: []float64{-0.5, 0, -0.25, -1, 1}, Notes: []string{"−", "", "", "−−", "++"}}
}

// Every node's shade and word are in the picture, and a leaf stands over its word, in the
// order of the text.
func TestTree(t *testing.T) {
	c := Grid([][]Panel{{film("film")}})
	var b, svg bytes.Buffer
	if err := c.Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	left := map[[3]uint32]int{}
	count := map[[3]uint32]int{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() * 9 / 10 { // above the scale
			r, g, bl, _ := img.At(x, y).RGBA()
			k := [3]uint32{r >> 8, g >> 8, bl >> 8}
			if count[k] == 0 {
				left[k] = x
			}
			count[k]++
		}
	}
	shade := func(v float64) [3]uint32 {
		s := Leaning(v)
		return [3]uint32{uint32(s.R), uint32(s.G), uint32(s.B)}
	}
	for _, v := range []float64{-0.5, -0.25, -1, 1} {
		if n := count[shade(v)]; n < 150 {
			t.Errorf("%d points have the shade of %v", n, v)
		}
	}
	if left[shade(-1)] >= left[shade(1)] {
		t.Error("the word before the last does not stand before it")
	}
	if err := c.Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">bad<", ">film<", ">a<", ">negative<", ">positive<", ">++<"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the SVG lacks %s", want)
		}
	}
	if strings.Contains(svg.String(), "rotate") {
		t.Error("short words stand upright")
	}
}

// Words that do not fit beside each other stand upright.
func TestTreeOfLongWords(t *testing.T) {
	var svg bytes.Buffer
	if err := Grid([][]Panel{{film(strings.Repeat("incomprehensib", 4))}}).Write(&svg, "svg"); err != nil || !strings.Contains(svg.String(), "rotate") {
		t.Errorf("a long word lies across others: %v", err)
	}
}

// Nothing, one node, a list instead of a tree, parents that come later or do not exist,
// missing words, deep trees and numbers that are none make a picture too.
func TestTreeOfLittle(t *testing.T) {
	chain := make([]int32, 3000)
	for i := range chain {
		chain[i] = int32(i) - 1
	}
	for _, tree := range []*Tree{
		{}, {Parent: []int32{-1}}, {Parent: []int32{5, 2, 1, -7}}, {Parent: []int32{0, 0, 0}, Words: []string{"x"}},
		{Parent: []int32{-1, 0}, Values: []float64{math.NaN(), math.Inf(-1)}, Notes: []string{"long note", "", ""}},
		{Parent: chain}, {Parent: make([]int32, 3000), Words: []string{"", strings.Repeat("long", 99)}},
	} {
		for _, format := range []string{"svg", "png"} {
			if format == "png" && len(tree.Parent) > 99 {
				continue // it takes a second
			}
			var b bytes.Buffer
			if err := Grid([][]Panel{{tree}}).Write(&b, format); err != nil {
				t.Error(err)
			}
			if strings.Contains(b.String(), "NaN") {
				t.Error("a place is no number")
			}
		}
	}
}
