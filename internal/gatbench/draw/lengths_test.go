package draw

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// The chart of lengths has a line for each layer, whose points are at powers of ten.
func TestLengths(t *testing.T) {
	var l Lengths
	if l.panels() != nil {
		t.Error("nothing has panels")
	}
	l.Add("rnn", 256, 100)
	l.Add("rnn", 64, 1)
	l.Add("conv", 256, 1000)
	c := l.panels()[0][0].(*picture.Chart)
	if !slices.Equal(c.X.Names, []string{"64", "256"}) || !slices.Equal(c.Y.Names, []string{"1 ms", "10 ms", "100 ms", "1000 ms"}) {
		t.Errorf("the axes are %v and %v", c.X.Names, c.Y.Names)
	}
	if len(c.Series) != 2 || !slices.Equal(c.Series[0].Points, []picture.Point{{X: 0, Y: 0}, {X: 1, Y: 2}}) || !slices.Equal(c.Series[1].Points, []picture.Point{{X: 1, Y: 3}}) {
		t.Errorf("the lines are %+v", c.Series)
	}
}
