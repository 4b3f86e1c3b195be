package tiling

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
)

// Machine is what ways cost on a machine.
type Machine struct {
	Second, Last int // bytes of x that stay in the caches, beside all else

	// Nanoseconds of a core: for a line from the second cache, the last and memory, where it
	// is asked for ahead, and for a row from memory besides; for a line that is read in turn; for
	// an edge; for a row of the matrix that is begun; for a line of a tile that is laid out.
	Line2, Line3, Memory, Row, Stream, Edge, Visit, Pack float64
}

const lineBytes = 64

// This is the machine at hand. What a line takes from the caches is measured, once, in about two
// milliseconds, since the last cache of one machine may be three times as slow as that of another.
var This = sync.OnceValue(func() *Machine {
	second, last := cpu.Caches()
	m := &Machine{
		Second: second * 5 / 8, Last: max(last/4, second*5/8),
		Memory: 3.8, Row: 3, Stream: 3.5, Edge: 0.4, Visit: 8, Pack: 6,
	}
	m.Line2, m.Line3 = gatherTime(m.Second/2), gatherTime(min(m.Last, 4*second))
	m.Line2 = min(max((m.Line2-m.Edge)/gatherLines, 0.3), 1.5)
	m.Line3 = min(max((m.Line3-m.Edge)/gatherLines, m.Line2), 4*m.Line2)
	m.Memory = max(m.Memory, m.Line3)
	return m
})

// gatherLines are the lines of a row that is gathered to measure what one takes.
const gatherLines = 4

// gatherTime returns the nanoseconds of an edge that brings a row from a table of so many bytes.
func gatherTime(bytes int) float64 {
	const width, degree = gatherLines * lineBytes / elementBytes, 64
	rng := rand.New(rand.NewPCG(1, 2))
	rows := bytes / (gatherLines * lineBytes)
	edges := 4 * rows / degree * degree // so that most of the table is read
	cols := make([]int32, edges)
	for i := range cols {
		cols[i] = rng.Int32N(int32(rows))
	}
	var offsets []int64
	for at := 0; at <= edges; at += degree {
		offsets = append(offsets, int64(at))
	}
	sum := spmm.RowSum{
		Gather: spmm.Gather{X: make([]cpu.Float, rows*width), Offsets: offsets, Cols: cols, F: width, Far: bytes > 1<<20},
		Y:      make([]cpu.Float, edges/degree*width), Set: true,
	}
	least := time.Duration(1 << 62)
	for range 5 {
		start := time.Now()
		sum.AddRows(0, edges/degree)
		least = min(least, time.Since(start))
	}
	return float64(least.Nanoseconds()) / float64(edges)
}

// line returns what a line of a row of so many columns takes, where rows are used as the
// matrix does.
func (s Shape) line(m *Machine, width int) float64 {
	misses := func(room int) float64 {
		rows := room / (width * elementBytes)
		if rows >= s.Sources {
			return 0
		}
		return s.Of.Curve().Misses(float64(rows))
	}
	second, last := misses(m.Second), misses(m.Last)
	return (1-second)*m.Line2 + (second-last)*m.Line3 + last*m.far(width)
}

// far is what a line of a row of so many columns takes from memory.
func (m *Machine) far(width int) float64 {
	return m.Memory + m.Row/float64((width*elementBytes-1)/lineBytes+1)
}

// near is what a line takes of one of so many rows, where each is as likely to come.
func (m *Machine) near(rows, width int) float64 {
	switch bytes := rows * width * elementBytes; {
	case bytes <= m.Second:
		return m.Line2
	case bytes <= m.Last:
		return m.Line3
	default:
		kept := float64(m.Last) / float64(bytes)
		return kept*m.Line3 + (1-kept)*m.far(width)
	}
}
