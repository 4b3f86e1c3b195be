package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// Lengths are what layers take by the length of a sequence: of each in the order in which they were timed.
type Lengths struct {
	layers []string
	words  []int
	ms     map[string]map[int]float64
}

// Add adds what a layer takes for so many words.
func (l *Lengths) Add(layer string, words int, ms float64) {
	if l.ms == nil {
		l.ms = map[string]map[int]float64{}
	}
	if l.ms[layer] == nil {
		l.ms[layer], l.layers = map[int]float64{}, append(l.layers, layer)
	}
	l.ms[layer][words] = ms
	if !slices.Contains(l.words, words) {
		l.words = append(l.words, words)
		slices.Sort(l.words)
	}
}

// Write draws a line for each layer.
func (l *Lengths) Write(path string) error { return savePanels(path, l.panels()) }

// Text returns the chart for a terminal of that many columns.
func (l *Lengths) Text(width int, colour bool) string {
	return picture.Text(l.panels(), width, colour)
}

// panels are a chart, both of whose axes go by factors.
func (l *Lengths) panels() [][]picture.Panel {
	if len(l.layers) == 0 {
		return nil
	}
	c := &picture.Chart{Title: "a layer over one sequence, forwards and backwards", X: picture.Axis{Label: "words"}}
	for _, n := range l.words {
		c.X.Names = append(c.X.Names, fmt.Sprint(n))
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, name := range l.layers {
		for _, ms := range l.ms[name] {
			least, most = min(least, ms), max(most, ms)
		}
	}
	first := math.Ceil(math.Log10(least)) // the axis counts tens from here, and has a name for those between the points
	for e := first; e <= max(first, math.Floor(math.Log10(most))); e++ {
		c.Y.Names = append(c.Y.Names, fmt.Sprintf("%g ms", math.Pow(10, e)))
	}
	for i, name := range l.layers {
		line := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)}
		for at, n := range l.words {
			if ms, ok := l.ms[name][n]; ok {
				line.Points = append(line.Points, picture.Point{X: float64(at), Y: math.Log10(ms) - first})
			}
		}
		c.Series = append(c.Series, line)
	}
	return [][]picture.Panel{{c}}
}
