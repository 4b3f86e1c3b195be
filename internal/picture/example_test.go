package picture_test

import (
	"bytes"
	"fmt"
	"image/png"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// A chart of two curves, with a line at the best of them, in both forms.
func Example() {
	curve := func(i int, name string, values ...float64) picture.Series {
		s := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)}
		for x, y := range values {
			s.Points = append(s.Points, picture.Point{X: float64(x + 1), Y: y})
		}
		return s
	}
	best := picture.Series{Name: "best", Mark: picture.Upright, Colour: picture.Grey, Points: []picture.Point{{X: 3}}}
	c := picture.Grid([][]picture.Panel{{&picture.Chart{
		Title: "loss", X: picture.Axis{Label: "epoch"}, Y: picture.Axis{Label: "cross-entropy"},
		Series: []picture.Series{curve(0, "training", 2, 1.5, 1.1, 0.8), curve(1, "validation", 2, 1.7, 1.5, 1.6), best},
	}}})

	var svg, pixels bytes.Buffer
	if err := c.Write(&svg, "svg"); err != nil {
		fmt.Println(err)
	}
	if err := c.Write(&pixels, "png"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(bytes.Contains(svg.Bytes(), []byte(">validation</text>")))
	img, err := png.Decode(&pixels)
	fmt.Println(img.Bounds(), err)
	// Output:
	// true
	// (0,0)-(824,596) <nil>
}
