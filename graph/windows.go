package graph

import (
	"math"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Window is a square that moves over the cells of a picture.
type Window struct {
	Size   int // cells on a side
	Stride int // cells from one place to the next, across and down; 0: 1
	Pad    int // cells that the first place is beyond the picture's corner, below Size
}

// Windows returns the graph from the cells of a picture to the places of a window on it:
// each place hears the cells that it covers. Cell r·cols+c is in row r and column c, and
// places are numbered alike. The kind of an edge is where in the window its source is,
// i·Size+j in its row i and column j, and the in-edges of a place are in the order of
// their kinds, which is that of their sources. What a window covers beyond the picture is no edge,
// so it adds nothing, as zeros would.
//
// There are ⌊(rows + 2·Pad − Size)/Stride⌋ + 1 places down the picture, and across alike;
// none if the window is larger than the picture and its padding. A Window of an odd Size with a Stride of 1 and
// a Pad of Size/2 has a place for each cell, around it: that graph is homogeneous, and every other one
// bipartite. The list is the graph's own order.
//
//	conv := graph.Windows(32, 32, graph.Window{Size: 3, Pad: 1})    // a convolution
//	half := graph.Windows(32, 32, graph.Window{Size: 2, Stride: 2}) // pooling: 16×16 places
//
// It panics with a [*tensor.ShapeError] on a negative side or Stride, a Size below 1, a Pad that is negative or
// not below Size, and on more than 2³¹−1 nodes or edges.
func Windows(rows, cols int, w Window) *Graph {
	stride, down, across := w.places(rows, cols)
	p := pattern{"graph.Windows", rows * cols, down * across}
	p.checkNodes()
	offsets := make([]int64, 1, p.nDst+1)
	var src, kinds []int32
	for r := range down {
		for c := range across {
			top, left := r*stride-w.Pad, c*stride-w.Pad
			for i := max(0, -top); i < min(w.Size, rows-top); i++ {
				for j := max(0, -left); j < min(w.Size, cols-left); j++ {
					src, kinds = append(src, int32((top+i)*cols+left+j)), append(kinds, int32(i*w.Size+j))
				}
			}
			p.checkEdges(len(src))
			offsets = append(offsets, int64(len(src)))
		}
	}
	g := ofCSR(p.nSrc, offsets, src, stride != 1 || w.Size != 2*w.Pad+1)
	g.kinds = append(make([]int32, 0, len(kinds)), kinds...)
	return g
}

// places returns the stride, and how many places w has down a picture and across it. It
// panics if that is none.
func (w Window) places(rows, cols int) (stride, down, across int) {
	refuse := func(why string) {
		mistake.Panic("graph.Windows", []int{rows, cols, w.Size, w.Stride, w.Pad}, "%s", why)
	}
	switch {
	case rows < 0 || cols < 0:
		refuse("a side of the picture is negative")
	case w.Size < 1 || w.Size > math.MaxInt16:
		refuse("Size is the cells on a side of the window, from 1 to 2¹⁵−1")
	case w.Stride < 0:
		refuse("Stride is negative")
	case w.Pad < 0 || w.Pad >= w.Size:
		refuse("Pad is from 0 up to Size, and below it: a place covers some of the picture")
	case rows > 0 && cols > math.MaxInt32/rows:
		refuse("more than 2³¹−1 cells")
	}
	stride = max(1, w.Stride)
	along := func(n int) int {
		if n == 0 || n+2*w.Pad < w.Size {
			return 0
		}
		return (n+2*w.Pad-w.Size)/stride + 1
	}
	return stride, along(rows), along(cols)
}
