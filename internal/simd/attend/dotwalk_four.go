//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// pairedHeads says in which order records have the numbers of heads: see DotPlace.
const pairedHeads = false

// dotEdges are the edges of a call of a walk, and two times eight numbers for each.
type dotEdges struct {
	offsets [DotMost + 1]int64 // from 0 on
	rows    int
	cols    unsafe.Pointer
	z, g    []Float
}

// begin takes the nodes without edges beyond those of a call.
func (d *dotEdges) begin(s *DotWalk) {
	for r, at := range s.Offsets[:s.left+1] {
		if int(at) > s.most {
			break
		}
		d.offsets[r], d.rows = at-s.Offsets[0], r
	}
	n := 8 * int(d.offsets[d.rows])
	d.cols, d.z, d.g = place(s.Cols, s.first), s.Work[:n], s.Work[DotWork/2:][:n]
	s.left -= d.rows
}

// dots sets z to the inner products of heads of rows of nodes and of columns.
func (d *dotEdges) dots(z, nodes, columns []Float) {
	for h := 0; h < 8 && len(z) > 0; h += 4 {
		four.EdgeDots8(place(z, h), place(nodes, 8*h), place(columns, 8*h), unsafe.Pointer(&d.offsets), d.cols, d.rows,
			8*floatSize, DotRow*floatSize, DotRow*floatSize, 0, len(z)/8, 1)
	}
}

// sums sets rows of nodes to the sums of those of columns by the weights w, or adds them, unless y is nil.
func (d *dotEdges) sums(y, columns, w []Float, set bool) {
	if y == nil {
		return
	}
	var room [16 * DotRow]Float
	for r := 0; r < d.rows; r += 16 {
		rows := min(16, d.rows-r)
		out := y[r*DotRow:][:rows*DotRow]
		to := room[:len(out)]
		if set {
			to = out
		}
		if len(w) == 0 {
			clear(to)
		}
		for h := 0; h < 8 && len(w) > 0; h += 4 {
			four.RowsHeads8(place(to, 8*h), place(columns, 8*h), place(w, h), unsafe.Pointer(&d.offsets[r]), d.cols, nil, rows,
				DotRow*floatSize, DotRow*floatSize, 8*floatSize, 0, len(w)/8, 1)
		}
		if !set {
			vec.Add.Forward(out, out, to, 1, 1)
		}
	}
}

// drop multiplies the edges' numbers by what dropout keeps.
func (d *dotEdges) drop(s *DotWalk, x []Float) {
	if s.Kept != nil {
		vec.Mul.Forward(x, x, s.Kept[:len(x)], 1, 1)
	}
}

func (s *DotWalk) attendFast() bool {
	var d dotEdges
	d.begin(s)
	d.dots(d.z, s.Q, s.K)
	vec.Scale.Forward(d.z, d.z, s.Scale)
	inverse := s.Work[DotWork/2:][:8*d.rows]
	clear(inverse)
	for r := range d.rows {
		var stats [16]Float
		z, sums := d.z[8*d.offsets[r]:8*d.offsets[r+1]], stats[8:]
		if len(z) > 0 {
			vec.NoTop(stats[:8])
			vec.TopRows(stats[:8], z)
			vec.WeighRows(z, z, stats[:8], sums)
			for h, v := range sums {
				sums[h] = Inverse(v)
			}
			copy(inverse[8*r:], sums)
		}
		if s.Rec != nil {
			copy(s.Rec[r*DotRecord:], stats[:])
		}
	}
	d.drop(s, d.z)
	d.sums(s.Y, s.V, d.z, true)
	y := s.Y[:d.rows*DotRow]
	vec.Runs(8).Scale(y, inverse, y)
	if s.Add != nil {
		vec.Add.Forward(y, y, s.Add[:len(y)], 1, 1)
	}
	return true
}

// weights sets z to the weights of edges and g to their gradients, by the records of nodes, or of columns.
func (s *DotWalk) weights(d *dotEdges, nodes, columns [2][]Float, cols unsafe.Pointer) {
	d.dots(d.z, nodes[0], columns[0])
	vec.Scale.Forward(d.z, d.z, s.Scale)
	below := math.Nextafter32(float32(leastWeight), -90)
	four.DotWeights(place(d.z, 0), place(s.Rec, 0), unsafe.Pointer(&d.offsets), cols, unsafe.Pointer(&four.Table), d.rows, DotRecord*floatSize, below)
	d.dots(d.g, nodes[1], columns[1])
	d.drop(s, d.g)
}

// slopes makes g the gradients of scores.
func (s *DotWalk) slopes(d *dotEdges, cols unsafe.Pointer) {
	four.DotSlopes(place(d.g, 0), place(d.z, 0), place(s.Rec, 16), unsafe.Pointer(&d.offsets), cols, d.rows, DotRecord*floatSize, s.Scale)
}

func (s *DotWalk) retraceFast() bool {
	var d dotEdges
	d.begin(s)
	s.weights(&d, [2][]Float{s.Q, s.R}, [2][]Float{s.K, s.V}, nil)
	if s.Stage != DotCentred {
		four.DotCenters(place(s.Rec, 16), place(d.z, 0), place(d.g, 0), unsafe.Pointer(&d.offsets), d.rows, DotRecord*floatSize)
	}
	if s.Stage != DotCenter {
		s.slopes(&d, nil)
		d.sums(s.DQ, s.K, d.g, s.SetQ)
		return true
	}
	for r := range d.rows {
		if d.offsets[r] == d.offsets[r+1] && s.DQ != nil && s.SetQ {
			clear(s.DQ[r*DotRow:][:DotRow])
		}
	}
	return true
}

func (s *DotWalk) returnFast() bool {
	var d dotEdges
	d.begin(s)
	s.weights(&d, [2][]Float{s.K, s.V}, [2][]Float{s.Q, s.R}, d.cols)
	s.slopes(&d, d.cols)
	d.sums(s.DK, s.Q, d.g, s.SetK)
	d.drop(s, d.z)
	d.sums(s.DV, s.R, d.z, s.SetV)
	return true
}
