package picture

import (
	"encoding/binary"
	"math"
	"testing"
)

// Whatever the numbers and the words, nothing leaves the canvas and the SVG can be
// read.
func FuzzChart(f *testing.F) {
	f.Add([]byte{}, "name", byte(Curve))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 24), math.Float64bits(1e290)), "a & <b>", byte(Dots))
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 24), math.Float64bits(math.NaN())), "\x00\xff\n", byte(Bars))
	far := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-70))
	f.Add(binary.LittleEndian.AppendUint64(far, math.Float64bits(12)), "beside the names", byte(129)) // bars
	f.Add([]byte("twenty-four bytes or so, three numbers"), "Übergröße", byte(Upright))
	f.Fuzz(func(t *testing.T, raw []byte, name string, mark byte) {
		s := Series{Name: name, Mark: Mark(mark % 6), Colour: Colour(int(mark))}
		for ; len(raw) >= 16 && len(s.Points) < 50; raw = raw[16:] {
			number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])) }
			s.Points = append(s.Points, Point{number(0), number(8)})
		}
		ch := &Chart{Title: name, X: Axis{Label: name}, Y: Axis{Label: name}, Series: []Series{s, s, s}}
		if mark > 127 {
			ch.X.Names = []string{name, name + "\n" + name, ""}
		}
		c := Grid([][]Panel{{ch}})
		inside(t, name, c)
		elements(t, written(t, c, "svg"))
	})
}
