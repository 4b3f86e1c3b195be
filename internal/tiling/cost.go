package tiling

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// Way is how a product runs. The zero value is the plain way.
type Way struct {
	Tile  int // columns of a tile; 0: all
	Block int // rows of x in a block; 0: all
}

// String names the way, and its sizes.
func (w Way) String() string {
	switch {
	case w.Block > 0 && w.Tile > 0:
		return fmt.Sprintf("blocks of %d, tiles of %d", w.Block, w.Tile)
	case w.Block > 0:
		return fmt.Sprintf("blocks of %d", w.Block)
	case w.Tile > 0:
		return fmt.Sprintf("tiles of %d", w.Tile)
	}
	return "plain"
}

// Shape is what a product's ways depend on.
type Shape struct {
	Rows, Sources, Edges int
	Width                int  // columns of x
	Grain                int  // a tile has a multiple of so many columns; 0: x is in no tiles
	Weights              int  // numbers that are read, or written, with each edge
	Blocks               bool // edges may be put in another order
	Of                   Structure
}

// Structure is what is looked up of a matrix where it matters.
type Structure interface {
	Ordered() bool // the edges of a row are in the order of the rows of x: blocks leave them in it
	Curve() Curve
}

// What a product must have for another way than the plain one to be looked at: with fewer
// edges to a row of x there is nothing to keep near.
const (
	leastEdges = 1 << 18
	leastReuse = 16
)

// gain is what another way must save, by the model, to be taken.
const gain = 0.9

// Best returns the way with the least cost on a machine, which is looked at where there is a
// choice.
func (s Shape) Best(machine func() *Machine) Way {
	if s.Edges < leastEdges || s.Edges < leastReuse*s.Sources {
		return Way{}
	}
	m := machine()
	if s.Sources*s.Width*elementBytes <= m.Second {
		return Way{}
	}
	best, least := Way{}, gain*s.Cost(m, Way{})
	for _, way := range s.ways(m) {
		if cost := s.Cost(m, way); cost < least && (way.Block == 0 || s.Of.Ordered()) {
			best, least = way, cost
		}
	}
	return best
}

const elementBytes = 4

// ways are those that come into question beside the plain one.
func (s Shape) ways(m *Machine) []Way {
	var out []Way
	for _, tile := range []int{0, 128, 64, 32, 16} {
		width := s.Width
		if tile > 0 {
			if tile >= s.Width || !s.Cuts(tile) {
				continue
			}
			out, width = append(out, Way{Tile: tile}), tile
		}
		for _, room := range []int{m.Second, m.Last} {
			// as many blocks of the same size as there must be
			count := (s.Sources*width*elementBytes-1)/room + 1
			if s.Blocks && count > 1 && count*leastSegment*s.Rows <= s.Edges {
				out = append(out, Way{Tile: tile, Block: (s.Sources-1)/count + 1})
			}
		}
	}
	return out
}

// Cuts reports whether there may be tiles of so many columns: of whole heads, or of parts that
// a head is whole of.
func (s Shape) Cuts(tile int) bool {
	return s.Grain > 0 && (tile%s.Grain == 0 || s.Grain%tile == 0)
}

// leastSegment is how many edges of a row are in a block on average, at least.
const leastSegment = 4

// Cost returns about how many nanoseconds of a core a way takes.
func (s Shape) Cost(m *Machine, w Way) float64 {
	width := s.Width
	passes := 1.0
	if w.Tile > 0 {
		width = w.Tile
		passes = float64((s.Width-1)/w.Tile + 1)
	}
	edges, rows, sources := float64(s.Edges), float64(s.Rows), float64(s.Sources)
	lines := float64((width*elementBytes-1)/lineBytes + 1)
	// An edge: its index and its weights in turn, its row of x from wherever that is.
	each := m.Edge + elementBytes*float64(1+s.Weights)/lineBytes*m.Stream
	// A row of the matrix: it is begun, and its result stored, or in blocks read and stored.
	visits, keep, more := rows, m.Stream/2, 0.0
	if w.Block > 0 {
		count := (s.Sources-1)/w.Block + 1
		each += lines * m.near(w.Block, width)
		visits, keep = rows*float64(count), m.Stream
		if s.Rows/s.Panels()*width*elementBytes <= m.Second/2 { // the result of a panel stays near
			keep = 2 * m.Line2
		}
		// Each panel brings each block near, from where the tile is.
		more = float64(s.Panels()) * sources * lines * m.near(s.Sources, width)
	} else {
		each += lines * s.line(m, width)
	}
	cost := passes * (edges*each + visits*(m.Visit+lines*keep) + more)
	if w.Block > 0 && s.Weights > 0 { // are put in order once
		cost += edges * float64(2*s.Weights*elementBytes) / lineBytes * m.Stream
	}
	if w.Tile > 0 {
		cost += passes * sources * lines * m.Pack
	}
	if w.Tile > 0 && w.Block == 0 {
		cost *= alone
	}
	return cost
}

// alone is how much longer tiles without blocks take than the model says, on power laws: a
// cache does not keep quite the rows that were used last.
const alone = 1.4

// Panels is how many panels of rows there are, where there are blocks: each uses a row of a
// block so often that to bring it near is a small part, and every thread has some.
func (s Shape) Panels() int {
	panels := max(s.Edges/max(panelReuse*s.Sources, 1), 4*par.Threads())
	return max(min(panels, s.Rows), 1)
}

// panelReuse is how often a panel uses a row of x, on average.
const panelReuse = 16
