package picture

import (
	"image/color"
	"math"
)

// The shades of a chart.
var (
	White = color.RGBA{255, 255, 255, 255}
	Ink   = color.RGBA{35, 35, 35, 255}
	Grey  = color.RGBA{128, 128, 128, 255}
	faint = color.RGBA{230, 230, 230, 255} // of lines across a chart
)

// palette tells lines and classes apart, for people who see few colours too
// (Okabe and Ito, 2008).
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {90, 90, 90, 255}, {240, 228, 66, 255},
}

// Colour returns the i-th of 24 colours: eight that are told apart easily, the
// same darker, the same lighter, and then again from the first on.
func Colour(i int) color.RGBA {
	n := len(palette)
	c := palette[i%n]
	switch i / n % 3 {
	case 1:
		return mix(c, color.RGBA{0, 0, 0, 255}, 0.4)
	case 2:
		return mix(c, White, 0.5)
	}
	return c
}

// mix returns a with a share of b.
func mix(a, b color.RGBA, share float64) color.RGBA {
	of := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.RGBA{of(a.R, b.R), of(a.G, b.G), of(a.B, b.B), 255}
}
