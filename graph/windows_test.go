package graph

import (
	"fmt"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// The edges of Windows are those of loops over the places and over the window, on sides of any
// size: kinds are places in the window, and what is beyond the picture is not there.
func TestWindows(t *testing.T) {
	for _, side := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {1, 5}, {4, 1}, {3, 4}, {5, 7}} {
		for _, w := range []Window{{Size: 1}, {Size: 3, Pad: 1}, {Size: 5, Pad: 2}, {Size: 2, Stride: 2}, {Size: 3}, {Size: 3, Stride: 2, Pad: 1}, {Size: 2, Stride: 3, Pad: 1}, {Size: 3, Pad: 2}} {
			rows, cols, stride := side[0], side[1], max(1, w.Stride)
			what := fmt.Sprint(side, w)
			g := Windows(rows, cols, w)
			graphtest.Sound(t, g)
			place, e := 0, 0
			for top := -w.Pad; top+w.Size <= rows+w.Pad && rows*cols > 0; top += stride {
				for left := -w.Pad; left+w.Size <= cols+w.Pad; left += stride {
					for k := range w.Size * w.Size {
						r, c := top+k/w.Size, left+k%w.Size
						if r < 0 || r >= rows || c < 0 || c >= cols {
							continue
						}
						if e >= g.NumEdges() || int(g.In().Cols[e]) != r*cols+c || int(g.Destinations()[e]) != place || int(g.Kinds()[e]) != k {
							t.Fatalf("%s: edge %d is not the one of kind %d into place %d", what, e, k, place)
						}
						e++
					}
					place++
				}
			}
			if g.NumEdges() != e || rows*cols > 0 && g.NumDst() != place || g.NumSrc() != rows*cols {
				t.Errorf("%s: %v, want %d edges to %d places", what, g, e, place)
			}
			if same := stride == 1 && w.Size == 2*w.Pad+1; g.Bipartite() == same {
				t.Errorf("%s: bipartite is %v", what, g.Bipartite())
			}
		}
	}
	two := Batch(Windows(2, 2, Window{Size: 3, Pad: 1}), Windows(1, 3, Window{Size: 3, Pad: 1}))
	if two.NumNodes() != 7 || two.NumEdges() != 16+7 || two.Kinds()[16] != 4 || two.In().Cols[16] != 4 {
		t.Errorf("a batch of pictures of two shapes: %v, kinds %v", two, two.Kinds())
	}
	for _, bad := range []func(){
		func() { Windows(-1, 3, Window{Size: 3}) },
		func() { Windows(3, 3, Window{}) },
		func() { Windows(3, 3, Window{Size: 3, Stride: -1}) },
		func() { Windows(3, 3, Window{Size: 3, Pad: 3}) },
		func() { Windows(3, 3, Window{Size: 3, Pad: -1}) },
		func() { Windows(1<<16, 1<<16, Window{Size: 1}) },
	} {
		graphtest.Refuses(t, "graph.Windows", bad)
	}
}
